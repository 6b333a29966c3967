"""Random values of several styles for the inputs of a desc, for which its operator has defined results.

STYLES names them: `normal` numbers have full mantissas, `wide` ones many magnitudes, and `1000` ones are close to
1,000; `edges` are signed zeros, denormals, limits, infinities, NaN, halves and equal elements among ordinary numbers.
Further styles are `10` and `100`, `cancelling`, with pairs of numbers whose sum is nearly 0, and `bits`, in which any
pattern of bits is as likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlcheck.cases.prepare import value_findings
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.drawing.fitted import consistent
from dmlcheck.drawing.sound import is_sound
from dmlcheck.reference.bindings import row
from dmlcheck.reference.rows import MARK
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]
Generator = np.random.Generator
STYLES = ("normal", "wide", "1000", "edges")

# ---- by data type


def floats(generator: Generator, sizes: tuple[int, ...], dtype: Any, style: str) -> Array:
    """Return floats of a style."""
    if style == "bits":
        return generator.integers(0, 1 << 8 * dtype.itemsize, sizes, f"u{dtype.itemsize}").view(dtype)
    values = generator.normal(size=sizes)
    if style == "wide":
        values = values * 2.0 ** generator.integers(-9, 9, sizes)
    elif style.isdigit():
        values = int(style) + values
    elif style == "cancelling":
        values = cancelling(generator, values)
    values = values.astype(dtype)
    if style == "edges":
        about = np.finfo(dtype)
        tiny, normal = about.smallest_subnormal, about.smallest_normal
        edges = [0.0, -0.0, tiny, -3 * tiny, normal - tiny, normal, 0.5, -0.5, 1.5, 2.5, 1.0, -1.0, 2.0, 3.0, 1.0, 2.0]
        some = [about.max, -about.max, np.inf, -np.inf, np.nan] if generator.random() < 0.5 else [1.0, 2.0]
        values = mixed(generator, values, np.array([*edges, *some], dtype))
    return values


def cancelling(generator: Generator, values: Array) -> Array:
    """Return values in pairs: x, and -x with a random relative difference of about 1 / 4096."""
    flat = values.reshape(-1).copy()
    second = flat[1::2]
    second[:] = -flat[: 2 * second.size : 2] * (1 + generator.normal(size=second.size) / 4096)
    return flat.reshape(values.shape)


def mixed(generator: Generator, values: Array, edges: Array) -> Array:
    """Return values with a third of them replaced by edges."""
    chosen = generator.random(values.shape) < 1 / 3
    return np.where(chosen, generator.choice(edges, values.shape), values)


def integers(generator: Generator, sizes: tuple[int, ...], dtype: Any, style: str) -> Array:
    """Return integers: of the whole range, small ones, large ones that FLOAT32 cannot represent, or edges."""
    limits = np.iinfo(dtype)
    if style in ("normal", "bits"):
        whole: Array = generator.integers(limits.min, limits.max, sizes, dtype, endpoint=True)
        return whole
    if style.isdigit() or style == "cancelling":
        small: Array = generator.integers(max(limits.min, -9), 10, sizes, dtype)
        return small
    if style == "wide":
        shift = generator.integers(0, 8 * dtype.itemsize - 1, sizes)
        wide: Array = generator.integers(limits.min, limits.max, sizes, dtype, endpoint=True) >> shift.astype(dtype)
        return wide.astype(dtype)
    edges = np.array([0, 1, 2, 3, limits.max, limits.max - 1, limits.min, limits.min + 1, limits.max // 2 + 1], dtype)
    return mixed(generator, generator.integers(max(limits.min, -9), 10, sizes, dtype), edges)


def plain(generator: Generator, tensor: TensorDesc, style: str) -> Array:
    """Return elements of a tensor that may have any values."""
    dtype = np.dtype(NUMPY_TYPES[tensor.data_type])
    if dtype.kind == "f":
        return floats(generator, tensor.sizes, dtype, style)
    if tensor.data_type in ("INT4", "UINT4"):
        low = -8 if tensor.data_type == "INT4" else 0
        return generator.integers(low, low + 16, tensor.sizes).astype(dtype)
    return integers(generator, tensor.sizes, dtype, style)


# ---- by operator

POSITIVE = ("VarianceTensor", "InputSecondMomentTensor")


def interval(generator: Generator, tensor: TensorDesc, low: float, high: float) -> Array:
    """Return floats of an interval, or whole numbers of it."""
    values = generator.uniform(low, high, tensor.sizes)
    dtype = np.dtype(NUMPY_TYPES[tensor.data_type])
    return np.rint(values).astype(dtype) if dtype.kind != "f" else values.astype(dtype)


def sorted_out(desc: OperatorDesc, part: TensorPart, generator: Generator, style: str) -> Array:
    """Return the values of an input tensor, by its name and its operator."""
    name, tensor = part.label.partition("[")[0], part.tensor
    special = SPECIAL.get(name)
    if special is not None:
        return special(desc, part, generator)
    if is_scale(desc, name):
        return scales(desc, part, generator)
    limits = of_name(desc, name, tensor) or of_domain(desc, tensor, style)
    if limits is not None:
        return interval(generator, tensor, *limits)
    values = plain(generator, tensor, style)
    if desc.spec.short in _OF_SPECIALS and style == "edges":
        return np.where(generator.random(tensor.sizes) < 1 / 2, generator.choice(_SPECIALS, tensor.sizes), values)
    if row(desc.spec.operator).kernel.seeks == MARK and generator.random() < 1 / 4:
        values[..., -4:] += values.dtype.type(8)  # so that the end of a long row counts
    if ("DIVIDE" in desc.spec.short or "MODULUS" in desc.spec.short) and name == "BTensor":
        return np.where(np.abs(values.astype(np.float64)) < 0.01, values.dtype.type(3), values)
    return values


# They ask for these numbers; no field says so.
_OF_SPECIALS = ("ELEMENT_WISE_IS_INFINITY", "ELEMENT_WISE_IS_NAN")
_SPECIALS = (np.float16(np.nan), np.float16(np.inf), np.float16(-np.inf))


def of_name(desc: OperatorDesc, name: str, tensor: TensorDesc) -> tuple[float, float] | None:
    """Return the interval for an input whose name says what it is."""
    short, dtype = desc.spec.short, np.dtype(NUMPY_TYPES[tensor.data_type])
    if name in POSITIVE:
        return 0.05, 4
    if name == "ExponentTensor":
        return -3 if dtype.kind == "f" else 0, 3
    if desc.spec.fields.keys() >= {"AScaleTensor", "BiasTensor"} and dtype.kind in "iu" and dtype.itemsize > 1:
        return (-900 if dtype.kind == "i" else 0), 900  # whose sums fit INT32
    if "SHIFT" in short and name == "BTensor":
        return 0, 8 * dtype.itemsize - 1
    return (0, 1) if "LOGICAL_" in short and tensor.data_type == "UINT8" else None


def of_domain(desc: OperatorDesc, tensor: TensorDesc, style: str) -> tuple[float, float] | None:
    """Return the interval on which a function of floats is defined, and does not overflow."""
    if style == "edges" or np.dtype(NUMPY_TYPES[tensor.data_type]).kind != "f":
        return None
    if "Function" in desc.values:
        return {"MULTIPLY": (0.8, 1.25), "LOG_SUM": (0.01, 3)}.get(desc.values["Function"])
    return desc.spec.domain if desc.values.get("ScaleBias") is None else None


def indices(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return valid indices, unique where repeats are wrong; half of the signed ones are negative."""
    fields, tensor, values = desc.spec.fields, part.tensor, desc.values
    dtype = np.dtype(NUMPY_TYPES[tensor.data_type])
    if "IndicesDimensionCount" in fields:
        return tuples(desc, tensor, generator, dtype)
    if "Axis" not in fields:
        count = math.prod(desc.parts["OutputTensor"][0].tensor.sizes)
        picked = generator.permutation(count)
        return np.resize(picked, tensor.sizes).astype(dtype)
    axis = values["Axis"]
    target = desc.parts["OutputTensor" if "ValuesTensor" in fields else "InputTensor"][0].tensor.sizes[axis]
    if "UpdatesTensor" in fields:
        rows = np.argsort(generator.random((*tensor.sizes[:axis], *tensor.sizes[axis + 1 :], target)), axis=-1)
        found = np.moveaxis(rows[..., : tensor.sizes[axis]], -1, axis)
        if found.shape != tensor.sizes:
            raise ValueError("more indices than places")
    else:
        found = generator.integers(0, target, tensor.sizes)
    found = from_either_end(generator, found, target, dtype)
    return some_beyond(generator, found, target) if "ValuesTensor" in fields else found


def from_either_end(generator: Generator, found: Array, count: Any, dtype: np.dtype[Any]) -> Array:
    """Return indices, some of them counted from the end if the type is signed."""
    if dtype.kind == "i":
        found = np.where(generator.random(found.shape) < 0.4, found - count, found)
    return found.astype(dtype)


def tuples(desc: OperatorDesc, tensor: TensorDesc, generator: Generator, dtype: np.dtype[Any]) -> Array:
    """Return tuples of indices, none of them twice."""
    sizes = desc.parts["InputTensor"][0].tensor.sizes
    source = sizes[len(sizes) - desc.values["InputDimensionCount"] :][desc.values.get("BatchDimensionCount", 0) :]
    source = source[: tensor.sizes[-1]]
    rows, count = math.prod(tensor.sizes[:-1]), math.prod(source)
    is_scattered = "UpdatesTensor" in desc.spec.fields
    flat = generator.permutation(count)[:rows] if is_scattered else generator.integers(0, count, rows)
    if len(flat) < rows:
        raise ValueError("more indices than places")
    found = np.stack(np.unravel_index(flat, source), axis=-1).reshape(tensor.sizes)
    return from_either_end(generator, found, np.array(source), dtype)


_MIRRORED = 0.1  # the share of regions whose ends come before their starts
_INSIDE = 0.8  # the share of tensors of regions that are inside
_BEYOND = 3  # elements that the others reach beyond the edges: samples from the second on are outside


def rois(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return regions, most of them inside."""
    tensor, images = part.tensor, desc.parts.get("InputTensor") or desc.parts["OutputGradientTensor"]
    height, width = images[0].tensor.sizes[-2:]
    scales = [
        float(desc.values.get(name, desc.values.get("SpatialScale", 1.0)))
        for name in ("SpatialScaleX", "SpatialScaleY")
    ]
    beyond, shape = 0 if generator.random() < _INSIDE else _BEYOND, (*tensor.sizes[:-1], 2)
    x = np.sort(generator.uniform(-0.3 - beyond, width + beyond, shape), axis=-1) / scales[0]
    y = np.sort(generator.uniform(-0.3 - beyond, height + beyond, shape), axis=-1) / scales[1]
    corners = np.stack([x[..., 0], y[..., 0], x[..., 1], y[..., 1]], axis=-1)
    is_mirrored = generator.random((*tensor.sizes[:-1], 1)) < _MIRRORED * ("BatchIndicesTensor" in desc.spec.fields)
    corners = np.where(is_mirrored, corners[..., [2, 3, 0, 1]], corners)
    if "BatchIndicesTensor" not in desc.spec.fields:
        batch = generator.integers(0, images[0].tensor.sizes[0], (*tensor.sizes[:-1], 1))
        corners = np.concatenate([batch, np.maximum(corners, 0)], axis=-1)
    return corners.astype(NUMPY_TYPES[tensor.data_type])


_OF_THE_LAST = 0.3  # the share of regions that are of the last image


def batches(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return batch indices of images, some of them of the last one."""
    images = desc.parts.get("InputTensor") or desc.parts["OutputGradientTensor"]
    count, sizes = images[0].tensor.sizes[0], part.tensor.sizes
    found = np.where(generator.random(sizes) < _OF_THE_LAST, count - 1, generator.integers(0, count, sizes))
    return found.astype(NUMPY_TYPES[part.tensor.data_type])


def lengths(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return lengths of sequences; in every second draw all are whole, so that their last steps count."""
    sizes = desc.parts["InputTensor"][0].tensor.sizes
    longest = sizes[desc.values["Axis"]] if "Axis" in desc.values else sizes[1]
    least = longest if generator.integers(0, 2) else 1
    found = generator.integers(least, longest + 1, part.tensor.sizes).astype(NUMPY_TYPES[part.tensor.data_type])
    return some_beyond(generator, found, longest) if "Axis" in desc.values else found


def some_beyond(generator: Generator, found: Array, count: int) -> Array:
    """Return numbers, occasionally a few beyond a count: the next one, and such as 16 bits or signed types cut off."""
    if generator.random() < _WITHIN:
        return found
    most = int(np.iinfo(found.dtype).max)
    beyond = np.array([count, count + 1, 1 << 16, most // 2 + 1, most], np.uint64).astype(found.dtype)
    beyond = beyond[beyond >= count]
    return np.where(generator.random(found.shape) < 1 / 4, generator.choice(beyond, found.shape), found)


_WITHIN = 0.8  # the share of indices and lengths of which all are within


def mask(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return a mask, which may hide all keys of some queries."""
    tensor, kind = part.tensor, desc.values.get("MaskType")
    dtype, count = NUMPY_TYPES[tensor.data_type], keys(desc)
    if kind == "BOOLEAN":
        return generator.integers(0, 2, tensor.sizes).astype(dtype)
    if kind == "KEY_SEQUENCE_END_START":
        batch = tensor.sizes[-1]
        ends, starts = generator.integers(1, count + 2, batch), generator.integers(0, 2, batch)
        return np.broadcast_to(np.stack([ends, starts]), tensor.sizes).astype(dtype)
    lengths = generator.integers(0, count + 2, tensor.sizes)
    if kind == "KEY_QUERY_SEQUENCE_LENGTH_START_END":
        batch, queries, _ = desc.tensors(OUTPUT)[0].tensor.sizes[-3:]
        for start, each in ((batch, queries), (2 * batch + 1, count)):
            lengths[..., start : start + batch + 1] = each * np.arange(batch + 1) + generator.integers(-1, 2, batch + 1)
    return lengths.astype(dtype)


def keys(desc: OperatorDesc) -> int:
    """Return the number of keys that a query of an attention has, including keys of earlier steps."""
    now = ("KeyTensor", "StackedKeyValueTensor", "StackedQueryKeyTensor", "StackedQueryKeyValueTensor")
    given = [desc.parts[name][0].tensor.sizes for name in now if desc.parts[name]]
    past = desc.parts["PastKeyTensor"]
    return (given[0][1] if given else 0) + (past[0].tensor.sizes[-2] if past else 0)


def quantization(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return scales, and then zero points."""
    return scales(desc, part, generator) if part.label.endswith("[0]") else plain(generator, part.tensor, "1000")


def is_scale(desc: OperatorDesc, name: str) -> bool:
    """Whether an input has scales of whole numbers."""
    return "ScaleTensor" in name and ("QUANTIZE" in desc.spec.short or "INTEGER" in desc.spec.short)


def scales(desc: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return scales, half of them powers of two, whose quotients have ties.

    Scales of QUANTIZE and DEQUANTIZE are occasionally so small that FLOAT16 has denormals; scales of DEQUANTIZE may
    also be infinite or NaN.
    """
    short, tensor, kind = desc.spec.short, part.tensor, generator.integers(0, 10)
    dtype = NUMPY_TYPES[tensor.data_type]
    if kind < 5:
        return (2.0 ** -generator.integers(1, 7, tensor.sizes)).astype(dtype)
    if kind == 5 and short.endswith(_FROM_OR_TO_FLOAT):
        return interval(generator, tensor, 2.0**-20, 2.0**-16)
    found = interval(generator, tensor, 0.01, 0.3)
    if kind == 6 and "DEQUANTIZE" in short and np.dtype(dtype).kind == "f":
        return mixed(generator, found, np.array(_SPECIALS, dtype))
    return found


_FROM_OR_TO_FLOAT = ("QUANTIZE", "QUANTIZE_LINEAR")


def training_step(_: OperatorDesc, part: TensorPart, generator: Generator) -> Array:
    """Return the number of a step: often an early one, occasionally one that is negative in a signed type."""
    return np.full(part.tensor.sizes, generator.choice((7, 7, 1, 1000, 4_000_000_000)), np.uint32)


SPECIAL: dict[str, Callable[[OperatorDesc, TensorPart, Generator], Array]] = {
    "BatchIndicesTensor": batches,
    "IndicesTensor": indices,
    "MaskTensor": mask,
    "PastSequenceLengthsTensor": lambda desc, part, _: np.zeros(part.tensor.sizes, NUMPY_TYPES[part.tensor.data_type]),  # noqa: ARG005
    "QuantizationTensors": quantization,
    "ROITensor": rois,
    "SequenceLengthsTensor": lengths,
    "TrainingStepTensor": training_step,
    "ConditionTensor": lambda desc, part, generator: generator.integers(0, 2, part.tensor.sizes).astype(np.uint8),  # noqa: ARG005
}


def drawn_values(desc: OperatorDesc, generator: Generator, style: str = "normal") -> dict[str, Any] | None:
    """Return values for all inputs of a desc, by field, or None if they break a constraint."""
    try:
        found = desc.by_field({part.label: sorted_out(desc, part, generator, style) for part in desc.tensors(INPUT)})
    except (ValueError, IndexError, KeyError):
        return None
    found = consistent(desc, found)
    is_right = is_sound(desc, found) and not value_findings(desc, found, NEWEST_LEVEL)
    return found if is_right else None
