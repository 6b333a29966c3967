"""Tensors of a graph: views of buffers by type, sizes and strides, with values if they are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.strides import packed_strides
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values.layouts import Array, element_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES

__all__ = ["BOOL", "Array", "Buffer", "TensorRef", "element_of"]

BOOL = "BOOL"  # ONNX's truth values, which are bytes to DirectML
_NAMES = {dtype: name for name, dtype in NUMPY_TYPES.items() if DATA_TYPES[name].bits >= 8}


class OwnNumbers(NamedTuple):
    """Numbers that an implementation computes for itself: the exact ones, flat, and how far it may be from each.

    Where the errors are shared, it may be off to the same side everywhere.
    """

    data_type: str
    exact: Array
    errors: Array
    are_shared: bool = True


class Buffer:
    """The buffer of tensors' elements: known by identity, with its elements in a flat array if they are known.

    `element` is their type. `copied` is the tensor whose elements, converted to another type or packed, this buffer
    has: an input is copied from there, an output to there. `computed` are numbers that are known with errors.
    """

    __slots__ = ("computed", "copied", "element", "values")

    def __init__(
        self,
        element: str,
        values: Array | None = None,
        copied: TensorRef | None = None,
        computed: OwnNumbers | None = None,
    ) -> None:
        self.element = element
        self.values = values
        self.copied = copied
        self.computed = computed

    @property
    def bytes(self) -> Array | None:
        """The elements as DirectML has them, two of 4 bits in a byte."""
        return None if self.values is None else element_bytes(_data_type(self.element), self.values)


class TensorRef:
    """A view of a buffer: its data type, sizes and strides; strides that are None are packed.

    Two tensors of one buffer are the same data, even with other sizes and strides. `element` is a data type of
    DirectML, or BOOL.
    """

    __slots__ = ("buffer", "element", "shape", "strides")

    def __init__(
        self, element: str, shape: Sequence[int], strides: Sequence[int] | None = None, buffer: Buffer | None = None
    ) -> None:
        """Take a view of a buffer, by default of a new one whose elements are not known."""
        self.element = element
        self.shape = tuple(shape)
        self.strides = None if strides is None else tuple(strides)
        self.buffer = Buffer(element) if buffer is None else buffer

    @classmethod
    def of(cls, values: Array, element: str | None = None) -> TensorRef:
        """Return a tensor of known values; `element` says which 4-bit type bytes are of."""
        is_masked = type(values) is not np.ndarray and isinstance(values, np.ma.MaskedArray)  # np.ma imports much
        flat = np.ma.ravel(values) if is_masked else np.ascontiguousarray(values).reshape(-1)
        kind = element or element_of(values.dtype)
        return cls(kind, values.shape, None, Buffer(kind, flat))

    @classmethod
    def computed(cls, exact: Array, errors: Array, element: str, *, are_shared: bool = True) -> TensorRef:
        """Return a tensor of numbers that an implementation computes for itself, with these errors at most."""
        made = cls(element, exact.shape)
        own = OwnNumbers(element, exact.reshape(-1), errors.reshape(-1), are_shared)
        made.buffer = Buffer(element, own.exact.astype(made.dtype), None, own)
        return made

    def __repr__(self) -> str:
        strides = "" if self.strides is None else f" by {list(self.strides)}"
        return f"TensorRef({self.element} {list(self.shape)}{strides})"

    @property
    def data_type(self) -> str:
        """DirectML's data type."""
        return _data_type(self.element)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements: bytes for 4-bit types."""
        return np.dtype(bool) if self.element == BOOL else NUMPY_TYPES[self.element]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides, also where they are packed."""
        return packed_strides(self.shape) if self.strides is None else self.strides

    @property
    def values(self) -> Array | None:
        """The values in the shape of the sizes, or None if they are not known."""
        flat = self.buffer.values
        if flat is None:
            return None
        flat = flat if flat.dtype == self.dtype else flat.view(self.dtype)
        if self.strides is None:
            return flat[: self.size].reshape(self.shape)
        if self.size and sum((size - 1) * step for size, step in zip(self.shape, self.steps, strict=True)) >= flat.size:
            raise ValueError(
                f"sizes {list(self.shape)} and strides {list(self.steps)} reach beyond {flat.size} elements"
            )
        return np.lib.stride_tricks.as_strided(flat, self.shape, [step * flat.itemsize for step in self.steps])

    def view(self, shape: Sequence[int], strides: Sequence[int] | None = None) -> TensorRef:
        """Return the same buffer with other sizes and strides."""
        return TensorRef(self.element, shape, strides, self.buffer)

    def bits(self, element: str) -> TensorRef:
        """Return the same bytes as elements of another type of the same width."""
        return TensorRef(element, self.shape, self.strides, self.buffer)

    def packed(self) -> TensorRef:
        """Return the tensor without strides: a copy where it has them."""
        return self if self.strides is None else self.astype(self.element)

    def astype(self, element: str) -> TensorRef:
        """Return a packed copy in another type."""
        made, values = TensorRef(element, self.shape), self.values
        known = None if values is None else np.ascontiguousarray(values.astype(made.dtype)).reshape(-1)
        made.buffer = Buffer(element, known, self)
        return made

    def reshape(self, *shape: Any) -> TensorRef:
        """Return the elements in the same order with other sizes, of which one may be -1.

        Dimensions of size 1 may come and go through strides; ValueError if others would.
        """
        given = tuple(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        if given.count(-1) == 1:
            others = math.prod(size for size in given if size != -1)
            given = tuple(self.size // max(1, others) if size == -1 else size for size in given)
        if math.prod(given) != self.size:
            raise ValueError(f"cannot reshape {self.size} elements to {list(given)}")
        if self.strides is None:
            return self.view(given)
        kept = [(size, step) for size, step in zip(self.shape, self.strides, strict=True) if size != 1]
        if [size for size, _ in kept] != [size for size in given if size != 1]:
            raise ValueError(f"strides do not let {list(self.shape)} become {list(given)}")
        steps = iter(step for _, step in kept)
        return self.view(given, [0 if size == 1 else next(steps) for size in given])

    def transpose(self, order: Sequence[int]) -> TensorRef:
        """Return the same buffer read with the axes in another order."""
        if list(order) == sorted(order):
            return self
        return self.view([self.shape[axis] for axis in order], [self.steps[axis] for axis in order])

    def broadcast_to(self, shape: Sequence[int]) -> TensorRef:
        """Return the tensor repeated to a shape, with strides of 0 if it repeats; ValueError if it does not."""
        shape = tuple(shape)
        if shape == self.shape:
            return self
        more = len(shape) - self.ndim
        own = (1,) * more + self.shape
        if more < 0 or any(old not in (1, new) for old, new in zip(own, shape, strict=True)):
            raise ValueError(f"sizes {list(self.shape)} do not repeat to {list(shape)}")
        steps = (*(0 for _ in range(more)), *self.steps)
        return self.view(shape, [0 if size == 1 else step for size, step in zip(own, steps, strict=True)])

    def like(self, shape: Sequence[int], element: str | None = None) -> TensorRef:
        """Return a new tensor of the same type, or of another, whose values are not known."""
        return TensorRef(element or self.element, shape)

    def unknown(self) -> TensorRef:
        """Return a new tensor of the same type and sizes, whose values are not known."""
        return self.like(self.shape)


def _data_type(element: str) -> str:
    return "UINT8" if element == BOOL else element


def element_of(dtype: Any) -> str:
    """Return the data type of arrays of NumPy, BOOL for truth values; KeyError if DirectML has none."""
    kind = np.dtype(dtype)
    return BOOL if kind.kind == "b" else _NAMES[kind]
