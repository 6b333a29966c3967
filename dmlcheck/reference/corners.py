"""Where the corners of regions are: coordinates in an image, scaled and rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.reference.ball.numbers import raw
from dmlcheck.values.number_formats import FORMATS


def rounded(coordinates: Any, scale: Any) -> tuple[list[int], bool]:
    """Return coordinates times a scale as whole numbers, and whether the rounding of a product may decide one."""
    scale = raw(scale)
    of = FORMATS[coordinates.dtype.name.upper()]
    with np.errstate(all="ignore"):
        held = float(np.asarray(scale).astype(coordinates.dtype))
        wide = coordinates.astype(float)
        scaled = wide * scale
        is_exact = (scaled.astype(coordinates.dtype) == scaled) & (held == scale)
        reach = np.where(is_exact, 0, wide * (abs(scale) * of.unit_roundoff + abs(held - scale)))
        in_doubt = (np.rint(scaled - reach) != np.rint(scaled + reach)) | (scaled - np.floor(scaled) == 0.5)
    return [int(x) for x in np.rint(np.nan_to_num(scaled))], bool((in_doubt | ~np.isfinite(scaled)).any())
