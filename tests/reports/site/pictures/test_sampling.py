"""Places of samples, worked out by hand from the formulas of the operators."""

from __future__ import annotations

import pytest
from shipped import example_case

from dmlcheck.cases.prepare import prepare
from dmlcheck.reports.site.example import example_of
from dmlcheck.reports.site.pictures.reads import Shown
from dmlcheck.reports.site.pictures.sampling import region_of, resampled, row_of, sampled
from dmlcheck.specs.load import load_spec


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
