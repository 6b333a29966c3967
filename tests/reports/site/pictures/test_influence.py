"""The input elements that an output element is made of, against places worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from shipped import example_case

from dmlcheck.cases.prepare import prepare
from dmlcheck.reports.site.example import example_of
from dmlcheck.reports.site.pictures.influence import Asked, Place, counted_sources, in_words, influences, value_of
from dmlcheck.reports.site.pictures.table import pictures
from dmlcheck.specs.about import load_about
from dmlcheck.specs.load import load_spec, operator_names


def of(operator: str) -> Mapping[Place, tuple[Place, ...]]:
    name = f"DML_OPERATOR_{operator}"
    case = example_case(name)
    prepared = prepare(case)
    assert prepared.desc is not None
    return influences(prepared.desc, prepared.inputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "output", "expected"),
    [
        # windows of 2 by 2 with a dilation of 2
        ("MAX_POOLING2", (0, 0, 0, 1), {"InputTensor": [(0, 0, y, x) for y in (0, 2) for x in (1, 3)]}),
        # a row of A, a column of B, and the element of C at the same place
        ("GEMM", (1, 0), {
            "ATensor": [(1, 0), (1, 1), (1, 2)], "BTensor": [(0, 0), (1, 0), (2, 0)], "CTensor": [(1, 0)],
        }),
        # along axis 0, all elements up to its own
        ("CUMULATIVE_SUMMATION", (1, 2, 1), {"InputTensor": [(0, 2, 1), (1, 2, 1)]}),
        # strides of 2 and 3 from row 1
        ("SLICE", (0, 0, 1, 1), {"InputTensor": [(0, 0, 3, 3)]}),
        # REFLECTION with one row and two columns in front: row 0 is row 1, column 0 is column 2
        ("PADDING", (0, 0), {"InputTensor": [(1, 2)]}),
        # the second of a row's groups of two has the second scale and zero point
        ("DEQUANTIZE", (1, 3), {
            "InputTensor": [(1, 3)], "QuantizationTensors[0]": [(1, 1)], "QuantizationTensors[1]": [(1, 1)],
        }),
        # the zero point of the input moves all products, also where the input is the zero point
        ("CONVOLUTION_INTEGER", (0, 0, 0), {
            "InputTensor": [(0, 0, 0), (0, 0, 1), (0, 0, 2)],
            "InputZeroPointTensor": [(0,)],
            "FilterTensor": [(0, 0, 0), (0, 0, 1), (0, 0, 2)],
        }),
    ],
)  # fmt: skip
def test_an_element_is_made_of_these(
    operator: str, output: tuple[int, ...], expected: dict[str, list[tuple[int, ...]]]
) -> None:
    found = of(operator)["OutputTensor", output]
    assert sorted(found) == sorted((label, index) for label, indices in expected.items() for index in indices)


def asked(result: str, *texts: str, label: str = "InputTensor") -> Asked:
    sources = tuple((label, (at,)) for at in range(len(texts)))
    output = ("OutputTensor", (0,))
    return Asked(output, sources, {output: result, **dict(zip(sources, texts, strict=True))})


@pytest.mark.parametrize(
    ("operator", "texts", "result", "expected"),
    [
        ("AVERAGE_POOLING1", ("1", "2", "6"), "3", "OutputTensor[0] = (1 + 2 + 6) / 3 = 3"),
        ("MAX_POOLING", ("1", "−2"), "1", "OutputTensor[0] = max(1, −2) = 1"),
        ("LP_POOLING", ("3", "4"), "5", "OutputTensor[0] = √(3² + 4²) = 5"),
        ("CUMULATIVE_PRODUCT", ("3", "4"), "12", "OutputTensor[0] = 3 × 4 = 12"),
        ("ARGMIN", ("3", "1"), "1", "OutputTensor[0] = argmin(3, 1) = 1"),
        ("FOLD", ("8",), "8", "OutputTensor[0] = 8"),
    ],
)
def test_a_calculation_is_in_numbers(operator: str, texts: tuple[str, ...], result: str, expected: str) -> None:
    assert in_words(operator, asked(result, *texts)) == expected


def test_the_sources_are_counted_by_tensor_in_short_form_for_more_than_three() -> None:
    assert counted_sources({"A": 2, "B": 1, "C": 1}) == "2 elements of A, 1 element of B and 1 element of C"
    assert counted_sources({"A": 2, "B": 1, "C": 1, "D": 3}) == "elements of A (2), B (1), C (1) and D (3)"


@pytest.mark.slow
def test_every_calculation_of_the_site_gives_its_result() -> None:
    found = 0
    for name in operator_names():
        about = load_about(name)
        case = example_case(name)
        assert case is not None
        for picture in pictures(about.family, case, example_of(load_spec(name), case).grids):
            for _, words in picture.lines:
                parts = words.rpartition(": ")[2].split(" = ")
                if len(parts) > 1 and parts[-2] != "x" and "Tensor" not in "".join(parts[-2:]):
                    found += 1
                    assert value_of(parts[-2]) == pytest.approx(value_of(parts[-1]), rel=1e-3), (name, words)
    assert found > 50
