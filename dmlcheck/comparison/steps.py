"""Wrong outputs of steps on the way: a step that overflows, or vanishes, or that is computed in FLOAT16."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np

from dmlcheck.comparison.patterns import goes_both_ways
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.reference import engine
from dmlcheck.reference.ball import narrowed
from dmlcheck.reference.ball.narrowed import Way
from dmlcheck.reference.engine import Array

_STEPS = {
    "square": "a square",
    "power": "a power",
    "multiply": "a product",
    "matmul": "a product of matrices",
    "add": "a sum",
}
_UNSHIFTED = ": is the largest element taken out of the exponents?"
_LEAST = 4  # wrong elements that tell of roundings: fewer may be so by chance
_CORRELATED = 0.7
_SIZES = 4.0  # the ratio of the sums of squares of errors that are alike, at most


def overflow(wrong: WrongOutput) -> str | None:
    """Return the step that overflows, if the formula with steps of a float type gives the whole output."""
    found = wrong.actual[wrong.mask]
    if bool((np.isfinite(found) & (found != 0)).all()):
        return None
    for number, way, words in _ways(wrong):
        with suppress(Exception):  # such numbers may be none that the formula takes
            computed = engine.evaluate(wrong.desc, wrong.inputs, partial(narrowed.narrowed, way))[wrong.label]
            step = _step(way)
            if (
                step is not None
                and _shows(wrong, computed)
                and wrong.is_right_for(computed.values, wrong.desc, wrong.inputs)
            ):
                return f"{step} {number} on the way{words}"
    return None


def _step(way: Way) -> str | None:
    """Return the step that overflowed, the first one in a formula; of powers also that they vanished."""
    seen = way.seen or set()
    if "exp" in seen:
        return "exp overflows"
    if way.is_unshifted and narrowed.VANISHING in seen and "add" not in seen:
        return "exp underflows"
    steps = [words for name, words in _STEPS.items() if name in seen and (name == "add" or not way.is_unshifted)]
    return f"{steps[0]} overflows" if steps else None


def _ways(wrong: WrongOutput) -> Iterator[tuple[str, Way, str]]:
    """Yield types of steps, and the ways to compute in them, each with what is said of it."""
    types = [("FLOAT32", narrowed.float32)]
    if any(part.tensor.data_type == "FLOAT16" for part in wrong.desc.tensors()):
        types.append(("FLOAT16", narrowed.float16))
    for name, step in types:
        yield name, Way(step=step, seen=set()), ""
        yield name, Way(step=step, seen=set(), is_unshifted=True), _UNSHIFTED


def _shows(wrong: WrongOutput, computed: engine.ComputedOutput) -> bool:
    """Whether a prediction has infinities, NaN or zeros, as the output, where these are wrong."""
    if computed.undefined is not None and bool(computed.undefined[wrong.mask].any()):
        return False
    made, found = computed.values[wrong.mask], wrong.actual[wrong.mask]
    is_left = ~np.isfinite(made) | (made == 0)
    return bool((is_left & (np.isfinite(found) == np.isfinite(made))).any())


def in_float16(wrong: WrongOutput) -> str | None:
    """Return the words for errors of steps in FLOAT16.

    They have the size of the errors of the formula with every step in FLOAT16, correlate with them, and keep its
    bounds.
    """
    if wrong.tensor.data_type != "FLOAT16" or wrong.limit.is_own or wrong.limit.accumulate == "FLOAT16":
        return None
    wanted = wrong.expected.astype(np.float64)
    errors = wrong.actual.astype(np.float64) - wanted
    looser = wrong.limit._replace(accumulate="FLOAT16")
    if int(wrong.mask.sum()) < _LEAST or not np.isfinite(errors).all() or not goes_both_ways(wanted, errors):
        return None
    if not any(_are_alike(errors, made - wanted) for made in _in_float16(wrong)):
        return None
    if not wrong.is_right_for(wrong.expected, wrong.desc, wrong.inputs, looser):
        return None
    return "the errors are as large as those of intermediate results in FLOAT16"


def _in_float16(wrong: WrongOutput) -> Iterator[Array]:
    """Yield the output of a formula with every step in FLOAT16, with and without the usual care about overflow."""
    for is_unshifted in (False, True):
        for rounding in (None, narrowed.float16):
            way = Way(step=narrowed.float16, is_unshifted=is_unshifted, rounding=rounding)
            numbers = partial(narrowed.narrowed, way)
            yield engine.evaluate(wrong.desc, wrong.inputs, numbers)[wrong.label].values.astype(np.float64)


def _are_alike(errors: Array, others: Array) -> bool:
    """Whether errors have the size of others, and correlate with them."""
    own, size, both = (float((a * b).sum()) for a, b in ((errors, errors), (others, others), (errors, others)))
    return own > 0 and size / _SIZES <= own <= size * _SIZES and both >= _CORRELATED * np.sqrt(own * size)
