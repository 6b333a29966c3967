"""Faults of implementations, planted in the reference engine: what its inputs, fields, sums and outputs become.

`faults_of` gives those of an operator, each with a line that says where it happens in real kernels. A fault acts on a
desc and its inputs, and gives outputs, or None where it has nothing to act on.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import one_pass

from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.descs.strides import packed_strides
from dmlcheck.inspection.operator_pages import is_computed
from dmlcheck.reference import engine
from dmlcheck.reference.ball import narrowed
from dmlcheck.reference.ball.narrowed import Narrowing
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import ENUMS
from dmlcheck.specs.records import INPUT, OUTPUT, Field
from dmlcheck.values.layouts import empty_buffer, laid_out, viewed

Array = np.ndarray[Any, Any]
Inputs = dict[str, Any]
Outputs = dict[str, Array]
Act = Callable[[OperatorDesc, Inputs], "Outputs | None"]


class Fault(NamedTuple):
    """A fault: its name (`tail-32:height`), its kind (`tail-32`), where it happens, and what it does."""

    name: str
    where: str
    act: Act

    @property
    def kind(self) -> str:
        """The name without the field or the dimension that it is about."""
        return self.name.partition(":")[0]


# ---- how faults act


def right(desc: OperatorDesc, inputs: Inputs) -> Outputs:
    """Return the outputs without a fault."""
    return engine.run(desc, inputs)


def on_inputs(change: Callable[[TensorPart, Array], Array | None]) -> Act:
    """Return a fault that changes inputs; one that gives None leaves an input as it is."""

    def act(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
        changed, is_changed = changed_inputs(desc, inputs, change)
        return right(desc, changed) if is_changed else None

    return act


def changed_inputs(
    desc: OperatorDesc, inputs: Inputs, change: Callable[[TensorPart, Array], Array | None]
) -> tuple[Inputs, bool]:
    """Return inputs after a change, and whether any is another than before."""
    changed, is_changed = dict(inputs), False
    for name, parts in desc.parts.items():
        if name not in inputs or desc.spec.fields[name].kind != INPUT:
            continue
        given = inputs[name] if isinstance(inputs[name], list) else [inputs[name]]
        made = []
        for part, values in zip(parts, given, strict=True):
            other = change(part, values)
            is_changed |= other is not None and not same(other, values)
            made.append(values if other is None else other)
        changed[name] = made if isinstance(inputs[name], list) else made[0]
    return changed, is_changed


def on_outputs(change: Callable[[TensorPart, Array], Array | None]) -> Act:
    """Return a fault that changes outputs; one that gives None leaves an output as it is."""

    def act(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
        found = right(desc, inputs)
        return changed_outputs(desc, found, change)

    return act


def changed_outputs(
    desc: OperatorDesc, found: Outputs, change: Callable[[TensorPart, Array], Array | None]
) -> Outputs | None:
    """Return outputs after a change, None where it leaves all of them as they are."""
    changed = {part.label: change(part, found[part.label]) for part in desc.tensors(OUTPUT)}
    if all(values is None for values in changed.values()):
        return None
    return {label: found[label] if values is None else values for label, values in changed.items()}


def on_fields(change: Callable[[OperatorDesc], Mapping[str, Any] | None]) -> Act:
    """Return a fault that computes as if fields had other values."""

    def act(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
        values = change(desc)
        if values is None or all(desc.values.get(name) == value for name, value in values.items()):
            return None
        merged = {name: value for name, value in {**desc.values, **values}.items() if value is not None}
        given = {name: value for name, value in inputs.items() if name in merged}
        return attempted(OperatorDesc.of(desc.spec, merged), given, desc)

    return act


def attempted(changed: OperatorDesc, inputs: Inputs, desc: OperatorDesc) -> Outputs | None:
    """Return what a changed desc gives, None where the engine has no such result."""
    try:
        found = right(changed, inputs)
    except Exception:  # noqa: BLE001 - such a desc may be none
        return None
    fits = all(found[part.label].shape == part.tensor.sizes for part in desc.tensors(OUTPUT) if part.label in found)
    return found if fits else None


def computing(way: Narrowing) -> Act:
    """Return a fault of sums, or of rounding to whole numbers."""

    def act(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
        if not any(part.tensor.data_type.startswith("FLOAT") for part in desc.tensors()):
            return None
        with np.errstate(all="ignore"), contextlib.suppress(Exception):
            return engine.run(desc, inputs, partial(narrowed.narrowed, way))
        return None

    return act


def same(some: Array, others: Array) -> bool:
    """Whether two arrays hold the same, bit by bit but for NaN."""
    return some.shape == others.shape and some.dtype == others.dtype and bool(equal(some, others).all())


def equal(some: Array, others: Array) -> Array:
    """Return where two arrays hold the same numbers, zeros of one sign and NaN alike."""
    found: Array = some == others
    if some.dtype.kind == "f":
        found = (found & (np.signbit(some) == np.signbit(others))) | (np.isnan(some) & np.isnan(others))
    return found


# ---- numbers of inputs and outputs


def if_float32(rounding: Callable[[Array], Array]) -> Callable[[TensorPart, Array], Array | None]:
    """Return a change of FLOAT32 tensors alone."""
    return lambda _, x: rounding(x).astype(np.float32) if x.dtype == np.float32 else None


def if_float(change: Callable[[Array], Array]) -> Callable[[TensorPart, Array], Array | None]:
    """Return a change of float tensors alone."""
    return lambda _, x: change(x).astype(x.dtype) if x.dtype.kind == "f" else None


def flushed(x: Array) -> Array:
    """Return FLOAT16 numbers without denormals."""
    is_denormal = np.abs(x) < np.finfo(np.float16).smallest_normal
    return np.where(is_denormal, np.copysign(np.float16(0), x), x) if x.dtype == np.float16 else x


def limited(x: Array) -> Array:
    """Return floats with the largest numbers in the place of infinities."""
    return np.where(np.isinf(x), np.copysign(np.finfo(x.dtype).max, x), x)


def approximate(desc: OperatorDesc, inputs: Inputs, *, dtype: Any, error: float) -> Outputs | None:
    """Return floats that are off by a relative error, up and down in turn, of what is computed."""
    if not is_computed(desc.spec.operator):
        return None

    def off(_: TensorPart, x: Array) -> Array | None:
        if x.dtype != dtype:
            return None
        sign = np.where(np.arange(x.size) % 2 == 0, error, -error).reshape(x.shape)
        return (x.astype(np.float64) * (1 + sign)).astype(dtype)

    with np.errstate(all="ignore"):
        return changed_outputs(desc, right(desc, inputs), off)


def of_integers(desc: OperatorDesc, change: Callable[[Array], Array], inputs: Inputs) -> Outputs | None:
    """Return what comes out where all 64-bit integers, in and out, go through a change."""
    if not any(part.tensor.data_type in ("INT64", "UINT64") for part in desc.tensors()):
        return None

    def through(_: TensorPart, x: Array) -> Array | None:
        return change(x).astype(x.dtype) if x.dtype in (np.int64, np.uint64) else None

    changed, _ = changed_inputs(desc, inputs, through)
    found = attempted(desc, changed, desc)
    return None if found is None else changed_outputs(desc, found, through)


def through_32_bits(x: Array) -> Array:
    """Return 64-bit integers without their upper halves."""
    return x.astype(np.int32 if x.dtype == np.int64 else np.uint32)


def through_float32(x: Array) -> Array:
    """Return 64-bit integers as FLOAT32 holds them."""
    wide = x.astype(np.float32).astype(np.float64)
    limits = np.iinfo(x.dtype)
    whole = np.clip(wide, float(limits.min), math.nextafter(float(limits.max), 0))
    return whole.astype(x.dtype)


SIGNED = {"UINT8": "INT8", "UINT16": "INT16", "UINT32": "INT32", "UINT64": "INT64"}


def as_signed(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return what comes out where unsigned integers are read and written as signed ones."""
    if not any(part.tensor.data_type in SIGNED for part in desc.tensors()):
        return None
    values = retyped(desc, lambda name: SIGNED.get(name, name))
    for name, field in desc.spec.fields.items():
        if field.type == "SCALAR_UNION" or field.enum == "DML_TENSOR_DATA_TYPE":
            values[name] = SIGNED.get(desc.values[name], desc.values[name]) if field.enum else desc.values[name]
    given, _ = changed_inputs(
        desc,
        inputs,
        lambda part, x: x.view(SIGNED[part.tensor.data_type].lower()) if part.tensor.data_type in SIGNED else None,
    )
    found = attempted(OperatorDesc.of(desc.spec, values), given, desc)
    return (
        None
        if found is None
        else {label: x.view(_dtype(desc, label)) if x.dtype.kind == "i" else x for label, x in found.items()}
    )


def _dtype(desc: OperatorDesc, label: str) -> str:
    kind = next(part.tensor.data_type for part in desc.tensors(OUTPUT) if part.label == label)
    return {"UINT4": "uint8", "INT4": "int8"}.get(kind, kind.lower())


def saturating(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return what comes out where integers of up to 32 bits are limited to their type instead of wrapping."""
    narrow_types = {"INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32"}
    outputs = desc.tensors(OUTPUT)
    if any(part.tensor.data_type not in narrow_types for part in desc.tensors()):
        return None
    values = retyped(desc, lambda _: "INT64")
    given, _ = changed_inputs(desc, inputs, lambda _, x: x.astype(np.int64))
    found = attempted(OperatorDesc.of(desc.spec, values), given, desc)
    if found is None:
        return None
    limited = {}
    for part in outputs:
        limits = np.iinfo(_dtype(desc, part.label))
        limited[part.label] = np.clip(found[part.label], limits.min, limits.max).astype(limits.dtype)
    return limited


def retyped(desc: OperatorDesc, change: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of a desc, whose tensors have other data types."""

    def other(value: Any) -> Any:
        if isinstance(value, TensorDesc):
            return value._replace(data_type=change(value.data_type))
        if isinstance(value, tuple) and value and all(isinstance(part, TensorDesc) for part in value):
            return tuple(map(other, value))
        return value

    return {name: other(value) for name, value in desc.values.items()}


# ---- parts of outputs


def beyond(count: int, axis: int, _: TensorPart, x: Array) -> Array | None:
    """Return an output of which nothing beyond the first elements along a dimension, from the end, is written."""
    if x.ndim < -axis or x.shape[axis] <= count:
        return None
    found = x.copy()
    found[(..., slice(count, None), *[slice(None)] * (-1 - axis))] = 0
    return found


def beyond_group(_: TensorPart, x: Array) -> Array | None:
    """Return an output of which only the first 256 elements are written."""
    return None if x.size <= 256 else np.where(np.arange(x.size).reshape(x.shape) < 256, x, x.dtype.type(0))


def without_rest(_: TensorPart, x: Array) -> Array | None:
    """Return an output without the elements after the last vector of four in each row."""
    rest = x.shape[-1] % 4 if x.ndim else 0
    if x.ndim == 0 or rest == 0:
        return None
    found = x.copy()
    found[..., x.shape[-1] - rest :] = 0
    return found


def first_batch(_: TensorPart, x: Array) -> Array | None:
    """Return an output whose batches are all the first one."""
    return np.broadcast_to(x[:1], x.shape).copy() if x.ndim > 1 and x.shape[0] > 1 else None


def first_channels(_: TensorPart, x: Array) -> Array | None:
    """Return an output whose channels from the fifth on are the first four again."""
    return x[:, np.arange(x.shape[1]) % 4] if x.ndim > 2 and x.shape[1] > 4 else None


def swapped(_: TensorPart, x: Array) -> Array | None:
    """Return an output with the second and third element of each vector of four exchanged."""
    if x.ndim == 0 or x.shape[-1] < 4:
        return None
    order = np.arange(x.shape[-1])
    whole = order[: x.shape[-1] // 4 * 4].reshape(-1, 4)
    whole[:, [1, 2]] = whole[:, [2, 1]]
    return x[..., order]


def without_last(axis: int | None, _: TensorPart, x: Array) -> Array | None:
    """Return an output whose last row, column or element is not written."""
    if axis is None:
        if x.size < 2:
            return None
        found = x.copy()
        found.reshape(-1)[-1] = 0
        return found
    if x.ndim < -axis or x.shape[axis] < 2:
        return None
    return beyond(x.shape[axis] - 1, axis, _, x)


# ---- layouts


def read_packed(part: TensorPart, values: Array, *, only_broadcast: bool) -> Array | None:
    """Return what is read from a tensor's buffer as if it were packed; beyond its end 0."""
    tensor = part.tensor
    if tensor.strides is None or tensor.strides == packed_strides(tensor.sizes):
        return None
    is_broadcast = any(stride == 0 and size > 1 for stride, size in zip(tensor.strides, tensor.sizes, strict=True))
    if only_broadcast != is_broadcast:
        return None
    elements = laid_out(tensor, values)[: values.size]
    read = np.zeros(values.size, values.dtype)
    read[: elements.size] = elements
    return read.reshape(values.shape)


def written_packed(part: TensorPart, values: Array) -> Array | None:
    """Return what is found in the buffer of a strided output into which its elements were written packed."""
    tensor = part.tensor
    if tensor.strides is None or tensor.strides == packed_strides(tensor.sizes):
        return None
    buffer = empty_buffer(tensor)
    buffer[: values.size] = values.reshape(-1)[: buffer.size]
    return viewed(tensor, buffer).copy()


# ---- fields


def neutral(field: Field, value: Any) -> Any:
    """Return what a kernel that ignores a field computes with."""
    if field.enum is not None:
        others = [other for other in ENUMS[field.enum] if other != value and not other.endswith("UNKNOWN")]
        return others[0] if field.enum != "DML_TENSOR_DATA_TYPE" and others else value
    if field.boolean:
        return 0 if value else 1
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_neutral_number(field, each) for each in value)
    if isinstance(value, (int, float)):
        return _neutral_number(field, value)
    return None


def _neutral_number(field: Field, value: Any) -> Any:
    if field.name in _ONES:
        return type(value)(1)
    if field.name == "Axis":
        return 0 if value else 1
    return type(value)(0)


_ONES = {
    "Alpha", "BlockSize", "Dilations", "Exponent", "Gamma", "GroupCount", "HeadCount", "InputWindowStrides",
    "KeyValueHeadCount", "LocalSize", "MaximumSamplesPerOutput", "MinimumSamplesPerOutput", "P", "QueryHeadCount",
    "Repeats", "Scale", "Scales", "SigmoidInputScale", "SpatialScale", "SpatialScaleX", "SpatialScaleY", "Steepness",
    "Strides", "WindowSize", "WindowSizes",
}  # fmt: skip


def ignored(field: Field, desc: OperatorDesc) -> Mapping[str, Any] | None:
    """Return the value of a field that is not looked at, None where the desc has none."""
    value = desc.values.get(field.name)
    if value is None:
        return None
    if field.name == "Axes":
        rank = len(desc.tensors()[0].tensor.sizes)
        return {"Axes": tuple(range(rank - len(value), rank)), "AxisCount": len(value)}
    if field.type in ("OPERATOR_DESC", "SCALE_BIAS"):
        return {field.name: None}
    if field.type == "OPERATOR_DESC_ARRAY":
        other = tuple(value[:1] * len(value))
    else:
        other = value._make((1, 1)) if field.type == "SIZE_2D" else neutral(field, value)
    return None if other is None or other == value else {field.name: other}


def exchanged(first: Field, second: Field, desc: OperatorDesc) -> Mapping[str, Any] | None:
    """Return the values of two fields, each with that of the other."""
    if first.name not in desc.values or second.name not in desc.values:
        return None
    return {first.name: desc.values[second.name], second.name: desc.values[first.name]}


def turned(field: Field, desc: OperatorDesc) -> Mapping[str, Any] | None:
    """Return the values of an array, or of a pair, in the opposite order."""
    value = desc.values.get(field.name)
    if value is None or len(value) < 2:
        return None
    return {field.name: value._make(reversed(value)) if hasattr(value, "_fields") else tuple(reversed(value))}


def of_fields(operator: str) -> Iterator[Fault]:
    """Yield the faults of an operator that take a field for another, or do not look at it."""
    spec = load_spec(operator)
    attributes = [field for field in spec.fields.values() if field.kind == "attribute" and not field.counts]
    attributes = [field for field in attributes if field.enum != "DML_TENSOR_DATA_TYPE"]
    for field in attributes:
        yield Fault(
            f"ignored:{field.name}",
            "a constant that is not passed on to the shader",
            on_fields(partial(ignored, field)),
        )
        if field.type.endswith("_ARRAY") and field.type != "OPERATOR_DESC_ARRAY" and field.name != "Axes":
            yield Fault(
                f"turned:{field.name}",
                "height and width exchanged in a constant buffer",
                on_fields(partial(turned, field)),
            )
        if field.type in ("SIZE_2D", "SCALE_BIAS"):
            yield Fault(
                f"turned:{field.name}", "members of a struct in another order", on_fields(partial(turned, field))
            )
    for first, second in pairwise(attributes):
        if (first.type, first.enum, first.boolean) == (second.type, second.enum, second.boolean):
            name = f"exchanged:{first.name}-{second.name}"
            yield Fault(
                name, "neighbours in a constant buffer in another order", on_fields(partial(exchanged, first, second))
            )
    for field in spec.inputs:
        if field.optional:
            yield Fault(
                f"absent:{field.name}",
                "an optional tensor that a fast path does not bind",
                on_fields(partial(left_out, field)),
            )


def left_out(field: Field, desc: OperatorDesc) -> Mapping[str, Any] | None:
    """Return a desc without an optional tensor."""
    return {field.name: None} if desc.values.get(field.name) is not None else None


# ---- what decides between elements


def other_ties(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return which elements are chosen where the last of equal ones is, or the first where the last is right."""
    values = inputs.get("InputTensor")
    if desc.spec.short not in _CHOOSING or values is None or (values.dtype.kind == "f" and np.isnan(values).any()):
        return None
    if desc.spec.short == "REDUCE" and desc.values["Function"] not in ("ARGMAX", "ARGMIN"):
        return None
    if values.dtype.kind not in "fiu" or values.size > 2**23:
        return None
    found, ranks = right(desc, inputs), ranked(desc, values)
    other = retyped(desc, lambda name: name)
    other["InputTensor"] = other["InputTensor"]._replace(data_type="FLOAT64")
    changed = attempted(OperatorDesc.of(desc.spec, other), {**inputs, "InputTensor": ranks}, desc)
    if changed is None:
        return None
    return {label: changed[label].astype(x.dtype) if _is_choice(desc, label) else x for label, x in found.items()}


_CHOOSING = {
    "ARGMAX", "ARGMIN", "REDUCE", "TOP_K", "TOP_K1", "MAX_POOLING1", "MAX_POOLING2", "ACTIVATION_HARDMAX",
    "ACTIVATION_HARDMAX1",
}  # fmt: skip


def _is_choice(desc: OperatorDesc, label: str) -> bool:
    return desc.spec.short.startswith(("ARG", "REDUCE", "ACTIVATION")) or "Ind" in label


def ranked(desc: OperatorDesc, values: Array) -> Array:
    """Return the ranks of elements, of equal ones such that the one is chosen that would not be."""
    _, ranks = np.unique(values.reshape(-1), return_inverse=True)
    places = np.arange(values.size)
    direction = desc.values.get("AxisDirection")
    is_least = (
        desc.spec.short == "ARGMIN"
        or desc.values.get("Function") == "ARGMIN"
        or (desc.spec.short == "TOP_K1" and direction == "INCREASING")
    )
    is_last = direction == "DECREASING" and desc.spec.short.startswith("ARG")
    sign = -1.0 if is_least != is_last else 1.0
    return (ranks * float(values.size) + sign * places).reshape(values.shape)


def lost_nan(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return what comes out where a comparison with NaN takes the other number."""
    kinds = ("MAX", "MIN", "RELU", "CLIP", "CELU", "SIGMOID", "THRESHOLD", "POOLING", "REDUCE", "TOP_K", "ARG")
    if not any(kind in desc.spec.short for kind in kinds):
        return None
    least = "MIN" in desc.spec.short or "MIN" in str(desc.values.get("Function"))
    return on_inputs(if_float(lambda x: np.where(np.isnan(x), np.inf if least else -np.inf, x)))(desc, inputs)


# ---- indices


INDICES = ("IndicesTensor", "BatchIndicesTensor", "SequenceLengthsTensor")


def if_index(change: Callable[[Array], Array]) -> Callable[[TensorPart, Array], Array | None]:
    """Return a change of tensors that hold indices."""
    return lambda part, x: change(x).astype(x.dtype) if part.label in INDICES else None


def next_index(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return what comes out where indices count from 1: those that are read, or else those that are written."""
    if any(name in inputs for name in INDICES):
        return on_inputs(if_index(lambda x: np.where(x >= 0, np.maximum(x.astype(np.int64) - 1, 0), x)))(desc, inputs)
    if desc.spec.short not in _CHOOSING or desc.spec.short.startswith("ACTIVATION"):
        return None
    if desc.spec.short == "REDUCE" and desc.values["Function"] not in ("ARGMAX", "ARGMIN"):
        return None
    return on_outputs(lambda part, x: x + x.dtype.type(1) if _is_choice(desc, part.label) else None)(desc, inputs)


# ---- all of them

_NAMES_OF_AXES = {-1: "width", -2: "height", -3: "channels", -4: "batch"}


def _always() -> Iterator[Fault]:
    """Yield the faults that are the same for all operators."""
    for name, rounding in (("bfloat16", narrowed.bfloat16), ("tf32", narrowed.tf32), ("float16", narrowed.float16)):
        where = "matrix units that take FLOAT32 operands in fewer bits, or a texture format"
        yield Fault(f"inputs-{name}", where, on_inputs(if_float32(rounding)))
    for name, rounding in (("bfloat16", narrowed.bfloat16), ("float16", narrowed.float16)):
        yield Fault(f"sums-{name}", "accumulators of half the width", computing(Narrowing(rounding=rounding)))
    blocks = Narrowing(lost=lambda count: slice(32, min(64, count)) if count > 32 else slice(0, 0))
    yield Fault("lost-block", "a barrier that is missing between the blocks of a sum", computing(blocks))
    yield Fault(
        "lost-term", "a loop that ends one early", computing(Narrowing(lost=lambda count: slice(count - 1, None)))
    )
    approximations = ((np.float32, 2.0**-10), (np.float16, 2.0**-6))
    for dtype, error in approximations:
        name = f"approximate-{np.dtype(dtype).name}"
        yield Fault(name, "a fast function of the hardware, or a table", partial(approximate, dtype=dtype, error=error))
    yield Fault("one-pass-variance", "the mean of the squares less the square of the mean", in_one_pass)
    for count in (32, 64, 128, 256, 1024):
        for axis, dimension in _NAMES_OF_AXES.items():
            where = "a workgroup that is not dispatched, or a tile whose tail is not run"
            yield Fault(f"tail-{count}:{dimension}", where, on_outputs(partial(beyond, count, axis)))
    yield Fault("first-group", "one workgroup of 256 threads instead of several", on_outputs(beyond_group))
    yield Fault("vector-rest", "a loop over vectors of four without the rest", on_outputs(without_rest))
    yield Fault("first-batch", "a batch stride of 0", on_outputs(first_batch))
    yield Fault("first-channels", "a channel index within a vector of four", on_outputs(first_channels))
    yield Fault("swapped-lanes", "a swizzle in the wrong order", on_outputs(swapped))
    for name, axis in (("row", -2), ("column", -1), ("element", None)):
        yield Fault(f"last-{name}", "a loop that ends one step early", on_outputs(partial(without_last, axis)))
    yield Fault(
        "broadcast-ignored",
        "a stride of 0 taken for a packed tensor",
        on_inputs(partial(read_packed, only_broadcast=True)),
    )
    yield Fault(
        "strides-ignored", "a tensor read as if it were packed", on_inputs(partial(read_packed, only_broadcast=False))
    )
    yield Fault("written-packed", "an output written as if it were packed", on_outputs(written_packed))
    yield Fault("other-ties", "a comparison with <= in the place of <", other_ties)
    yield Fault(
        "halves-up",
        "round() of C, which takes halves away from zero",
        computing(Narrowing(nearest=narrowed.away_from_zero)),
    )
    yield Fault(
        "int64-as-int32",
        "64-bit integers of which only the low halves are read",
        lambda desc, inputs: of_integers(desc, through_32_bits, inputs),
    )
    yield Fault(
        "int64-as-float32",
        "integers in a shader of floats",
        lambda desc, inputs: of_integers(desc, through_float32, inputs),
    )
    yield Fault("unsigned-as-signed", "a view of a buffer in the other type", as_signed)
    yield Fault("saturating", "integers that are limited to their type instead of wrapping", saturating)
    yield Fault("largest-for-infinity", "finite-math options of a compiler", on_outputs(if_float(limited)))
    yield Fault(
        "zero-for-nan", "a NaN that max(x, 0) swallows", on_inputs(if_float(lambda x: np.where(np.isnan(x), 0, x)))
    )
    yield Fault("lost-nan", "min and max of the hardware, which take the other operand", lost_nan)
    yield Fault(
        "positive-zeros",
        "x + 0, or a comparison in the place of a sign bit",
        on_outputs(if_float(lambda x: np.where(x == 0, 0, x))),
    )
    yield Fault("float16-denormals", "denormals that are flushed", denormals)
    yield Fault("next-index", "indices that count from 1", next_index)
    yield Fault(
        "negative-index", "negative indices that are limited to 0", on_inputs(if_index(lambda x: np.maximum(x, 0)))
    )
    yield Fault(
        "index-in-16-bits",
        "indices in 16 bits",
        on_inputs(if_index(lambda x: np.where(x >= 0, x & x.dtype.type(0xFFFF), x))),
    )
    yield Fault("nothing-written", "an output that is never written", on_outputs(lambda _, x: np.zeros_like(x)))
    yield Fault("earlier-output", "a buffer that is read before the queue is done", earlier)


def in_one_pass(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return what normalizations give with a variance in one pass."""
    if desc.spec.short not in _OF_VARIANCE:
        return None
    with one_pass.one_pass_variance(), np.errstate(all="ignore"):
        return attempted(desc, inputs, desc)


_OF_VARIANCE = {
    "MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2",
    "BATCH_NORMALIZATION_TRAINING",
}  # fmt: skip


def denormals(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return what comes out where FLOAT16 denormals are 0, in and out."""
    if not any(part.tensor.data_type == "FLOAT16" for part in desc.tensors()):
        return None
    changed, _ = changed_inputs(desc, inputs, lambda _, x: flushed(x))
    return changed_outputs(desc, right(desc, changed), lambda _, x: flushed(x))


_EARLIER: dict[tuple[tuple[int, ...], Any], Array] = {}


def earlier(desc: OperatorDesc, inputs: Inputs) -> Outputs | None:
    """Return the outputs of the last case whose outputs had these sizes and types, 0 of the first."""
    found = right(desc, inputs)
    before = {label: _EARLIER.get((x.shape, x.dtype), np.zeros_like(x)) for label, x in found.items()}
    _EARLIER.update({(x.shape, x.dtype): x for x in found.values()})
    return before


@cache
def faults_of(operator: str) -> dict[str, Fault]:
    """Return the faults that an operator may have, by name."""
    return {fault.name: fault for fault in (*_always(), *of_fields(operator))}


class Planted:
    """The reference engine with a fault, as an implementation."""

    name = "planted"
    version = "1"

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why the fault is none of the operator's."""
        return None if self.fault in faults_of(desc.spec.operator) else "it cannot have the fault"

    def run(self, desc: OperatorDesc, inputs: Inputs) -> Outputs:
        """Return the outputs with the fault, or without where it has nothing to act on."""
        return faults_of(desc.spec.operator)[self.fault].act(desc, inputs) or right(desc, inputs)
