"""A node computed by ONNX's own evaluator, in the precision of its tensors, for nodes without operator of DirectML.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.graphs.tensors import Array
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.selection import select
from dmlcheck.onnx.reading import first_line

# Operators that may give other numbers each time.
RANDOM = frozenset(
    ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)


def evaluate_node(node: Any, inputs: Sequence[Any], opsets: Mapping[str, int]) -> list[Any]:
    """Return the outputs of a node without inner graphs for its inputs, None for a missing one.

    Each output is an array, or a list of arrays for a sequence. Unmapped if the evaluator does not compute the node.
    Time and memory depend on its tensors: check before that these are not too large.
    """
    from onnx.reference import ReferenceEvaluator

    if node.op_type == "Unsqueeze" and len(inputs) == 1:
        return _unsqueezed(node, inputs[0])
    if node.op_type == "Clip" and len(inputs) == 1 and node.attribute:
        low, high = (_float(node, name, default) for name, default in (("min", -np.inf), ("max", np.inf)))
        return [np.clip(inputs[0], low, high).astype(inputs[0].dtype)]
    if node.op_type == "NonMaxSuppression":  # the evaluator compares each two boxes in Python
        return [select(inputs, is_center=any(one.name == "center_point_box" and one.i for one in node.attribute))]
    given = {name: values for name, values in zip(node.input, inputs, strict=True) if name}
    try:
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(node, opsets=dict(opsets)).run(None, given)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - an evaluator may raise anything
        said = first_line(error).removesuffix(_TO_BUILDERS)
        raise Unmapped(f"ONNX's evaluator does not compute it: {said}") from None
    return [each if isinstance(each, list) or each is None else np.asarray(each) for each in results]


_TO_BUILDERS = ". Did you recompile the sources after updating the repository?"  # onnx to who builds it


def _float(node: Any, name: str, default: float) -> float:
    return next((float(attribute.f) for attribute in node.attribute if attribute.name == name), default)


def _unsqueezed(node: Any, values: Array) -> list[Array]:
    """Return the output of an Unsqueeze whose axes are an attribute: the evaluator takes them as an input only."""
    axes = next((tuple(attribute.ints) for attribute in node.attribute if attribute.name == "axes"), ())
    try:
        return [np.expand_dims(values, axes)]
    except ValueError as error:  # axes that the output does not have, or twice the same
        raise Unmapped(first_line(error)) from None
