"""Nodes of a model taken into the reference's chain, with the tensors that an implementation gave for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcheck.models.cases import Loaded, NodeCase
from dmlcheck.models.chain import Chain
from dmlcheck.models.node_values import arrays_of
from dmlcheck.models.node_verdict import KNOWN_TYPES, Mapped, NodeVerdict, Unjudged, map_node

_OF_SIZES = ("Shape", "Size")


def mapped_with(node: NodeCase, tensors: Mapping[str, Any], model: Loaded, *, is_directml: bool) -> Mapped | Unjudged:
    """Return the graph of a node with the tensors that it read and gave, or why it has none."""
    inputs = arrays_of(node.node.input, tensors, model)
    outputs = arrays_of(node.node.output, tensors, model)
    if isinstance(inputs, Unjudged) or isinstance(outputs, Unjudged):
        return Unjudged("not-mapped", "one of its tensors is a sequence, or missing")
    elements = {name: kind for name in node.reads if (kind := model.four_bits(name)) is not None}
    return map_node(node.node, model.opset(node.node), inputs, outputs, is_directml=is_directml, elements=elements)


def follow_node(
    chain: Chain, node: NodeCase, mapped: Mapped | NodeVerdict | Unjudged, actual: Mapping[str, Any], model: Loaded
) -> None:
    """Take a node into a chain; `actual` are the arrays that the implementation gave for it."""
    if isinstance(mapped, Unjudged) or mapped.graph is None:
        why = mapped.reason if isinstance(mapped, Unjudged) else "its outputs do not have the sizes that they must have"
        reads = [name for name in node.reads if name not in model.constants]
        chain.take(node.case.name, reads, actual, why, is_of_sizes=is_of_sizes(node))
    else:
        constants = {name: data for name, data in mapped.data.items() if name in model.constants}
        chain.add(node.case.name, mapped.graph, actual, constants, mapped.slack)


def is_of_sizes(node: NodeCase) -> bool:
    """Whether a node's outputs depend only on the sizes of its inputs."""
    return node.node.op_type in _OF_SIZES and not node.node.domain


def known_arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors that are arrays of types that DirectML has."""
    return {name: array for name, array in tensors.items() if _is_known(array)}


def _is_known(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype in KNOWN_TYPES
