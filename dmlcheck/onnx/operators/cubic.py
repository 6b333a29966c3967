"""Cubic Resize by ONNX's meaning: a GEMM with the weights of the elements for each dimension that changes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.descs.steps import identity, product

_U = 2.0**-24  # the roundings of an implementation, which has coordinates and weights in FLOAT32
_MOST = 2**24  # weights of a dimension


class Coordinates(NamedTuple):
    """The coordinates of a dimension: element o of the output lies at (o + shift) / scale - offset."""

    scale: Fraction
    shift: Fraction
    offset: Fraction

    @property
    def is_identity(self) -> bool:
        """Whether every element lies where it was."""
        return self.scale == 1 and self.shift == self.offset


def cubic(node: OnnxNode, lines: list[Coordinates]) -> list[Counterpart]:
    """Return the products with the weights of each dimension, one after the other."""
    x, output = node.input(0), node.output()
    shapes = zip(lines, x.shape, output.shape, strict=True)
    changed = [axis for axis, (line, old, new) in enumerate(shapes) if old != new or not line.is_identity]
    if not changed:
        return [identity(x, output)]
    made = []
    for axis in changed:
        y = output if axis == changed[-1] else x.like((*x.shape[:axis], output.shape[axis], *x.shape[axis + 1 :]))
        outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
        weights = _weights(node, lines[axis], x.shape[axis], y.shape[axis])
        own, found = x.view((outer, x.shape[axis], inner)), y.view((outer, y.shape[axis], inner))
        made.append(product(weights.broadcast_to((outer, *weights.shape)), own, found))
        x = y
    return made


def _weights(node: OnnxNode, line: Coordinates, size: int, count: int) -> TensorRef:
    """Return the weights {count, size} of the elements of a dimension, which implementations compute in FLOAT32."""
    if size * count > _MOST:
        raise Unmapped(f"a cubic Resize of {size:,} to {count:,} elements")
    factor, is_inside = shortest(node.get("cubic_coeff_a", -0.75)), bool(node.get("exclude_outside", 0))
    scale, shift, offset = map(float, line)
    places = (np.arange(count) + shift) / scale - offset
    off = 4 * _U * (np.abs(places) + abs(offset) + 1)
    exact, *others = (_rows(at, size, factor, is_inside=is_inside) for at in (places, places - off, places + off))
    moved = np.maximum(*(np.abs(other - exact) for other in others))
    rounded = np.where(exact != 0, (32 * abs(factor) + 16) * _U, 0)  # of the terms of the polynomials
    return TensorRef.computed(exact, 1.01 * moved + rounded, node.input(0).element)


def _rows(places: Array, size: int, factor: float, *, is_inside: bool) -> Array:
    """Return the weights at some places; elements outside count as the ones at the edges, or not at all."""
    rows = np.zeros((len(places), size))
    first = np.floor(places).astype(np.int64) - 1
    for tap in range(4):
        index = first + tap
        weight = _kernel(np.abs(places - index), factor)
        if is_inside:
            weight = np.where((index >= 0) & (index < size), weight, 0)
        np.add.at(rows, (np.arange(len(places)), np.clip(index, 0, size - 1)), weight)
    return rows / rows.sum(axis=1, keepdims=True) if is_inside else rows


def _kernel(distance: Array, a: float) -> Array:
    """Return the weights of elements at a distance of up to two."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))
