"""Random descs of operators that move elements, with inputs of random bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Any]]
Sizes = tuple[int, ...]


def built(operator: str, fields: dict[str, Any], inputs: dict[str, Any]) -> Made:
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", fields, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, inputs


def tensor(data_type: str, sizes: Sizes) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def type_of(generator: np.random.Generator, operator: str) -> str:
    """Return one of the data types that an operator takes at the newest level."""
    newest = next(iter(load_spec(f"DML_OPERATOR_{operator}").support[0].rows.values()))
    return str(generator.choice(next(iter(newest.values())).types))


def bits(generator: np.random.Generator, data_type: str, sizes: Sizes) -> Array:
    """Return elements of random bits: NaN with payloads, infinities and denormals among the floats."""
    dtype = np.dtype(NUMPY_TYPES[data_type])
    found = generator.integers(0, 1 << 8 * dtype.itemsize, sizes, f"u{dtype.itemsize}").view(dtype)
    if dtype.kind == "f":
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
        found = np.where(generator.random(sizes) < 0.2, generator.choice(special, sizes), found)
    return np.asarray(found)


def some_sizes(generator: np.random.Generator, rank: int | None = None) -> Sizes:
    """Return the sizes of a tensor of up to 8 dimensions, several of them 1."""
    rank = int(generator.integers(1, 9)) if rank is None else rank
    return tuple(generator.choice([1, 2, 3, 5] if rank < 5 else [1, 1, 2, 3], rank).tolist())


def parts_of(generator: np.random.Generator) -> tuple[list[Sizes], Sizes, int]:
    """Return the sizes of parts, those of the whole, and the axis along which the parts are joined."""
    sizes = some_sizes(generator)
    axis = int(generator.integers(0, len(sizes)))
    lengths = generator.integers(1, 5, int(generator.integers(1, 5))).tolist()
    along = [(*sizes[:axis], length, *sizes[axis + 1 :]) for length in (*lengths, sum(lengths))]
    return along[:-1], along[-1], axis


def join(generator: np.random.Generator) -> Made:
    data_type = type_of(generator, "JOIN")
    parts, whole, axis = parts_of(generator)
    fields = {"InputTensors": [tensor(data_type, part) for part in parts], "OutputTensor": tensor(data_type, whole)}
    inputs = {"InputTensors": [bits(generator, data_type, part) for part in parts]}
    return built("JOIN", {**fields, "Axis": axis}, inputs)


def split(generator: np.random.Generator) -> Made:
    data_type = type_of(generator, "SPLIT")
    parts, whole, axis = parts_of(generator)
    fields = {"InputTensor": tensor(data_type, whole), "OutputTensors": [tensor(data_type, part) for part in parts]}
    return built("SPLIT", {**fields, "Axis": axis}, {"InputTensor": bits(generator, data_type, whole)})


def window(generator: np.random.Generator, size: int, *, least: int) -> tuple[int, int, int, int]:
    """Return offset and size of a window in a dimension, a stride, and how many elements are taken."""
    reach = int(generator.integers(1, size + 1))
    offset = int(generator.integers(0, size - reach + 1))
    stride = int(generator.choice([step for step in range(least, 5) if step or least == 0]))
    most = 1 + (reach - 1) // abs(stride) if stride else 3
    return offset, reach, stride, int(generator.choice([most, generator.integers(1, most + 1)]))


def windows(generator: np.random.Generator, *, least: int) -> tuple[Sizes, list[tuple[int, ...]]]:
    """Return the sizes of a tensor, and the offsets, sizes, strides and numbers of elements of a window in it."""
    sizes = tuple(size + int(generator.integers(0, 4)) for size in some_sizes(generator, int(generator.integers(1, 6))))
    return sizes, [*zip(*(window(generator, size, least=least) for size in sizes), strict=True)]


def slice_(generator: np.random.Generator) -> Made:
    data_type = type_of(generator, "SLICE")
    whole, (offsets, _, strides, counts) = windows(generator, least=0)
    fields = {"Offsets": list(offsets), "Sizes": list(counts), "Strides": list(strides)}
    tensors = {"InputTensor": tensor(data_type, whole), "OutputTensor": tensor(data_type, counts)}
    return built("SLICE", tensors | fields, {"InputTensor": bits(generator, data_type, whole)})


def windowed(generator: np.random.Generator, operator: str) -> Made:
    """Return SLICE1, or the gradient, whose input has the elements that are taken."""
    data_type = type_of(generator, operator)
    whole, (*given, counts) = windows(generator, least=-4)
    fields = {f"InputWindow{name}": list(x) for name, x in zip(("Offsets", "Sizes", "Strides"), given, strict=True)}
    names = ("InputTensor", "OutputTensor") if operator == "SLICE1" else ("OutputGradientTensor", "InputGradientTensor")
    tensors = {name: tensor(data_type, of) for name, of in zip(names, (whole, counts), strict=True)}
    name, sizes = ("InputTensor", whole) if operator == "SLICE1" else ("InputGradientTensor", counts)
    return built(operator, tensors | fields, {name: bits(generator, data_type, sizes)})


def padding(generator: np.random.Generator, operator: str) -> Made:
    """Return PADDING or PADDING1, whose padding may be larger than the tensor."""
    data_type = type_of(generator, operator)
    sizes = some_sizes(generator, int(generator.integers(1, 6)))
    before, after = (
        generator.choice([0, 0, 1, 2, 7] if len(sizes) < 4 else [0, 0, 0, 1], len(sizes)).tolist() for _ in "ab"
    )
    larger = tuple(map(sum, zip(sizes, before, after, strict=True)))
    fields: dict[str, Any] = {
        "InputTensor": tensor(data_type, sizes),
        "OutputTensor": tensor(data_type, larger),
        "PaddingMode": str(generator.choice(["CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"])),
        "PaddingValue": int(generator.integers(0, 100)),
        "StartPadding": before,
        "EndPadding": after,
    }
    if operator == "PADDING1":
        fields["PaddingValueDataType"] = data_type
    return built(operator, fields, {"InputTensor": bits(generator, data_type, sizes)})


def tile(generator: np.random.Generator) -> Made:
    data_type = type_of(generator, "TILE")
    sizes = some_sizes(generator)
    repeats = generator.choice([1, 2, 3] if len(sizes) < 5 else [1, 1, 1, 2], len(sizes)).tolist()
    larger = tuple(size * count for size, count in zip(sizes, repeats, strict=True))
    tensors = {"InputTensor": tensor(data_type, sizes), "OutputTensor": tensor(data_type, larger)}
    return built("TILE", {**tensors, "Repeats": repeats}, {"InputTensor": bits(generator, data_type, sizes)})


def blocks(generator: np.random.Generator, operator: str) -> Made:
    """Return one of the operators that make blocks of channels, or channels of blocks."""
    data_type = type_of(generator, operator)
    batch, channels, height, width = some_sizes(generator, 4)
    size = int(generator.integers(1, 4))
    deep, wide = (batch, channels * size * size, height, width), (batch, channels, height * size, width * size)
    given, made = (deep, wide) if operator.startswith("DEPTH") else (wide, deep)
    fields: dict[str, Any] = {"InputTensor": tensor(data_type, given), "OutputTensor": tensor(data_type, made)}
    if operator.endswith("1"):
        fields["Order"] = str(generator.choice(["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]))
    return built(operator, {**fields, "BlockSize": size}, {"InputTensor": bits(generator, data_type, given)})


def reverse(generator: np.random.Generator) -> Made:
    """Return REVERSE_SUBSEQUENCES, with lengths from 0 to more than there is."""
    data_type, of_lengths = type_of(generator, "REVERSE_SUBSEQUENCES"), str(generator.choice(["UINT32", "UINT64"]))
    sizes = some_sizes(generator)
    axis = int(generator.integers(0, len(sizes)))
    one = (*sizes[:axis], 1, *sizes[axis + 1 :])
    dtype = NUMPY_TYPES[of_lengths]
    lengths = generator.integers(0, sizes[axis] + 2, one, dtype)
    lengths = np.where(generator.random(one) < 0.1, np.iinfo(dtype).max, lengths).astype(dtype)
    tensors = {"InputTensor": tensor(data_type, sizes), "OutputTensor": tensor(data_type, sizes)}
    fields = {**tensors, "SequenceLengthsTensor": tensor(of_lengths, one), "Axis": axis}
    inputs = {"InputTensor": bits(generator, data_type, sizes), "SequenceLengthsTensor": lengths}
    return built("REVERSE_SUBSEQUENCES", fields, inputs)


MOVEMENT: dict[str, Callable[[np.random.Generator], Made]] = {
    "DEPTH_TO_SPACE": partial(blocks, operator="DEPTH_TO_SPACE"),
    "DEPTH_TO_SPACE1": partial(blocks, operator="DEPTH_TO_SPACE1"),
    "JOIN": join,
    "PADDING": partial(padding, operator="PADDING"),
    "PADDING1": partial(padding, operator="PADDING1"),
    "REVERSE_SUBSEQUENCES": reverse,
    "SLICE": slice_,
    "SLICE1": partial(windowed, operator="SLICE1"),
    "SLICE_GRAD": partial(windowed, operator="SLICE_GRAD"),
    "SPACE_TO_DEPTH": partial(blocks, operator="SPACE_TO_DEPTH"),
    "SPACE_TO_DEPTH1": partial(blocks, operator="SPACE_TO_DEPTH1"),
    "SPLIT": split,
    "TILE": tile,
}


def movements(operator: str, count: int = 120) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield MOVEMENT[operator](generator)
