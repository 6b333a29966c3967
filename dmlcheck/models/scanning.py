"""The turns of a Scan of ONNX: the slices of its inputs that each reads, and its outputs from those of all turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.onnx.descs.node import Unmapped, axis_of
from dmlcheck.onnx.reading import attributes_of
from dmlcheck.values.layouts import Array

_WITHOUT_BATCHES = 9  # the opset from which on a Scan has no dimension for batches
Held = Array | Carried | None


class _Way(NamedTuple):
    """The axis along which a tensor is scanned or joined, and whether from its end on."""

    axis: int
    is_backward: bool


class Scanning(NamedTuple):
    """A Scan: how many of its inputs are states, and the ways through its other inputs and its outputs."""

    states: int
    inputs: tuple[_Way, ...]
    outputs: tuple[_Way, ...]

    def turns(self, given: Sequence[Array]) -> int:
        """Return the number of turns, the size of all scanned inputs along their axes; Unmapped if they differ."""
        arrays = given[self.states :]
        lengths = {x.shape[axis_of(way.axis, x.ndim)] for way, x in zip(self.inputs, arrays, strict=True)}
        if len(lengths) != 1:
            raise Unmapped(f"the inputs of Scan have the sizes {sorted(lengths)} along their axes, not one")
        return int(lengths.pop())

    def slices(self, given: Sequence[Array], number: int) -> list[Array]:
        """Return the slices that a turn reads."""
        arrays = given[self.states :]
        return [_slice(x, way, number) for way, x in zip(self.inputs, arrays, strict=True)]

    def held_slices(self, held: Sequence[Held], given: Sequence[Array], number: int) -> list[Held]:
        """Return the slices of tensors as a chain holds them, which have the sizes and types of arrays."""
        each = zip(self.inputs, held[self.states :], given[self.states :], strict=True)
        return [changed(one, x, partial(_slice, way=way, number=number)) for way, one, x in each]

    def joined(self, turns: Sequence[Sequence[Array]]) -> list[Array]:
        """Return the outputs of all turns side by side."""
        return [_stack(np.stack(parts), way) for way, parts in zip(self.outputs, zip(*turns, strict=True), strict=True)]

    def held_joined(self, stacked: Sequence[Held], turns: Sequence[Sequence[Array]]) -> list[Held]:
        """Return the outputs of all turns, held one after the other, side by side."""
        parts = [np.stack(each) for each in zip(*turns, strict=True)]
        return [
            changed(one, x, partial(_stack, way=way)) for way, one, x in zip(self.outputs, stacked, parts, strict=True)
        ]


def scanning(node: Any, opset: int, body: Any) -> Scanning:
    """Return the ways of a Scan with a body; Unmapped for one of batches, and for attributes that do not go with it."""
    if opset < _WITHOUT_BATCHES:
        raise Unmapped("dmlcheck does not compute a Scan of batches, which it has before opset 9")
    attributes = attributes_of(node, opset)
    count = attributes.get("num_scan_inputs")
    states = len(node.input) - count if isinstance(count, int) else -1
    if (
        states < 0
        or states >= len(node.input)
        or (len(body.input), len(body.output)) != (len(node.input), len(node.output))
    ):
        raise Unmapped(
            f"a Scan of {count} of {len(node.input)} inputs, with {len(node.output)} outputs, whose body has"
            f" {len(body.input)} inputs and {len(body.output)} outputs"
        )
    inputs = list(_ways(attributes, "input", len(node.input) - states))
    return Scanning(states, tuple(inputs), tuple(_ways(attributes, "output", len(node.output) - states)))


def _ways(attributes: Any, side: str, count: int) -> Iterator[_Way]:
    axes, directions = (attributes.get(f"scan_{side}_{name}") or [0] * count for name in ("axes", "directions"))
    if not len(axes) == len(directions) == count:
        raise Unmapped(f"scan_{side}_axes and scan_{side}_directions of Scan are not for {count} tensors")
    yield from (_Way(axis, direction == 1) for axis, direction in zip(axes, directions, strict=True))


def _slice(x: Array, way: _Way, number: int) -> Array:
    axis = axis_of(way.axis, x.ndim)
    return np.asarray(np.take(x, x.shape[axis] - 1 - number if way.is_backward else number, axis))


def _stack(turns: Array, way: _Way) -> Array:
    """Return the results of turns, which come one after the other, along another axis."""
    return np.moveaxis(turns[::-1] if way.is_backward else turns, 0, axis_of(way.axis, turns.ndim))


def changed(held: Held, x: Array, change: Callable[[Array], Array]) -> Held:
    """Return a tensor that a chain holds, bytes or elements with their errors, with its elements changed as those of x.

    It has the sizes and the type of x.
    """
    if held is None:
        return None
    if not isinstance(held, Carried):
        return np.ascontiguousarray(change(np.asarray(held).view(x.dtype).reshape(x.shape))).reshape(-1).view(np.uint8)
    radius, likely = (
        None if each is None else change(each.reshape(x.shape)).reshape(-1) for each in (held.radius, held.likely)
    )
    return Carried(held.data_type, change(held.value.reshape(x.shape)).reshape(-1), radius, likely, held.terms)
