"""Where the corners of regions are: products rounded to whole numbers, and which roundings may be others."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.corners import rounded


@pytest.mark.parametrize(
    ("coordinates", "scale", "corner", "in_doubt"),
    [
        ([1.0, 2.0], 0.25, [0, 0], True),  # 0.5 is a half
        ([3.0, 4.0], 0.25, [1, 1], False),
        ([np.nan, 1.0], 1.0, [0, 1], True),
        ([10.0, 20.0], 1 / 3, [3, 7], False),
    ],
)
def test_a_corner_is_at_the_nearest_whole_number(
    coordinates: list[float], scale: float, corner: list[int], in_doubt: bool
) -> None:
    assert rounded(np.array(coordinates, np.float32), scale) == (corner, in_doubt)
