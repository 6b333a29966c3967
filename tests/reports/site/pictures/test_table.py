"""The drawings of all operators."""

from __future__ import annotations

import pytest
from lxml import etree
from shipped import example_case

from dmlcheck.cases.prepare import prepare
from dmlcheck.reports.site.example import example_of
from dmlcheck.reports.site.pictures.reads import Picture, Shown
from dmlcheck.reports.site.pictures.table import (
    DRAWINGS,
    WITHOUT,
    GateCell,
    gated,
    pictures,
    region_of,
    resampled,
    rnn,
    row_of,
    sampled,
)
from dmlcheck.specs.about import FAMILIES, load_about
from dmlcheck.specs.load import load_spec, operator_names


def drawn(operator: str) -> list[Picture]:
    name = f"DML_OPERATOR_{operator}"
    about = load_about(name)
    case = example_case(name)
    return pictures(about.family, case, example_of(load_spec(name), case).grids)


SHORT = [name.removeprefix("DML_OPERATOR_") for name in operator_names()]


def test_rows_are_of_families_and_operators_that_exist() -> None:
    assert all(key in FAMILIES or key in SHORT for key in DRAWINGS)
    assert all(any(short.startswith(prefix) for short in SHORT) for prefix in WITHOUT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "operator",
    [
        *("CONVOLUTION", "MAX_POOLING2", "RESAMPLE2", "ROI_ALIGN1", "UPSAMPLE_2D", "LSTM", "GRU", "RNN", "SLICE1"),
        *("PADDING", "GATHER", "JOIN", "SPLIT", "SPACE_TO_DEPTH1", "REDUCE", "CUMULATIVE_PRODUCT", "TOP_K1", "GEMM"),
    ],
)  # fmt: skip
def test_an_operator_whose_places_matter_is_drawn(operator: str) -> None:
    (picture,) = drawn(operator)
    tree = etree.fromstring(picture.svg)
    assert tree.findtext("title") == picture.caption
    assert all(words in (tree.findtext("desc") or "") for _, words in picture.lines)
    assert picture.lines


def test_an_operator_on_elements_alone_is_not_drawn() -> None:
    assert drawn("ELEMENT_WISE_ADD") == drawn("ACTIVATION_RELU_GRAD") == drawn("ACTIVATION_RELU") == []


@pytest.mark.parametrize("operator", ["ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"])
def test_the_largest_is_made_of_all_that_it_is_compared_with(operator: str) -> None:
    (picture,) = drawn(operator)
    assert picture.lines == (("A", "OutputTensor[1] = 1, made of 3 elements of InputTensor"),)


def test_one_of_the_elements_that_are_copied_has_all_that_it_may_come_from() -> None:
    # the index of the first row is 2, where the value for a hit stands; elsewhere the other value stands
    assert drawn("ONE_HOT")[0].lines[:2] == (
        ("A", "OutputTensor[0, 2] = ValuesTensor[0, 1], by IndicesTensor[0, 0] = 2"),
        ("B", "OutputTensor[1, 1] = ValuesTensor[0, 0]"),
    )


def test_windows_are_of_the_elements_with_the_most_sources() -> None:
    # InputTensor is {1 2 3 4} and {5 6 7 8}; its columns overlap in all but the first and the last element
    assert [words for _, words in drawn("FOLD")[0].lines] == [
        "OutputTensor[0, 0, 1] = 2 + 5 = 7",
        "OutputTensor[0, 0, 3] = 4 + 7 = 11",
    ]


@pytest.mark.parametrize(
    ("operator", "count", "words"),
    [
        ("AVERAGE_POOLING_GRAD", 1, "The elements that make one element of the result."),
        ("GEMM", 2, "The rows and columns that make two elements of the result."),
        ("GATHER", 3, "The places that three elements of the result come from."),
    ],
)
def test_a_caption_tells_how_many_elements_are_drawn(operator: str, count: int, words: str) -> None:
    (picture,) = drawn(operator)
    assert (len(picture.lines), picture.caption) == (count, words)


# ---- gates of recurrent cells, with numbers worked out by hand


def test_rnn_has_no_gate() -> None:
    (*_, last) = rnn(GateCell(2, [3], [2], 3))
    assert (last.value, last.words, last.column) == (12, "2 × 3 + 3 × 2", 2)


@pytest.mark.slow
def test_the_last_step_gives_the_output_of_the_example() -> None:
    for operator, output in (("LSTM", "Single"), ("GRU", "Sequence"), ("RNN", "Sequence")):
        name = f"DML_OPERATOR_{operator}"
        case = example_case(name)
        prepared = prepare(case)
        assert prepared.desc is not None
        (picture,) = gated(Shown(prepared.desc, prepared.inputs, []))
        last, words = picture.lines[-1]
        assert (last, words.rpartition(" = ")[2]) == (
            "H",
            f"{prepared.expected[f'Output{output}Tensor'][1].reshape(-1)[-1]:g}",
        )


def shown(operator: str) -> Shown:
    name = f"DML_OPERATOR_{operator}"
    case = example_case(name)
    prepared = prepare(case)
    assert prepared.desc is not None
    return Shown(prepared.desc, prepared.inputs, example_of(load_spec(name), case).grids)


@pytest.mark.parametrize(
    ("operator", "places"),
    [
        ("RESAMPLE", [-0.25, 0.25, 0.75, 1.25]),  # (o + 0.5) / 2 - 0.5
        ("RESAMPLE2", [-0.25, 0.25, 0.75, 1.25]),
        ("UPSAMPLE_2D", [0, 0.5, 1, 1.5]),  # o / 2, rounded down
        ("RESAMPLE_GRAD", [-0.25, 0.25, 0.75, 1.25]),
        ("RESAMPLE_GRAD1", [0, 0.5, 1, 1.5]),
    ],
)
def test_elements_lie_at_these_places(operator: str, places: list[float]) -> None:
    assert row_of(shown(operator)).places == places


def test_lines_have_the_weights_of_both_elements() -> None:
    (picture,) = resampled(shown("RESAMPLE2"))
    assert picture.lines[1] == ("[1]", "x = 0.25: 0.75 × 10 + 0.25 × 20 = 12.5")
    assert picture.lines[0] == ("[0]", "x = −0.25: 1 × 10 = 10")


def test_lines_of_a_gradient_say_where_it_is_added() -> None:
    # 1 and 2 are nearest to the first element when places are rounded down, 4 and 8 to the second: 3 and 12
    (picture,) = resampled(shown("RESAMPLE_GRAD1"))
    assert picture.lines[1] == ("[1]", "x = 0.5: 2 to OutputGradientTensor[0]")
    assert picture.lines[2] == ("[2]", "x = 1: 4 to OutputGradientTensor[1]")


def test_a_region_has_one_sample_in_the_middle_of_each_part() -> None:
    # from 0.5 to 2.5, less half an element: 0 to 2, in two parts of 1
    region = region_of(shown("ROI_ALIGN"))
    assert (region.x, region.across, region.down) == ((0, 2), [0.5, 1.5], [0.5, 1.5])
    # from 1 to 5 at a scale of 0.5 is the same
    assert region_of(shown("ROI_ALIGN1")) == region
    (picture,) = sampled(shown("ROI_ALIGN"))
    assert picture.lines[1] == ("[0, 1]", "x = 1.5, y = 0.5: 4.5")
    assert picture.svg.count("<circle") == 4
    assert picture.svg.rindex("<circle") < picture.svg.index("<text")  # numbers stand above all lines
