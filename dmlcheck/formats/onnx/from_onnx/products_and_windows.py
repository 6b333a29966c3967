"""Products of matrices, convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.formats.onnx.from_onnx.node import Array, Counterpart, Maker, Node, Refused, number
from dmlcheck.formats.onnx.from_onnx.tensors import channels, repeated, unsigned


def _gemm(node: Node) -> Counterpart:
    output = node.output()
    fields: dict[str, Any] = {"ATensor": node.input(0), "BTensor": node.input(1)}
    c = node.optional(2)
    if c is not None:
        fields["CTensor"] = repeated(c, output.shape)
    sides = {f"Trans{side}": "TRANSPOSE" if node.get(f"trans{side}", 0) else "NONE" for side in "AB"}
    factors = {"Alpha": number(node.get("alpha", 1.0)), "Beta": number(node.get("beta", 1.0))}
    return Counterpart("GEMM", {**fields, "OutputTensor": output, **sides, **factors})


def _matmul(node: Node) -> Counterpart:
    """GEMM of batches, which repeat where one side has less of them."""
    a, b, output = node.input(0), node.input(1), node.output()
    if min(a.ndim, b.ndim) < 2:
        raise Refused("MatMul of a vector, where DirectML has matrices only")
    batch = output.shape[:-2]
    tensors = {"ATensor": repeated(a, (*batch, *a.shape[-2:])), "BTensor": repeated(b, (*batch, *b.shape[-2:]))}
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
    return Counterpart("GEMM", {**tensors, "OutputTensor": output, **fields})


def _window(node: Node, x: Array, sizes: Sequence[int]) -> dict[str, list[int]]:
    """Return the steps and the padding of a window over the dimensions after batch and channels."""
    count = len(sizes)
    strides, dilations = node.get("strides") or [1] * count, node.get("dilations") or [1] * count
    pads = node.get("pads") or [0] * (2 * count)
    if x.ndim != count + 2 or len(pads) != 2 * count or not len(strides) == len(dilations) == count:
        raise Refused(f"{node.type} whose attributes are not for {dimensions_text(x.ndim)}")
    start, end = list(pads[:count]), list(pads[count:])
    auto = node.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        places = zip(x.shape[2:], sizes, strides, dilations, strict=True)
        totals = [_same_padding(*numbers) for numbers in places]
        less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
        start, end = (less, more) if auto == "SAME_UPPER" else (more, less)
    elif auto == "VALID":
        start, end = [0] * count, [0] * count
    return {"Strides": strides, "Dilations": dilations, "StartPadding": start, "EndPadding": end}


def _same_padding(size: int, window: int, stride: int, dilation: int) -> int:
    """Return how much padding a dimension needs for its size to be divided by the stride alone."""
    places = -(-size // stride)
    reach = (places - 1) * stride + (window - 1) * dilation + 1
    return max(0, reach - size)


def _convolution(direction: str, node: Node) -> Counterpart:
    x, weights = node.input(0), node.input(1)
    if direction == "BACKWARD" and (node.get("output_shape") or node.get("auto_pad", "NOTSET") != "NOTSET"):
        raise Refused("ConvTranspose whose padding follows from its output")
    tensors = {"InputTensor": x, "FilterTensor": weights}
    bias = node.optional(2)
    if bias is not None:
        tensors["BiasTensor"] = channels(bias, x.ndim)
    fields = _window(node, x, weights.shape[2:])
    more = {"OutputPadding": node.get("output_padding") or [0] * (x.ndim - 2), "GroupCount": node.get("group", 1)}
    kind = {"Mode": "CROSS_CORRELATION", "Direction": direction}
    return Counterpart("CONVOLUTION", {**tensors, "OutputTensor": node.output(), **kind, **fields, **more})


def _pool(operator: str, node: Node, *, is_global: bool = False) -> Counterpart:
    """Pooling, of the sizes that the model has, rounded down or up."""
    x = node.input(0)
    sizes = list(x.shape[2:]) if is_global else list(node.get("kernel_shape"))
    fields: dict[str, Any] = {**node.tensors(), "WindowSize": sizes, **_window(node, x, sizes)}
    if operator == "AVERAGE_POOLING1":
        fields["IncludePadding"] = node.get("count_include_pad", 0)
    elif operator == "LP_POOLING1":
        fields["P"] = node.get("p", 2)
    elif len(node.outputs) > 1 and node.outputs[1] is not None:
        if node.get("storage_order", 0):
            raise Refused("MaxPool that counts columns first")
        fields["OutputIndicesTensor"] = unsigned(node.output(1))
    return Counterpart(operator, fields)


OPERATORS: dict[str, Maker] = {
    "AveragePool": partial(_pool, "AVERAGE_POOLING1"),
    "Conv": partial(_convolution, "FORWARD"),
    "ConvTranspose": partial(_convolution, "BACKWARD"),
    "Gemm": _gemm,
    "GlobalAveragePool": partial(_pool, "AVERAGE_POOLING1", is_global=True),
    "GlobalMaxPool": partial(_pool, "MAX_POOLING2", is_global=True),
    "LpPool": partial(_pool, "LP_POOLING1"),
    "MatMul": _matmul,
    "MaxPool": partial(_pool, "MAX_POOLING2"),
}
