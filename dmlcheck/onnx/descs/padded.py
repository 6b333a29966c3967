"""Descs as ONNX Runtime's DirectML provider makes them: most of its tensors have at least four dimensions.

The source is TensorDesc.cpp and the classes of DmlOperator*.cpp: they say where new dimensions go, and which operators
keep the dimensions of ONNX's tensors.
"""

from __future__ import annotations

from typing import Any

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart

# Operators whose tensors keep the dimensions that they have.
_OWN_RANK = frozenset(
    [
        "ARGMAX",
        "ARGMIN",
        "FOLD",
        "GATHER",
        "GATHER_ELEMENTS",
        "GATHER_ND1",
        "MULTIHEAD_ATTENTION",
        "NONZERO_COORDINATES",
        "ONE_HOT",
        "REDUCE",
        "SCATTER_ND",
        "SLICE1",
    ]
)
# How many dimensions come before the new ones; in the tensors of all other operators they come first.
_BEFORE_NEW = {
    "BATCH_NORMALIZATION": 4,
    "CONVOLUTION": 2,
    "CONVOLUTION_INTEGER": 2,
    "QUANTIZED_LINEAR_CONVOLUTION": 2,
}
# The number for a new dimension, in lists with a number for each dimension.
_NEW = {
    "Dilations": 1,
    "EndPadding": 0,
    "OutputPadding": 0,
    "Repeats": 1,
    "StartPadding": 0,
    "Strides": 1,
    "WindowSize": 1,
}


def padded(given: Counterpart) -> Counterpart:
    """Return an operator with tensors of at least four dimensions, and with axes that count these."""
    ranks = [_rank(value) for value in given.fields.values() if _rank(value)]
    least, at = given.least, _BEFORE_NEW.get(given.operator, 0)
    if given.operator in _OWN_RANK or min(ranks, default=least) >= least:
        return given
    more = max(0, least - max(ranks))
    fields = {
        name: _tensors(value, least, at) if _rank(value) else _field(name, value, more)
        for name, value in given.fields.items()
    }
    return given._replace(fields=fields)


def _rank(value: Any) -> int:
    first = value[0] if isinstance(value, list) and value else value
    return first.ndim or 1 if isinstance(first, TensorRef) else 0


def _field(name: str, value: Any, more: int) -> Any:
    if name == "Axis":
        return value + more
    if name == "Axes":
        return [axis + more for axis in value]
    return [_NEW[name]] * more + list(value) if name in _NEW else value


def _tensors(value: Any, least: int, at: int) -> Any:
    return [_tensor(each, least, at) for each in value] if isinstance(value, list) else _tensor(value, least, at)


def _tensor(x: TensorRef, least: int, at: int) -> TensorRef:
    shape = x.shape or (1,)
    ones = (1,) * (least - len(shape))
    return x.reshape((*shape[:at], *ones, *shape[at:]))
