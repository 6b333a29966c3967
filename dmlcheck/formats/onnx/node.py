"""One operator of an ONNX model with the values that it reads and must give, whatever its operator is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcheck.descs.strides import packed_strides
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = NDArray[Any]


class Refused(Exception):
    """A model that has no counterpart among DirectML's operators; the message says what is in the way."""


class Laid(NamedTuple):
    """Values in their logical shape, with the strides of the buffer that they lie in."""

    values: Array
    strides: tuple[int, ...]


class Mapped(NamedTuple):
    """A DirectML operator, without its prefix, and its fields: arrays stand for tensors with their values."""

    operator: str
    fields: Mapping[str, Any]


class Node(NamedTuple):
    """An operator of an opset; inputs and outputs that are left out are None."""

    type: str
    opset: int
    attributes: Mapping[str, Any]
    inputs: tuple[Array | None, ...]
    outputs: tuple[Array | None, ...]

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def has(self, index: int) -> bool:
        """Whether an optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def input(self, index: int) -> Array:
        """Return an input that must be there."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise Refused(f"{self.type} has no input {index}")
        return value

    def optional(self, index: int) -> Array | None:
        """Return an input, or None."""
        return self.inputs[index] if self.has(index) else None

    def output(self, index: int = 0) -> Array:
        """Return the values that an output must have."""
        value = self.outputs[index] if index < len(self.outputs) else None
        if value is None:
            raise Refused(f"there are no values for output {index} of {self.type}")
        return value

    def only_outputs(self, count: int) -> None:
        """Refuse outputs beyond the first ones."""
        if any(value is not None for value in self.outputs[count:]):
            raise Refused(f"DirectML has no counterpart to output {count} of {self.type}")

    def numbers(self, name: str, index: int | None) -> list[int] | None:
        """Return whole numbers that are an attribute in some opsets and an input in others, or None."""
        given = self.get(name)
        if given is not None:
            return [int(number) for number in given] if isinstance(given, (list, tuple)) else [int(given)]
        values = None if index is None else self.optional(index)
        return None if values is None else [int(number) for number in values.reshape(-1).tolist()]


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the start."""
    if not -rank <= axis < rank:
        raise Refused(f"axis {axis} is not one of {rank} dimensions")
    return axis % rank


def axes_of(axes: Iterable[int], rank: int) -> list[int]:
    """Return axes counted from the start, in ascending order."""
    return sorted(axis_of(axis, rank) for axis in axes)


def repeated(values: Array, shape: Sequence[int]) -> Array | Laid:
    """Return values broadcast to a shape, with strides of 0 where they are repeated."""
    shape = tuple(shape) or (1,)
    if values.shape == shape:
        return values
    padded = values.reshape((1,) * (len(shape) - values.ndim) + values.shape)
    try:
        full = np.broadcast_to(padded, shape)
    except ValueError:
        raise Refused(f"sizes {list(values.shape)} do not repeat to {list(shape)}") from None
    packed = packed_strides(padded.shape)
    strides = tuple(
        0 if own == 1 and size > 1 else step for own, size, step in zip(padded.shape, shape, packed, strict=True)
    )
    return Laid(full, strides)


def along(values: Array, axis: int, shape: Sequence[int]) -> Array | Laid:
    """Return a scalar, or a vector along one axis, repeated to a shape."""
    if values.size == 1:
        return repeated(values.reshape(()), shape)
    if values.ndim == 1 and len(shape):
        rank = len(shape)
        place = axis_of(axis, rank)
        return repeated(values.reshape([-1 if i == place else 1 for i in range(rank)]), shape)
    return repeated(values, shape)


def ranked(values: Array, rank: int) -> Array:
    """Return values with leading dimensions of size 1 up to a rank."""
    return values.reshape((1,) * (rank - values.ndim) + values.shape)


def sized(values: Array, sizes: Sequence[int]) -> Array:
    """Return values in other sizes."""
    try:
        return values.reshape(tuple(sizes))
    except ValueError:
        raise Refused(f"values of the sizes {list(values.shape)} are not of {list(sizes)}") from None


def permuted(values: Array, order: Sequence[int]) -> Array | Laid:
    """Return values whose axes are in another order, in the buffer that they lie in."""
    if sorted(order) != list(range(values.ndim)):
        raise Refused(f"{list(order)} is no order of {values.ndim} dimensions")
    if list(order) == sorted(order):
        return values
    packed = packed_strides(values.shape)
    return Laid(values.transpose(order), tuple(packed[axis] for axis in order))


def type_name(values: Array) -> str:
    """Return the data type of values; truth values are UINT8."""
    dtype = np.dtype(np.uint8) if values.dtype == bool else values.dtype
    return next(name for name, known in NUMPY_TYPES.items() if known == dtype)


def number(value: Any, dtype: Any = np.float32) -> float | int:
    """Return a number with the fewest digits that are rounded to it in a type, by default that of attributes."""
    if np.dtype(dtype).kind != "f":
        return int(value)
    held = np.dtype(dtype).type(value)
    short = float(str(held))
    return int(short) if short.is_integer() and abs(short) < 2**24 and (short or not np.signbit(held)) else short
