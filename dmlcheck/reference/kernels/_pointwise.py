"""Element by element: blocks of inputs widened, a formula, and the exact arithmetic that formulas need.

Floats are computed as float64, which holds every FLOAT32 and FLOAT16 and the product of two. What float64 cannot hold
goes as an unevaluated sum (high, low) of two float64, and ends rounded to odd, so that its one rounding to the output's
type is that of the exact result. A function's own error of a few float64 units stays: it shows only where the result is
that near to the middle between two numbers of the output's type. Integers are computed in 64 bits and wrap where the
output is written.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.descs.fields import ScaleBias
from dmlcheck.reference.kernels._blocks import ALL, Array, Result, Share, Wide, tiles
from dmlcheck.values.number_formats import to_odd, two_sum

_BEYOND = 2**28 - 1  # bits that a number halfway between two of FLOAT32 does not need
_POINTS = 1 << 16  # elements: so many that what Python does for a block takes little of the time
_SPLIT = 2.0**27 + 1  # Veltkamp's: cuts 53 bits into 26 and 27


def pointwise(formula: Callable[..., Any], *tensors: Array) -> Result:
    """Return the result of a formula for the elements of tensors of one shape, block by block.

    The formula takes the blocks as they are and returns an array of results, or a Wide.
    """
    sizes = tensors[0].shape

    def blocks(share: Share = ALL) -> Any:
        for index in share.of(tiles(sizes, _POINTS)):
            yield index, _wide(formula(*(tensor[index] for tensor in tensors)))

    return Result(tuple(range(len(sizes))), blocks)


def widened(block: Array) -> Array:
    """Return a block in the type that it is computed in: float64, int64 or uint64."""
    return block.astype(_WIDE[block.dtype.kind], copy=False)


_WIDE: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.uint64}


def scaled(block: Array, scale_bias: ScaleBias | None) -> tuple[Array, Array | None]:
    """Return x * Scale + Bias of a block, widened, and which results are left open.

    Floats are rounded to odd. Integers are left open unless Scale and Bias are whole, every value on the way is at most
    2^24 in magnitude, as one that FLOAT32 may have to hold, and fits the type.
    """
    x = widened(block)
    if scale_bias is None:
        return x, None
    if block.dtype.kind == "f":
        return linear(x, *scale_bias) if block.dtype != np.float64 else _near(x, *scale_bias), None
    product = x.astype(np.float64) * scale_bias.Scale
    result = product + scale_bias.Bias
    limits = np.iinfo(block.dtype)
    fits = (np.abs(x.astype(np.float64)) <= WHOLE) & all(part.is_integer() for part in scale_bias)
    for step in (product, result):
        fits &= (np.abs(step) <= WHOLE) & (step >= limits.min) & (step <= limits.max)
    return np.where(fits, result, 0).astype(x.dtype), ~fits


WHOLE = 2.0**24  # up to here FLOAT32 has every whole number


def linear(x: Array, scale: float, bias: float) -> Array:
    """Return scale * x + bias, which shorter types round right; x and scale have 24 bits, so their product is exact."""
    product = x * scale
    value = product + bias
    doubtful = _near_halfway(value)
    if doubtful.any():
        doubtful &= (value - product != bias) | (value - bias != product)  # elsewhere the sum is exact
    at = np.flatnonzero(doubtful)
    if at.size:
        value.flat[at] = odd(*two_sum(product.reshape(-1)[at], np.float64(bias)))
    return value


def settled(value: Array, exact: Callable[[Array], tuple[Array, Array]]) -> Array:
    """Return results, right to three units in float64's last place, such that shorter types round them right.

    Those that may be halfway between two shorter numbers are replaced by the sums high + low that `exact` gives for
    their positions. They are an array of their own, which may change.
    """
    at = np.flatnonzero(_near_halfway(value))
    if at.size:
        value.flat[at] = odd(*exact(at))
    return value


def _near_halfway(value: Array) -> Array:
    bits = value.view(np.int64) + 4
    bits &= _BEYOND
    return bits <= 8


def _near(x: Array, scale: float, bias: float) -> Array:
    """Return scale * x + bias of float64 rounded once, where no part over- or underflows (Boldo and Melquiond)."""
    product, rest = two_product(x, scale)
    above, below = two_sum(np.float64(bias), rest)
    high, low = two_sum(product, above)
    total = high + odd(*two_sum(low, below))
    return np.where(np.isfinite(total), total, x * scale + bias)


def through(
    formula: Callable[[Array], Any],
    block: Array,
    scale_bias: ScaleBias | None,
    mend: Callable[[Array, Array], None] | None = None,
) -> Wide:
    """Return f(x * Scale + Bias) for a formula of widened elements.

    Where floats are scaled, `mend` may change results, given what they are of, and the magnitude is what the error of
    the sum may grow to in f.
    """
    x, left_open = scaled(block, scale_bias)
    wide = _wide(formula(x))
    if mend is not None and scale_bias is not None:
        mend(x, wide.value)
    wide = wide._replace(unspecified=joined(left_open, wide.unspecified))
    if scale_bias is None or block.dtype.kind != "f":
        return wide

    def magnitude() -> Array:
        return spread(formula, x, np.abs(widened(block) * scale_bias.Scale) + abs(scale_bias.Bias))

    return wide._replace(magnitude=magnitude, terms=2)


def spread(formula: Callable[[Array], Any], x: Array, sizes: Array) -> Array:
    """Return how much f changes about x, for each unit of error in x relative to `sizes`."""
    middle, *beside = (_wide(formula(x + sign * _STEP * sizes)).value for sign in (0, -1, 1))
    changes = [np.nan_to_num(np.abs(value - middle), nan=0.0, posinf=np.inf) for value in beside]
    change: Array = np.maximum(*changes) / _STEP
    return change


_STEP = 2.0**-24  # FLOAT32's roundoff


def _wide(value: Array | Wide) -> Wide:
    return value if isinstance(value, Wide) else Wide(value)


def joined(*marks: Array | None) -> Array | None:
    """Return where any of several marks is set; no mark at all if there is none."""
    found = [mark for mark in marks if mark is not None]
    return functools.reduce(np.logical_or, found) if found else None


def two_product(a: Array, b: Any) -> tuple[Array, Array]:
    """Return a * b rounded and its rounding error, which is exact where nothing over- or underflows (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(np.asarray(b, dtype=np.float64))
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Array) -> tuple[Array, Array]:
    shadow = a * _SPLIT
    high = shadow - (shadow - a)
    return high, a - high


def odd(high: Array, low: Array) -> Array:
    """Return high + low as one float64 rounded to odd; infinities and NaN as they are in high."""
    return np.where(np.isfinite(high) & np.isfinite(low), to_odd(high, low), high)
