"""Whether errors look like a matrix unit's that rounds the factors of products to TF32 or to BFLOAT16.

An output is judged once more, with a tolerance that allows these roundings. Wide tolerances accept nearly everything,
so the errors must also correlate with the errors of rounded inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from dmlcheck.comparison.compare import Bounds, Comparison, JudgedOutputs, compare
from dmlcheck.comparison.tolerances import Limit, is_float
from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.factors import UNITS
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import arithmetic_of, bounds
from dmlcheck.reference.engine import Array
from dmlcheck.reference.limits.precision import FACTORS, Precision
from dmlcheck.reference.rows import PRODUCTS

MOST = 2**22  # elements of all tensors together: an output is computed up to ten times
_LEAST = 0.7  # correlation of the errors with the errors of rounded factors
_CHANCE = 3.0  # standard deviations of the correlation of errors that have nothing to do with each other
_MANY = 36  # elements: with fewer, the correlation may be lower if the unit's own results match


def consistent_type(judged: JudgedOutputs) -> str | None:
    """Return the type to which the factors of products seem to be rounded, TF32 or BFLOAT16; None if neither fits.

    It is for outputs that are wrong or unlikely, of FLOAT32 tensors and operators that compute products.
    """
    limit, off = judged.limit, [name for name, one in judged.compared.items() if _is_off(one)]
    if not off or not _may_be_rounded(judged) or not all(map(partial(_is_comparable, judged), off)):
        return None
    with np.errstate(all="ignore"):
        for data_type in FACTORS[FACTORS.index(limit.precision.factors) + 1 :]:
            looser = limit._replace(precision=limit.precision._replace(factors=data_type))
            is_made = any(_is_made_by(judged, unit, looser, off) for unit in UNITS)
            if is_made and _within(judged, looser, judged.expected):
                return data_type
    return None


def _is_off(one: Comparison) -> bool:
    return bool(one.result.mismatches or one.result.unlikely or one.result.systematic)


def _may_be_rounded(judged: JudgedOutputs) -> bool:
    """Whether rounded factors may be the cause: the case has no tolerance of its own, and the search is short."""
    desc, limit = judged.desc, judged.limit
    if limit.is_own or row(desc.spec.operator).kernel.sums != PRODUCTS:
        return False
    if sum(max(part.tensor.element_count, part.tensor.extent) for part in desc.tensors()) > MOST:
        return False
    return arithmetic_of(desc, Precision(limit.precision.accumulate, FACTORS[-1])).factors == FACTORS[-1]


def _is_comparable(judged: JudgedOutputs, name: str) -> bool:
    """Whether an output has numbers whose errors can be compared."""
    result = judged.compared[name].result
    return result.shape is None and is_float(result.data_type)


def _is_made_by(judged: JudgedOutputs, unit: str, looser: Limit, off: list[str]) -> bool:
    """Whether the errors look like a matrix unit's; few elements may equal the unit's own results instead."""
    made = _made_by(judged, unit, looser)
    others = [name for name in off if not _are_alike(judged, name, made[name])]
    if any(judged.compared[name].result.elements >= _MANY for name in others):
        return False
    right = {
        name: (tensor, made[name].astype(values.dtype) if name in others else judged.actual[name])
        for name, (tensor, values) in judged.expected.items()
    }
    return not others or _within(judged, looser, right, unit)


def _are_alike(judged: JudgedOutputs, name: str, made: Array) -> bool:
    """Whether the errors of an output have the size of rounded factors' errors, and correlate with them.

    With few elements, the correlation must be higher.
    """
    wanted = judged.expected[name][1].astype(np.float64)
    found, predicted = judged.actual[name] - wanted, made - wanted
    counts = np.isfinite(found) & np.isfinite(predicted) & ((found != 0) | (predicted != 0))
    undefined = judged.undefined.get(name)
    counts = counts if undefined is None else counts & ~undefined
    error, other = found[counts], predicted[counts]
    size, own, both = float(other @ other), float(error @ error), float(error @ other)
    if not size or not own:
        return False
    least = max(_LEAST, _CHANCE / np.sqrt(error.size))
    return bool(both >= least * np.sqrt(size * own) and size / 16 <= own <= size * 16)


def _within(
    judged: JudgedOutputs, limit: Limit, expected: Mapping[str, tuple[TensorDesc, Array]], unit: str = ""
) -> bool:
    """Whether outputs are inside the tolerance, and inside the likely one, of an arithmetic."""
    bounds_of = partial(_bounds_of, judged, limit=limit, unit=unit)
    found = compare(expected, judged.actual, limit, bounds_of, judged.undefined)
    return not any(_is_off(one) for one in found.values())


def _bounds_of(
    judged: JudgedOutputs, asked: Mapping[str, Array], *, is_likely: bool = False, limit: Limit, unit: str = ""
) -> Bounds:
    """Return the bounds of some elements in an arithmetic, or of a unit that rounds factors in one way."""
    return bounds(judged.desc, judged.inputs, asked, limit.precision, is_likely=is_likely, unit=unit)


def _made_by(judged: JudgedOutputs, unit: str, limit: Limit) -> dict[str, Array]:
    """Return the outputs, unrounded, of a unit that rounds every factor in one way."""
    made = {name: np.full(tensor.sizes, np.nan) for name, (tensor, _) in judged.expected.items()}
    asked = {name: np.ones(values.shape, dtype=bool) for name, values in made.items()}
    for name, at, bound in _bounds_of(judged, asked, limit=limit, unit=unit):
        made[name].reshape(-1)[at] = bound.value
    return made
