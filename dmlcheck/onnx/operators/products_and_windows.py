"""Products of matrices, convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, number
from dmlcheck.onnx.descs.tensors import channels, channels_second, ranked, repeated, unsigned


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
    """GEMM of batches, which repeat where one side has fewer of them."""
    tensors = batches(*matrices(node.input(0), node.input(1), node.output()))
    return Counterpart("GEMM", {**tensors, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})


def matrices(a: TensorRef, b: TensorRef, output: TensorRef) -> tuple[TensorRef, TensorRef, TensorRef]:
    """Return two factors and their product as matrices: a vector is a row on the left, and a column on the right."""
    if a.ndim == 1:
        a, output = ranked(a, 2), _expanded(output, output.ndim - (b.ndim > 1))
    if b.ndim == 1:
        b, output = b.reshape(-1, 1), _expanded(output, output.ndim)
    return a, b, output


def _expanded(x: TensorRef, axis: int) -> TensorRef:
    return x.reshape((*x.shape[:axis], 1, *x.shape[axis:]))


def batches(a: TensorRef, b: TensorRef, output: TensorRef) -> dict[str, TensorRef]:
    """Return the tensors of a product of matrices, which repeat to the batches of the output."""
    batch = output.shape[:-2]
    left, right = (repeated(x, (*batch, *x.shape[-2:])) for x in (a, b))
    return {"ATensor": left, "BTensor": right, "OutputTensor": output}


def window(node: Node, x: TensorRef, sizes: Sequence[int]) -> dict[str, list[int]]:
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
    tensors = {"InputTensor": x, "FilterTensor": weights}
    bias = node.optional(2)
    if bias is not None:
        tensors["BiasTensor"] = channels(bias, x.ndim)
    fields = window(node, x, weights.shape[2:])
    more = {"OutputPadding": node.get("output_padding") or [0] * (x.ndim - 2), "GroupCount": node.get("group", 1)}
    if direction == "BACKWARD" and (node.get("output_shape") or node.get("auto_pad", "NOTSET").startswith("SAME")):
        more |= _padding_of_output(node, x, weights, {**fields, **more})
    kind = {"Mode": "CROSS_CORRELATION", "Direction": direction}
    return Counterpart("CONVOLUTION", {**tensors, "OutputTensor": node.output(), **kind, **fields, **more})


def _convolution_of_channels_last(node: Node) -> Counterpart:
    """CONVOLUTION of four dimensions, whose tensors are read and written through strides."""
    tensors = (node.input(0), node.input(1), node.output())
    if any(x.ndim != 4 for x in tensors):
        raise Refused(f"{node.type} of {[x.ndim for x in tensors]} dimensions, where only four are supported")
    x, weights, output = map(channels_second, tensors)
    return _convolution("FORWARD", node._replace(inputs=(x, weights, *node.inputs[2:]), outputs=(output,)))


def _convolution_with_padding(node: Node) -> Counterpart:
    """CONVOLUTION backward of images; the padding is input 2, the bias input 3."""
    pads = node.known(2)
    if pads is None or pads.size != 4 or node.input(0).ndim != 4:
        raise Refused(f"{node.type} without four numbers of padding for images")
    padded = node.with_attributes(pads=[int(pad) for pad in pads.reshape(-1)], auto_pad="NOTSET")
    return _convolution("BACKWARD", padded._replace(inputs=(*node.inputs[:2], *node.inputs[3:4])))


def _padding_of_output(node: Node, x: TensorRef, weights: TensorRef, fields: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the padding that ConvTranspose needs for its output's size; the rest of an odd one is at its start."""
    names = ("Strides", "Dilations", "OutputPadding")
    places = zip(
        x.shape[2:], weights.shape[2:], node.output().shape[2:], *(fields[name] for name in names), strict=True
    )
    totals = [
        (count - 1) * step + (reach - 1) * gap + 1 + more - size for count, reach, size, step, gap, more in places
    ]
    if min(totals) < 0:
        raise Refused("ConvTranspose whose output is larger than what it reaches")
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    is_upper = node.get("auto_pad") == "SAME_UPPER"
    return {"StartPadding": less if is_upper else more, "EndPadding": more if is_upper else less}


def _pool(operator: str, node: Node, *, is_global: bool = False) -> Counterpart:
    """Pooling, of the sizes that the model has, rounded down or up; the oldest operator that has what is asked."""
    x = node.input(0)
    sizes = list(x.shape[2:]) if is_global else list(node.get("kernel_shape"))
    fields: dict[str, Any] = {**node.tensors(), "WindowSize": sizes, **window(node, x, sizes)}
    if operator == "AVERAGE_POOLING":
        fields["IncludePadding"] = node.get("count_include_pad", 0)
    elif operator == "LP_POOLING":
        fields["P"] = node.get("p", 2)
    elif node.gives(1):
        if node.get("storage_order", 0):
            raise Refused("MaxPool that counts columns first")
        fields["OutputIndicesTensor"] = unsigned(node.output(1))
    if "OutputIndicesTensor" not in fields and set(fields["Dilations"]) == {1}:
        del fields["Dilations"]
        return Counterpart(operator, fields)
    return Counterpart(_DILATED[operator], fields)


_DILATED = {"AVERAGE_POOLING": "AVERAGE_POOLING1", "LP_POOLING": "LP_POOLING1", "MAX_POOLING": "MAX_POOLING2"}


def _regions(node: Node) -> Counterpart:
    x, regions = node.input(0), node.input(1)
    height, width = node.get("pooled_shape")
    tensors = {"InputTensor": x, "ROITensor": ranked(regions, 4), "OutputTensor": node.output()}
    size = {"Height": height, "Width": width}
    return Counterpart(
        "ROI_POOLING", {**tensors, "SpatialScale": number(node.get("spatial_scale")), "PooledSize": size}
    )


def _unpool(node: Node) -> Counterpart:
    """MAX_UNPOOLING where indices count in the output; ONNX counts in sizes that follow from the window."""
    x, output, sizes = node.input(0), node.output(), node.get("kernel_shape")
    ends = window(node, x, sizes)
    places = zip(x.shape[2:], sizes, ends["Strides"], ends["StartPadding"], ends["EndPadding"], strict=True)
    followed = [(count - 1) * step + size - start - end for count, size, step, start, end in places]
    if followed != list(output.shape[2:]):
        raise Refused("MaxUnpool whose indices do not count in its output")
    return Counterpart(
        "MAX_UNPOOLING", {"InputTensor": x, "IndicesTensor": unsigned(node.input(1)), "OutputTensor": output}
    )


OPERATORS: dict[str, Maker] = {
    "AveragePool": partial(_pool, "AVERAGE_POOLING"),
    "Conv": partial(_convolution, "FORWARD"),
    "ConvTranspose": partial(_convolution, "BACKWARD"),
    "Gemm": _gemm,
    "GlobalAveragePool": partial(_pool, "AVERAGE_POOLING", is_global=True),
    "GlobalLpPool": partial(_pool, "LP_POOLING", is_global=True),
    "GlobalMaxPool": partial(_pool, "MAX_POOLING", is_global=True),
    "LpPool": partial(_pool, "LP_POOLING"),
    "MatMul": _matmul,
    "MaxPool": partial(_pool, "MAX_POOLING"),
    "MaxRoiPool": _regions,
    "MaxUnpool": _unpool,
    "com.microsoft.ConvTransposeWithDynamicPads": _convolution_with_padding,
    "com.microsoft.NhwcConv": _convolution_of_channels_last,
}
