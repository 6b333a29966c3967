"""Operators of ONNX as cases: all that DirectML computes exactly, whether ONNX Runtime's provider takes it or not.

A model that is only checked has no part in what is here: there a node is what the provider makes of it.
"""

from __future__ import annotations

from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused
from dmlcheck.onnx.operators.exact import adapted, attention, copies, einsum
from dmlcheck.onnx.operators.shared import OPERATORS, counterpart

IMPORTED: dict[str, Maker] = {
    **adapted.OPERATORS,
    **attention.OPERATORS,
    **copies.OPERATORS,
    **einsum.OPERATORS,
}

_GRAPHS = "runs graphs of its own, and DirectML has operators only"
_RANDOM = "draws random numbers in a way of its own"
_SIZES = "gives sizes, which DirectML has in descs only"
# Why DirectML has no counterpart, where more can be said than that it has none.
_REASONS = {
    **dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), _GRAPHS),
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"), _RANDOM),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), _RANDOM),
    **dict.fromkeys(("Shape", "Size"), _SIZES),
    "OptionalHasElement": "asks whether a value is there, which DirectML has in descs only",
    "ai.onnx.preview.training.Adam": "adds weights to gradients, which DirectML's ADAM_OPTIMIZER does not",
}


def imported(node: Node) -> Counterpart:
    """Return the operator of DirectML for a node whose values are all known; Refused where it has none."""
    reason = _REASONS.get(node.type)
    if reason is not None:
        raise Refused(f"{node.type} {reason}")
    make = IMPORTED.get(node.type)
    if make is None and node.type not in OPERATORS and not node.type.startswith("com.microsoft."):
        raise Refused(f"DirectML has no operator that computes {node.type}")
    return counterpart(node) if make is None else make(node)
