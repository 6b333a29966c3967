"""Random descs of the operators of indices, with their inputs and what plain Python makes of them.

A tenth of the indices is outside of its dimension; other programs refuse these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import indexed
import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]
Made = tuple[str, dict[str, Any], dict[str, Array], dict[str, list[Any]]]

FLOATS = ("FLOAT64", "FLOAT32", "FLOAT16")
INTEGERS = ("INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8")
INDICES = ("INT64", "INT32", "UINT64", "UINT32")
SORTED = tuple(data_type for data_type in (*FLOATS, *INTEGERS) if data_type != "FLOAT64")
COUNTED = ("FLOAT32", "FLOAT16", "INT32", "INT16", "INT8", "UINT32", "UINT16", "UINT8")
BEYOND_FLOAT64 = {"INT64": 2**62 + 1, "UINT64": 2**63 + 1}


def tensor(array: Array, sizes: tuple[int, ...] | None = None) -> dict[str, Any]:
    return {"DataType": array.dtype.name.upper(), "Sizes": list(array.shape if sizes is None else sizes)}


def desc_of(inputs: dict[str, Array], outputs: dict[str, tuple[str, tuple[int, ...]]], **fields: Any) -> dict[str, Any]:
    """Return a desc of these tensors."""
    tensors = {name: tensor(array) for name, array in inputs.items()}
    return {**tensors, **{name: {"DataType": of, "Sizes": list(to)} for name, (of, to) in outputs.items()}, **fields}


def numbered(generator: np.random.Generator, sizes: tuple[int, ...]) -> Array:
    """Return a tensor of any type, whose elements name their place."""
    data_type = str(generator.choice(FLOATS + INTEGERS))
    count = int(np.prod(sizes))
    return (
        np.arange(count).astype(data_type.lower()) + np.array(BEYOND_FLOAT64.get(data_type, 0), data_type.lower())
    ).reshape(sizes)


def sizes_of(generator: np.random.Generator, rank: int, most: int = 3) -> tuple[int, ...]:
    return tuple(generator.integers(1, most + 1, rank).tolist())


def as_indices(generator: np.random.Generator, data_type: str, at: Array, size: int) -> Array:
    """Return places along a dimension as indices: some counted from the end, and a tenth outside."""
    limits = np.iinfo(data_type.lower())
    found = at.astype(object)
    if limits.min < 0:
        found = np.where(generator.random(at.shape) < 0.4, found - size, found)
    beyond = [size, size + 5, limits.max, *([-size - 1, limits.min] if limits.min < 0 else [])]
    chosen = np.array(beyond, object)[generator.integers(0, len(beyond), at.shape)]
    return np.asarray(np.where(generator.random(at.shape) < 0.1, chosen, found)).astype(data_type.lower())


def gather(generator: np.random.Generator) -> Made:
    rank = int(generator.integers(1, 6))
    axis, count = int(generator.integers(rank)), int(generator.integers(0, rank + 1))
    lead = (1,) * min(max(count - 1, 0), axis)  # dimensions that the result may lose
    x = numbered(generator, (*lead, *sizes_of(generator, rank))[:rank])
    own = sizes_of(generator, count)
    numbers = generator.integers(0, x.shape[axis], (*(1,) * (rank - count), *own))
    indices = as_indices(generator, str(generator.choice(INDICES)), numbers, x.shape[axis])
    full = (*x.shape[:axis], *own, *x.shape[axis + 1 :])
    surplus = len(full) - rank
    if any(size > 1 for size in full[: max(0, surplus)]):
        return gather(generator)
    inputs = {"InputTensor": x, "IndicesTensor": indices}
    output = full[surplus:] if surplus >= 0 else (1, *full)
    desc = desc_of(inputs, {"OutputTensor": (x.dtype.name.upper(), output)}, Axis=axis, IndexDimensions=count)
    found = indexed.gather(x.shape, flat(x), indices.shape, flat(indices), axis, count)
    return "GATHER", desc, inputs, {"OutputTensor": found}


def flat(array: Array) -> list[Any]:
    return list(array.reshape(-1).tolist())


def gather_elements(generator: np.random.Generator) -> Made:
    rank = int(generator.integers(1, 6))
    axis, x = int(generator.integers(rank)), numbered(generator, sizes_of(generator, rank))
    corner = tuple(int(generator.integers(1, size + 1)) for size in x.shape)
    numbers = generator.integers(0, x.shape[axis], indexed.with_axis(corner, axis, int(generator.integers(1, 5))))
    indices = as_indices(generator, str(generator.choice(INDICES)), numbers, x.shape[axis])
    inputs = {"InputTensor": x, "IndicesTensor": indices}
    desc = desc_of(inputs, {"OutputTensor": (x.dtype.name.upper(), indices.shape)}, Axis=axis)
    found = indexed.gather_elements(x.shape, flat(x), indices.shape, flat(indices), axis)
    return "GATHER_ELEMENTS", desc, inputs, {"OutputTensor": found}


def tuples(generator: np.random.Generator, lead: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """Return an array of tuples of indices into dimensions of these sizes."""
    data_type = str(generator.choice(INDICES))
    columns = [as_indices(generator, data_type, generator.integers(0, size, lead), size) for size in sizes]
    return np.stack(columns, axis=-1)


def gather_nd1(generator: np.random.Generator, batches: int | None = None) -> Made:
    count, more = int(generator.integers(1, 5)), int(generator.integers(1, 4))
    batches = int(generator.integers(0, min(count, more))) if batches is None else batches
    sizes = sizes_of(generator, count)
    width = int(generator.integers(1, count - batches + 1))
    array = (*sizes[:batches], *sizes_of(generator, more - batches - 1)) if more > batches else sizes[:batches]
    indices = tuples(generator, array, sizes[batches : batches + width])
    x = numbered(generator, sizes)
    full = (*array, *sizes[batches + width :])
    rank = max(x.ndim, indices.ndim, len(full)) + int(generator.integers(2))
    inputs = {"InputTensor": with_rank(x, rank), "IndicesTensor": with_rank(indices, rank)}
    counts = {"InputDimensionCount": x.ndim, "IndicesDimensionCount": indices.ndim, "BatchDimensionCount": batches}
    output = (x.dtype.name.upper(), (1,) * (rank - len(full)) + full)
    desc = desc_of(inputs, {"OutputTensor": output}, **counts)
    found = indexed.gather_nd(sizes, flat(x), indices.shape, flat(indices), batches)
    return "GATHER_ND1", desc, inputs, {"OutputTensor": found}


def with_rank(x: Array, rank: int) -> Array:
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def gather_nd(generator: np.random.Generator) -> Made:
    _, desc, inputs, expected = gather_nd1(generator, 0)
    del desc["BatchDimensionCount"]
    return "GATHER_ND", desc, inputs, expected


def scatter(generator: np.random.Generator) -> Made:
    rank = int(generator.integers(1, 6))
    axis, x = int(generator.integers(rank)), numbered(generator, sizes_of(generator, rank))
    corner = tuple(int(generator.integers(1, size + 1)) for size in x.shape)
    order = np.argsort(generator.random(indexed.with_axis(corner, axis, x.shape[axis])), axis=axis)
    numbers = order[tuple(map(slice, corner))]
    indices = as_indices(generator, str(generator.choice(INDICES)), numbers, x.shape[axis])
    updates = (100 + np.arange(indices.size)).astype(np.uint8).astype(x.dtype).reshape(indices.shape)
    inputs = {"InputTensor": x, "IndicesTensor": indices, "UpdatesTensor": updates}
    desc = desc_of(inputs, {"OutputTensor": (x.dtype.name.upper(), x.shape)}, Axis=axis)
    found = indexed.scatter(x.shape, flat(x), indices.shape, flat(indices), flat(updates), axis)
    return "SCATTER", desc, inputs, {"OutputTensor": found}


def scatter_nd(generator: np.random.Generator) -> Made:
    count = int(generator.integers(1, 5))
    sizes = sizes_of(generator, count)
    width = int(generator.integers(1, count + 1))
    every = list(itertools.product(*map(range, sizes[:width])))
    chosen = generator.permutation(len(every))[: int(generator.integers(1, len(every) + 1))]
    array = (chosen.size,) if chosen.size % 2 else (2, chosen.size // 2)
    array = () if chosen.size == 1 and generator.random() < 0.5 else array
    data_type, numbers = str(generator.choice(INDICES)), np.array(every)[chosen].reshape(*array, width)
    columns = [as_indices(generator, data_type, numbers[..., p], sizes[p]) for p in range(width)]
    indices, x = np.stack(columns, axis=-1), numbered(generator, sizes)
    full = (*array, *sizes[width:])
    updates = (100 + np.arange(int(np.prod(full)))).astype(np.uint8).astype(x.dtype).reshape(full)
    rank = max(x.ndim, indices.ndim, len(full), 1) + int(generator.integers(2))
    arrays = {"InputTensor": x, "IndicesTensor": indices, "UpdatesTensor": updates}
    inputs = {name: with_rank(array, rank) for name, array in arrays.items()}
    output = {"OutputTensor": (x.dtype.name.upper(), inputs["InputTensor"].shape)}
    desc = desc_of(inputs, output, InputDimensionCount=x.ndim, IndicesDimensionCount=indices.ndim)
    found = indexed.scatter_nd(sizes, flat(x), indices.shape, flat(indices), flat(updates))
    return "SCATTER_ND", desc, inputs, {"OutputTensor": found}


def one_hot(generator: np.random.Generator) -> Made:
    rank = int(generator.integers(1, 6))
    axis, size = int(generator.integers(rank)), int(generator.integers(1, 5))
    sizes = indexed.with_axis(sizes_of(generator, rank), axis, 1)
    indices = as_indices(generator, str(generator.choice(INDICES)), generator.integers(0, size, sizes), size)
    values = numbered(generator, indexed.with_axis((1,) * rank, int(generator.integers(rank)), 3))
    inputs = {"IndicesTensor": indices, "ValuesTensor": values}
    output = {"OutputTensor": (values.dtype.name.upper(), indexed.with_axis(sizes, axis, size))}
    off, on, _ = flat(values)
    found = indexed.one_hot(sizes, flat(indices), off, on, size, axis)
    return "ONE_HOT", desc_of(inputs, output, Axis=axis), inputs, {"OutputTensor": found}


def top_k1(generator: np.random.Generator) -> Made:
    rank, data_type = int(generator.integers(1, 6)), str(generator.choice(SORTED))
    sizes = indexed.with_axis(
        sizes_of(generator, rank), axis := int(generator.integers(rank)), int(generator.integers(1, 9))
    )
    x = generator.choice(notable(data_type), sizes)
    k, is_decreasing = int(generator.integers(1, sizes[axis] + 1)), bool(generator.integers(2))
    to = indexed.with_axis(sizes, axis, k)
    outputs = {
        "OutputValueTensor": (data_type, to),
        "OutputIndexTensor": (str(generator.choice(["UINT32", "UINT64"])), to),
    }
    direction = "DECREASING" if is_decreasing else "INCREASING"
    desc = desc_of({"InputTensor": x}, outputs, Axis=axis, K=k, AxisDirection=direction)
    found, at = indexed.top(sizes, flat(x), axis, k, is_decreasing=is_decreasing)
    return "TOP_K1", desc, {"InputTensor": x}, {"OutputValueTensor": found, "OutputIndexTensor": at}


def notable(data_type: str) -> Array:
    """Return elements of a type with ties likely: its ends, a few small ones, of floats infinities, NaN and zeros."""
    if data_type in INTEGERS:
        limits = np.iinfo(data_type.lower())
        ends = [limits.min, limits.max, limits.max - 1]
        return np.array([*ends, 0, 1, 2, *([-1, -2] if limits.min else [3, 4])], data_type.lower())
    plain = [1, 2, 2.5, -1, -2, 3, 4, 5, 6, 7, 8]
    return np.array([*plain, *plain, np.inf, -np.inf, 0.0, 0.0, -0.0, np.nan], data_type.lower())


def top_k(generator: np.random.Generator) -> Made:
    while True:
        _, desc, inputs, expected = top_k1(generator)
        if desc.pop("AxisDirection") == "DECREASING":
            return "TOP_K", desc, inputs, expected


def nonzero_coordinates(generator: np.random.Generator) -> Made:
    rank, data_type = int(generator.integers(1, 6)), str(generator.choice(COUNTED))
    sizes = (*(1,) * int(generator.integers(3)), *sizes_of(generator, rank))
    x = generator.choice(np.array([0, 0, 1, 2, 3], data_type.lower()), sizes)
    x = np.where(x == 2, np.array(-0.0, x.dtype), x)
    normal = 0.0
    if x.dtype.kind == "f":
        about = np.finfo(x.dtype)
        normal, doubtful = float(about.smallest_normal), [np.nan, about.smallest_subnormal, -about.smallest_subnormal]
        x = np.where(generator.random(sizes) < 0.05, generator.choice(np.array(doubtful, x.dtype), sizes), x)
    least = max([1, *(len(sizes) - axis for axis, size in enumerate(sizes) if size > 1)])
    count = int(generator.integers(least, len(sizes) + 1))
    lead = (1,) * int(generator.integers(3))
    outputs = {
        "OutputCountTensor": ("UINT32", (*lead, 1)),
        "OutputCoordinatesTensor": ("UINT32", (*lead, x.size, count)),
    }
    total, rows = indexed.nonzero(sizes, flat(x), count, normal)
    expected = {"OutputCountTensor": [total], "OutputCoordinatesTensor": rows}
    return "NONZERO_COORDINATES", desc_of({"InputTensor": x}, outputs), {"InputTensor": x}, expected


MAKERS: dict[str, Callable[[np.random.Generator], Made]] = {
    "GATHER": gather,
    "GATHER_ELEMENTS": gather_elements,
    "GATHER_ND": gather_nd,
    "GATHER_ND1": gather_nd1,
    "NONZERO_COORDINATES": nonzero_coordinates,
    "ONE_HOT": one_hot,
    "SCATTER": scatter,
    "SCATTER_ND": scatter_nd,
    "TOP_K": top_k,
    "TOP_K1": top_k1,
}


def indexings(operator: str) -> Iterator[tuple[OperatorDesc, dict[str, Array]]]:
    """Yield random descs of an operator with their inputs, none of which has an index that is outside."""
    generator = np.random.default_rng(9)
    for _ in range(200):
        _, fields, inputs, expected = MAKERS[operator](generator)
        if "IndicesTensor" in inputs and indexed.OPEN in expected["OutputTensor"]:
            continue
        desc, problems = validation.validate(f"DML_OPERATOR_{operator}", fields, NEWEST_LEVEL)
        assert desc is not None
        assert not problems, problems
        yield desc, inputs
