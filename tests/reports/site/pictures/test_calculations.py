"""Calculations of output elements."""

from __future__ import annotations

import pytest
from shipped import example_case

from dmlcheck.reports.site.example import example_of
from dmlcheck.reports.site.pictures.calculations import Asked, counted_sources, in_words, value_of
from dmlcheck.reports.site.pictures.table import pictures
from dmlcheck.specs.about import load_about
from dmlcheck.specs.load import load_spec, operator_names


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
