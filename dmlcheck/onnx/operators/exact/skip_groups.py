"""SkipGroupNorm of ONNX Runtime's own: a sum, whose groups of channels are normalized."""

from __future__ import annotations

from dmlcheck.onnx.descs.node import Counterpart, Makers, Node, Refused
from dmlcheck.onnx.descs.steps import pair
from dmlcheck.onnx.operators.provider import fused_normalization

_GROUPS = "com.microsoft.GroupNorm"


def _skip_groups(node: Node) -> list[Counterpart]:
    """ADD of input, skip and bias, which is output 1, and what GroupNorm becomes of it; channels are last."""
    x, skip = node.input(0), node.input(3)
    if not node.whole("channels_last", 1) or x.ndim != 4:
        raise Refused(f"{node.type} whose channels are not the last of four dimensions")
    added = [skip.reshape((skip.shape[0], 1, 1, skip.shape[-1])) if skip.ndim == 2 else skip]
    added += [node.input(4)] if node.has(4) else []
    total = node.output(1) if node.gives(1) else x.unknown()
    sums = [x, *(x.unknown() for _ in added[1:]), total]
    summed = [pair("ADD", before, more, after) for before, more, after in zip(sums, added, sums[1:], strict=False)]
    plain = node._replace(type=_GROUPS, inputs=(total, *node.inputs[1:3]), outputs=node.outputs[:1])
    return [*summed, *fused_normalization.SEVERAL[_GROUPS](plain)]


OPERATORS: dict[str, Makers] = {"com.microsoft.SkipGroupNorm": _skip_groups}
