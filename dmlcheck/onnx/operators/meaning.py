"""A node of known inputs as steps: by ONNX's meaning, or by the descs that the DirectML provider makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from dmlcheck.onnx.descs.node import Counterpart, Node, Refused
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.operators.exact import compositions
from dmlcheck.onnx.operators.exact.mapping import imported
from dmlcheck.onnx.operators.provider.mapping import counterparts

Steps = Sequence[Counterpart]
# What is refused of these is what the provider computes otherwise, or a part of.
_OTHER_IN_THE_PROVIDER = frozenset(
    [
        "BatchNormalization",
        "BitShift",
        "Dropout",
        "GRU",
        "LSTM",
        "MaxPool",
        "MeanVarianceNormalization",
        "NonZero",
        "RNN",
        "Resize",
        "RoiAlign",
        "STFT",
        "TopK",
        "com.microsoft.FastGelu",
    ]
)


def by_meaning(node: Node) -> Steps:
    """Return the steps that compute what ONNX says; Refused where there are none."""
    several = compositions.OPERATORS.get(node.type)
    if several is not None:
        return several(node)
    try:
        return [imported(node)]
    except Refused as why:
        if node.type in _OTHER_IN_THE_PROVIDER:
            raise
        first = why
    try:
        return by_provider(node)
    except Refused:
        raise first from None


def by_provider(node: Node) -> Steps:
    """Return the steps that the provider makes of a node; Refused where there are none."""
    return [padded(each) for each in counterparts(node)]
