"""All known operators of ONNX, and the steps of a node: by ONNX's meaning, or as the provider makes them.

The steps of a family are checked against DirectML's tables afterwards, so that a family only checks conditions outside
these tables.
"""

from __future__ import annotations

import os
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.operators.row import Maker, Row

# Operators whose tensors keep the dimensions that they have.
_NAMES_OF_OWN_RANK = """
    ARGMAX ARGMIN FOLD GATHER GATHER_ELEMENTS GATHER_ND1 MULTIHEAD_ATTENTION NONZERO_COORDINATES ONE_HOT REDUCE
    SCATTER_ND SLICE1
"""
_OWN_RANK = frozenset(_NAMES_OF_OWN_RANK.split())
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


OPERATORS: dict[str, Row] = {
    operator: row
    for _, name, _ in iter_modules([os.path.dirname(__file__)])
    for operator, row in getattr(import_module(f"dmlcheck.onnx.operators.{name}"), "OPERATORS", {}).items()
}
_UNKNOWN = Row()
_LEFT = "nothing is computed where a tensor has no elements: outputs that have some hold what was in memory before"


def row_of(operator: str) -> Row:
    """Return the row of an operator; an empty one if none is known."""
    return OPERATORS.get(operator, _UNKNOWN)


def exact_steps(node: OnnxNode) -> list[Counterpart]:
    """Return the steps that compute ONNX's meaning; Unmapped if there are none."""
    row = row_of(node.type)
    if row.reason is not None:
        raise Unmapped(f"{node.type} {row.reason}")
    make = row.exact or row.make
    if make is None and node.type.startswith("com.microsoft."):
        raise Unmapped(f"{node.type} is not one of the operators that are known")
    if make is None:
        raise Unmapped(f"DirectML has no operator that computes {node.type}")
    return _made(make, row, node)


def provider_steps(node: OnnxNode) -> list[Counterpart]:
    """Return the steps that the DirectML provider makes of a node; Unmapped if there are none."""
    row = row_of(node.type)
    make = row.provider or row.make
    if make is None:
        raise Unmapped(f"the DirectML provider has no descs of {node.type}")
    return list(map(padded, _made(make, row, node)))


def is_left_out(node: OnnxNode) -> bool:
    """Whether the provider makes no operator of a node that it takes, since a tensor has no elements."""
    row = row_of(node.type)
    read = [x for index, x in enumerate(node.inputs) if index != row.may_be_empty and not row.leaves_out_empty]
    return any(x is not None and not x.size for x in (*read, *node.outputs))


def deviation_of(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider in a node that it takes, None if none is known."""
    if is_left_out(node):
        return _LEFT if any(x is not None and x.size for x in node.outputs) else None
    query = row_of(node.type).deviation
    return None if query is None else query(node)


def _made(make: Maker, row: Row, node: OnnxNode) -> list[Counterpart]:
    if row.outputs is not None:
        node.only_outputs(row.outputs)
    return make(node)
