"""Tiles of results of which each is of the elements at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, tiles, widened
from dmlcheck.reference.arrays.data_types import in_32_bits, stored, width
from dmlcheck.reference.ball.numbers import Arithmetic, Ball, raw
from dmlcheck.reference.bindings import scale_bias
from dmlcheck.reference.functions.overflowing import infinite_beyond, is_too_large
from dmlcheck.reference.results import AsMeasured, PartlyUndefined, alternatives, any_of, ways_of, with_measured
from dmlcheck.reference.rows import Elements
from dmlcheck.reference.tiling.request import Request, Tile
from dmlcheck.specs.records import INPUT
from dmlcheck.values.number_formats import NUMPY_TYPES


def of_elements(_: Elements, request: Request) -> Iterator[Tile]:
    """Yield tiles that are runs of elements; tensors are broadcast to the sizes of the output."""
    desc, formula, is_exact = request.desc, request.formula, request.is_exact
    sizes = desc.parts[desc.spec.outputs[0].name][0].tensor.sizes
    operands = [x if x is None or x.shape == sizes else np.broadcast_to(x, sizes) for x in request.tensors.values()]
    is_exact = is_exact and not (request.is_integer and request.bound.kernel.overflow)
    limit = BLOCK
    is_scaled = desc.values.get("ScaleBias") is not None  # a valid one changes nothing of 64 bits
    if is_scaled and np.dtype(NUMPY_TYPES[desc.tensors(INPUT)[0].tensor.data_type]).itemsize < 8:
        used = None if request.is_integer else request.arithmetic
        formula = partial(_scaled, formula, *scale_bias(desc, used), arithmetic=used, is_exact=is_exact)
        is_exact = True
    elif is_exact:
        limit *= 8 // max(x.dtype.itemsize for x in operands if x is not None)
    for index in tiles(sizes, limit):
        parts = [None if x is None else x[index] for x in operands]
        yield Tile(index, formula, tuple(parts if is_scaled else _without_repeats(parts)), is_exact)


def _without_repeats(parts: list[Any]) -> list[Any]:
    """Return operands with size 1 along the axes in which their elements repeat: functions of these take no time.

    Where all operands repeat theirs along an axis, they stay as they are.
    """
    steps = [None if x is None else _steps_of(x) for x in parts]
    if all(step is None or all(step) for step in steps):
        return parts
    short = [_once(x, step) for x, step in zip(parts, steps, strict=True)]
    sizes, whole = (np.broadcast_shapes(*(x.shape for x in given if x is not None)) for given in (short, parts))
    return short if sizes == whole else parts


def _steps_of(x: Any) -> list[int]:
    """Return the step from an element to the next along each axis, 0 where they are the same element."""
    if not isinstance(x, Ball):
        return list(x.strides)
    return [step or other for step, other in zip(x.value.strides, x.radius.strides, strict=True)]


def _once(x: Any, steps: list[int] | None) -> Any:
    if steps is None:
        return None
    return x[tuple(slice(None) if step else slice(0, 1) for step in steps)]


def _scaled(
    formula: Callable[..., Any],
    scale: Any,
    bias: Any,
    *given: Any,
    arithmetic: Arithmetic | None,
    is_exact: bool,
) -> Any:
    """Return f(x * Scale + Bias, ...) of all operands, in balls if there is an arithmetic.

    Integers may be scaled in FLOAT32. A result of integers is undefined if an intermediate value does not fit their
    type; all are, unless Scale and Bias are whole numbers. DirectML scales in FLOAT32, and goes on in 32 bits.
    """
    integers = [x for x in given if not isinstance(x, Ball) and x.dtype.kind != "f"]
    fits = np.logical_and.reduce([_fits(x, float(raw(scale)), float(raw(bias))) for x in integers])
    if arithmetic is not None or given[0].dtype.kind == "f":
        moved = [_operand(x, arithmetic) * scale + bias for x in given]
        found = formula(*moved) if arithmetic and arithmetic.has_overflows else _of_floats(formula, moved)
        return PartlyUndefined(found, ~fits) if integers else found
    x, *more = given
    steps = _steps(x, scale, bias)
    rest = [
        widened(y) * scale + bias if y.dtype.kind == "f" else (widened(y) * scale + bias).astype(np.int64) for y in more
    ]

    def of(moved: Any) -> Any:
        return formula(moved if is_exact else widened(moved), *rest)

    found = alternatives(*(np.where(fits, step, 0).astype(x.dtype) for step in (steps[1], *steps[-2:])), of=of)
    if more or fits.all():
        return PartlyUndefined(found, ~fits)
    return _measured_beyond(found, fits, alternatives(*(in_32_bits(step, x.dtype) for step in steps[-2:]), of=of), x)


def _of_floats(formula: Callable[..., Any], moved: list[Any]) -> Any:
    """Return the result for scaled operands, which DirectML makes infinite beyond FLOAT32 and others may not."""
    found = formula(*moved)
    if not any(is_too_large(x, "FLOAT32").any() for x in moved):
        return found
    return any_of(formula(*(infinite_beyond(x, "FLOAT32") for x in moved)), found)


def _measured_beyond(found: Any, fits: Any, in_32: Any, x: Any) -> PartlyUndefined:
    """Return results of integers, and the results of 32 bits where these do not fit their own type.

    It was not measured which limits of 16 bits they have.
    """
    (value, is_lost, is_limited), (wide, is_lost_too, _) = with_measured(found), with_measured(in_32)
    ways = zip_longest(ways_of(value), ways_of(wide))
    first, more = ways_of(value)[0], ways_of(wide)[0]
    name = x.dtype.name.upper()
    values = [
        np.where(fits, first if own is None else own, stored(more if beyond is None else beyond, name))
        for own, beyond in ways
    ]
    is_open = is_limited & ~fits & (width(x) == 16)
    return PartlyUndefined(
        AsMeasured(alternatives(*values), is_limited | ~fits), is_open | np.where(fits, is_lost, is_lost_too)
    )


def _operand(x: Any, arithmetic: Arithmetic | None) -> Any:
    """Return elements to be scaled, in balls if there is an arithmetic."""
    return widened(x) if arithmetic is None else x if isinstance(x, Ball) else Ball(widened(x), 0.0, arithmetic)


def _fits(x: Any, scale: float, bias: float) -> Any:
    """Return where integers stay integers of their type while they are scaled."""
    limits = np.iinfo(x.dtype)
    held = [(step >= limits.min) & (step <= limits.max) for step in _steps(x, scale, bias)]
    return np.logical_and.reduce(held) & (scale.is_integer() and bias.is_integer())


def _steps(x: Any, scale: float, bias: float) -> tuple[Any, ...]:
    """Return x * Scale, x * Scale + Bias, and in FLOAT32 x, and x * Scale + Bias with two roundings and with one."""
    wide, single = x.astype(np.float64), x.astype(np.float32)
    fused = (single.astype(np.float64) * scale + bias).astype(np.float32)
    in_float32 = (single, single * np.float32(scale) + np.float32(bias), fused)
    return wide * scale, *(number.astype(np.float64) for number in (wide * scale + bias, *in_float32))
