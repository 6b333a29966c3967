"""Convolutions, and the windows that they and poolings have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped
from dmlcheck.onnx.descs.steps import pair
from dmlcheck.onnx.descs.tensors import channels, channels_second
from dmlcheck.onnx.operators.row import Row, check_sizes

# ---- windows

ENDS = ("Strides", "Dilations", "StartPadding", "EndPadding")


def window(node: OnnxNode, x: TensorRef, sizes: Sequence[int]) -> dict[str, list[int]]:
    """Return the steps and the padding of a window over the dimensions after batch and channels."""
    count = len(sizes)
    strides, dilations = node.get("strides") or [1] * count, node.get("dilations") or [1] * count
    pads = node.get("pads") or [0] * (2 * count)
    if x.ndim != count + 2 or len(pads) != 2 * count or not len(strides) == len(dilations) == count:
        raise Unmapped(f"{node.type} whose attributes are not for {dimensions_text(x.ndim)}")
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
    """Return how much padding a dimension needs for the stride to divide its size, apart from the window."""
    places = -(-size // stride)
    reach = (places - 1) * stride + (window - 1) * dilation + 1
    return max(0, reach - size)


def by_dimension(x: TensorRef, *numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield numbers that lists have for the dimensions after batch and channels, with the sizes of these."""
    return zip(x.shape[2:], *numbers, strict=True)


def reaches_of(given: Mapping[str, Any], widths: Sequence[int]) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return the strides, the reach of the window and the pads, first and last, for each dimension of a window."""
    count = len(widths)
    dilations = given.get("dilations") or [1] * count
    reaches = [(width - 1) * gap + 1 for width, gap in zip(widths, dilations, strict=True)]
    pads = given.get("pads") or [0] * (2 * count)
    return given.get("strides") or [1] * count, reaches, [0] * (2 * count) if is_automatic(given) else pads


def is_automatic(given: Mapping[str, Any]) -> bool:
    """Whether the padding follows from sizes, by auto_pad."""
    return str(given.get("auto_pad", "NOTSET")) != "NOTSET"


# ---- convolutions


def _convolution(direction: str, node: OnnxNode) -> list[Counterpart]:
    x, weights = node.input(0), node.input(1)
    tensors = {"InputTensor": x, "FilterTensor": weights}
    bias = node.optional(2)
    if bias is not None:
        tensors["BiasTensor"] = channels(bias, x.ndim)
    fields: dict[str, Any] = window(node, x, weights.shape[2:])
    more = {"OutputPadding": node.get("output_padding") or [0] * (x.ndim - 2), "GroupCount": node.get("group", 1)}
    if direction == "BACKWARD" and (node.get("output_shape") or node.get("auto_pad", "NOTSET").startswith("SAME")):
        more |= _padding_of_output(node, x, weights, {**fields, **more})
    if direction == "BACKWARD":
        more |= _with_sums({**fields, **more})
    fields |= {"Mode": "CROSS_CORRELATION", "Direction": direction, **more}
    output = node.output()
    if bias is None or not any(more["OutputPadding"]):
        return [Counterpart("CONVOLUTION", {**tensors, "OutputTensor": output, **fields})]
    plain = output.unknown()  # DirectML's zeros have no bias
    bias = tensors.pop("BiasTensor")
    return [Counterpart("CONVOLUTION", {**tensors, "OutputTensor": plain, **fields}), pair("ADD", plain, bias, output)]


def _convolution_of_channels_last(node: OnnxNode) -> list[Counterpart]:
    """CONVOLUTION of four dimensions, whose tensors are read and written through strides."""
    tensors = (node.input(0), node.input(1), node.output())
    if any(x.ndim != 4 for x in tensors):
        raise Unmapped(f"{node.type} of {[x.ndim for x in tensors]} dimensions, where only four are supported")
    x, weights, output = map(channels_second, tensors)
    return _convolution("FORWARD", node._replace(inputs=(x, weights, *node.inputs[2:]), outputs=(output,)))


# ---- transposed


_transposed = partial(_convolution, "BACKWARD")


def _convolution_with_padding(node: OnnxNode) -> list[Counterpart]:
    """CONVOLUTION backward of images; the padding is input 2, the bias input 3."""
    pads = node.known(2)
    if pads is None or pads.size != 4 or node.input(0).ndim != 4:
        raise Unmapped(f"{node.type} without four numbers of padding for images")
    padded = node.with_attributes(pads=[int(pad) for pad in pads.reshape(-1)], auto_pad="NOTSET")
    return _transposed(padded._replace(inputs=(*node.inputs[:2], *node.inputs[3:4])))


def _padding_of_output(
    node: OnnxNode, x: TensorRef, weights: TensorRef, fields: Mapping[str, Any]
) -> dict[str, list[int]]:
    """Return the padding that ConvTranspose needs for its output's size; the rest of an odd one is at its start."""
    names = ("Strides", "Dilations", "OutputPadding")
    places = zip(
        x.shape[2:], weights.shape[2:], node.output().shape[2:], *(fields[name] for name in names), strict=True
    )
    totals = [
        (count - 1) * step + (reach - 1) * gap + 1 + more - size for count, reach, size, step, gap, more in places
    ]
    if min(totals) < 0:
        raise Unmapped("ConvTranspose whose output is larger than what it reaches")
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    is_upper = node.get("auto_pad") == "SAME_UPPER"
    return {"StartPadding": less if is_upper else more, "EndPadding": more if is_upper else less}


def _with_sums(fields: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the padding with which the elements that output_padding adds are sums, as ONNX means them.

    They are what EndPadding cuts off, and behind that sums of nothing: zeros in DirectML too, to which the bias is
    added.
    """
    pairs = list(zip(fields["EndPadding"], fields["OutputPadding"], strict=True))
    kept = [min(pair) for pair in pairs]
    return {
        "EndPadding": [end - own for (end, _), own in zip(pairs, kept, strict=True)],
        "OutputPadding": [more - own for (_, more), own in zip(pairs, kept, strict=True)],
    }


def _with_output_padding(node: OnnxNode) -> list[Counterpart]:
    """CONVOLUTION, with output padding where the output has one element more than the windows reach."""
    sizes = node.get("output_shape")
    if not sizes or node.get("auto_pad", "NOTSET") == "SAME_UPPER":
        return _transposed(node)
    x, windows, ones = node.input(0).shape[2:], node.input(1).shape[2:], [1] * len(sizes)
    more = node.get("output_padding") or [0] * len(sizes)
    steps = (node.get(name) or ones for name in ("strides", "dilations"))
    places = zip(sizes, x, windows, more, *steps, strict=True)
    beyond = [
        size - ((count - 1) * step + (reach - 1) * gap + 1 + own) for size, count, reach, own, step, gap in places
    ]
    padding = [own + (excess == 1) for own, excess in zip(more, beyond, strict=True)]
    return _transposed(node.with_attributes(output_padding=padding))


def _transposed_by_provider(node: OnnxNode) -> list[Counterpart]:
    """CONVOLUTION backward, with the padding of a forward one or only from output_shape, and no OutputPadding."""
    x, widths = node.input(0), node.input(1).shape[2:]
    ends = window(node, x, widths)
    if node.get("output_shape"):
        sizes = list(node.output().shape[2:])
        pads = _for_sizes(node, sizes, ends["Strides"])
    else:
        pads = [*ends["StartPadding"], *ends["EndPadding"]]
        added = node.get("output_padding") or [0] * len(widths)
        sizes = [
            (count - 1) * step + (width - 1) * gap + 1 + more - first - last
            for count, width, step, gap, first, last, more in by_dimension(
                x, widths, *(ends[name] for name in ENDS), added
            )
        ]
        _check_automatic(node, sizes, ends["Strides"], added)
    output = node.output().view((*node.output().shape[:2], *sizes))
    plain = node.with_attributes(output_shape=None, output_padding=None, auto_pad="NOTSET", pads=pads)
    return _transposed(plain._replace(outputs=(output,)))


_WITHOUT_SAME = "give pads in place of auto_pad: the provider pads for SAME as if the convolution went forward"


def _check_automatic(node: OnnxNode, sizes: list[int], strides: Sequence[int], added: Sequence[int]) -> None:
    """Refuse automatic padding for which ONNX Runtime infers other sizes: the input's times the stride, and more."""
    if not node.get("auto_pad", "NOTSET").startswith("SAME"):
        return
    inferred = [count * step + more for count, step, more in zip(node.input(0).shape[2:], strides, added, strict=True)]
    check_sizes(node, sizes, _WITHOUT_SAME, inferred)


def _refusal_of_transposed(node: OnnxNode) -> RefusedNode | None:
    """Return why ConvolutionHelperBase or InitializeKernel of OperatorHelper refuse a node, or None."""
    added, sizes = node.get("output_padding"), node.get("output_shape")
    if added is not None and len(added) < 2:
        return RefusedNode(
            f"the DirectML provider refuses {node.type} of one dimension that has output_padding, also [0]",
            "leave output_padding out where it is 0, else take it from the end of pads; or insert a dimension of 1",
        )
    x = node.optional(0)
    if not sizes or x is None:
        return None
    count = x.ndim - 2
    if len(sizes) < count or any(size < given for size, given in zip(sizes[-count:], x.shape[2:], strict=True)):
        return RefusedNode(
            f"the DirectML provider refuses {node.type} whose output_shape {list(sizes)} is smaller than its input,"
            f" {list(x.shape[2:])}",
            "give pads in place of output_shape",
        )
    return None


def _for_sizes(node: OnnxNode, sizes: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Return the padding for sizes of the output, as if the filter were not dilated."""
    x, widths = node.input(0), node.input(1).shape[2:]
    totals = [
        max(0, (count - 1) * step + width - size)
        for count, width, size, step in by_dimension(x, widths, sizes, strides)
    ]
    start = [total // 2 if node.get("auto_pad") == "SAME_UPPER" else (total + 1) // 2 for total in totals]
    return [*start, *(total - first for total, first in zip(totals, start, strict=True))]


def _sizes_of_transposed(given: Mapping[str, Any], _: int, shapes: Sequence[Any]) -> tuple[int, ...] | None:
    """Return output_shape, or for SAME the input's sizes times the stride, or the sizes that the windows reach."""
    x, weights = shapes[0], shapes[1]
    sizes, widths = x[2:], weights[2:]
    strides, reaches, pads = reaches_of(given, widths)
    added, count = given.get("output_padding") or [0] * len(widths), len(widths)
    if given.get("output_shape"):
        made = list(given["output_shape"])[-count:]
    elif str(given.get("auto_pad", "NOTSET")).startswith("SAME"):
        made = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    else:
        places = zip(sizes, strides, reaches, added, pads[:count], pads[count:], strict=True)
        made = [(size - 1) * stride + reach + more - first - last for size, stride, reach, more, first, last in places]
    return (x[0], weights[1] * int(given.get("group", 1)), *made)


OPERATORS: dict[str, Row] = {
    "Conv": Row(partial(_convolution, "FORWARD")),
    "ConvTranspose": Row(
        exact=_with_output_padding,
        provider=_transposed_by_provider,
        refusal=_refusal_of_transposed,
        sizes=_sizes_of_transposed,
    ),
    "com.microsoft.ConvTransposeWithDynamicPads": Row(_convolution_with_padding),
    "com.microsoft.NhwcConv": Row(_convolution_of_channels_last),
}
