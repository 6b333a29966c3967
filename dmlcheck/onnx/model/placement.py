"""Which nodes ONNX Runtime computes itself, though the provider could: when it loads a model, and on the CPU.

The sources are its core/optimizer/constant_folding.cc, and GetCpuPreferredNodes in
core/framework/fallback_cpu_capability.cc.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dmlcheck.onnx.model.inference import type_of
from dmlcheck.onnx.model.values import CONSTANT, GIVEN, HOST, Value
from dmlcheck.onnx.operators.table import row_of

_MOST = 100  # elements of a constant that is read on the CPU
_HALVES = ("FLOAT16", "BFLOAT16")  # which are never moved to the CPU, nor are floats of 8 bits


def place_of(node: Any, inputs: Sequence[Value], on_cpu: Iterable[int]) -> str:
    """Return CONSTANT for a node that is computed when a model is loaded, HOST for one that stays on the CPU, or "".

    `on_cpu` are the inputs that the provider itself reads on the CPU.
    """
    named = [(index, value) for index, (name, value) in enumerate(zip(node.input, inputs, strict=True)) if name]
    origins = {value.origin for _, value in named}
    if origins == {CONSTANT}:
        return "" if row_of(type_of(node)).is_kept else CONSTANT
    if HOST not in origins:
        return ""
    return HOST if all(_stays(value, is_read_on_cpu=index in on_cpu) for index, value in named) else ""


def _stays(value: Value, *, is_read_on_cpu: bool) -> bool:
    """Whether an input allows its node to run on the CPU."""
    if value.element in _HALVES or value.element.startswith("FLOAT8"):
        return False
    if value.origin == CONSTANT:
        return value.has_at_most(_MOST)
    return value.origin == GIVEN or (value.origin == HOST and not is_read_on_cpu)


def origin_of_outputs(node: Any, inputs: Sequence[Value], place: str, *, is_taken: bool, is_static: bool) -> str:
    """Return the origin of the outputs of a node at a place, as `place_of` returns it.

    `is_static` says that no size of the model is left to a run: a Shape is then a constant. Where the provider does not
    take a Shape, as of opset 23, what follows only from it does not stay on the CPU.
    """
    if type_of(node) == "Shape" and is_static and inputs[0].is_sized:
        return CONSTANT
    if place or is_taken:
        return place or (HOST if row_of(type_of(node)).is_on_cpu else "")
    return HOST if any(value.origin == HOST for value in inputs) else ""
