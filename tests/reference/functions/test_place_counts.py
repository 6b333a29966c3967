"""Numbers of places of a window along a dimension, counted by hand."""

from __future__ import annotations

import pytest

from dmlcheck.reference.functions.phases import may_be_place_count, place_count

# Size, elements of the window, stride, dilation, padding at the start and at the end.
FITS = (7, 3, 2, 1, 0, 0)  # begins at 0, 2 and 4, and ends at the last element
CUT = (8, 3, 2, 1, 0, 0)  # a place at 6 would reach one element beyond the end


def test_places_are_those_that_end_inside() -> None:
    assert place_count(*FITS) == 3
    assert place_count(*CUT) == 3
    assert place_count(5, 3, 1, 2, 0, 0) == 1  # a dilated window that is as long as the dimension
    assert place_count(5, 3, 2, 1, 1, 2) == 3  # begins at -1, 1 and 3


@pytest.mark.parametrize(
    ("window", "counts"),
    [
        (FITS, [3]),
        (CUT, [3, 4]),  # rounded up there is a place at 6
        ((3, 3, 2, 1, 0, 0), [1]),  # the window is the dimension
        ((2, 3, 2, 1, 0, 0), []),  # the window does not fit
        ((4, 2, 3, 1, 0, 1), [2]),  # begins at 0 and 3
        ((3, 2, 3, 1, 0, 2), [2]),  # a place at 3 is on the padding: rounded down it counts
        ((3, 2, 3, 1, 0, 1), [1]),  # rounded up it does not: it would begin at the end padding
        ((2, 2, 2, 1, 1, 0), [1, 2]),  # a place at 1, with padding before the tensor
    ],
)
def test_places_may_be_rounded_down_or_up(window: tuple[int, ...], counts: list[int]) -> None:
    assert [count for count in range(1, 9) if may_be_place_count(count, *window)] == counts
