"""Random descs of operators that move elements, with inputs of random bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


MOVEMENT: dict[str, Callable[[np.random.Generator], Made]] = {
    "JOIN": join,
    "SPLIT": split,
}


def movements(operator: str, count: int = 120) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield MOVEMENT[operator](generator)
