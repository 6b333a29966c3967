"""Pooling, of windows, of whole images and of regions, and its inverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.descs.padded import padded
from dmlcheck.onnx.descs.tensors import ranked, unsigned
from dmlcheck.onnx.operators.convolution import ENDS, by_dimension, is_automatic, reaches_of, window
from dmlcheck.onnx.operators.row import Row, is_set
from dmlcheck.validation.deviations import Unrun


def _pool(operator: str, node: OnnxNode, *, is_global: bool = False) -> list[Counterpart]:
    """Pooling with the model's output sizes, rounded down or up, by the oldest operator with all fields needed."""
    x = node.input(0)
    sizes = list(x.shape[2:]) if is_global else list(node.get("kernel_shape"))
    fields: dict[str, Any] = {**node.tensors(), "WindowSize": sizes, **window(node, x, sizes)}
    if operator == "AVERAGE_POOLING":
        fields["IncludePadding"] = node.get("count_include_pad", 0)
    elif operator == "LP_POOLING":
        fields["P"] = node.get("p", 2)
    elif node.gives(1):
        if node.get("storage_order", 0):
            raise Unmapped("MaxPool that counts columns first")
        fields["OutputIndicesTensor"] = unsigned(node.output(1))
    if "OutputIndicesTensor" not in fields and set(fields["Dilations"]) == {1}:
        del fields["Dilations"]
    else:
        operator = _DILATED[operator]
    return [padded(Counterpart(operator, fields))]


_DILATED = {"AVERAGE_POOLING": "AVERAGE_POOLING1", "LP_POOLING": "LP_POOLING1", "MAX_POOLING": "MAX_POOLING2"}


def _average(node: OnnxNode) -> list[Counterpart]:
    """Average windows; padding that counts does so as far as it goes, not beyond it."""
    if not _is_beyond_padding(node):
        return _pool("AVERAGE_POOLING", node)
    x = node.input(0)
    ends = window(node, x, list(node.get("kernel_shape")))
    before, after = ([0, 0, *ends[name]] for name in ("StartPadding", "EndPadding"))
    full = x.like([size + first + last for size, first, last in zip(x.shape, before, after, strict=True)])
    added = {"PaddingMode": "CONSTANT", "PaddingValue": 0, "StartPadding": before, "EndPadding": after}
    inner = node.with_attributes(pads=[0] * (2 * x.ndim - 4), auto_pad="NOTSET", count_include_pad=0)
    averages = _pool("AVERAGE_POOLING", inner._replace(inputs=(full,)))
    return [padded(Counterpart("PADDING", {"InputTensor": x, "OutputTensor": full, **added})), *averages]


def _is_beyond_padding(node: OnnxNode) -> bool:
    """Whether padding counts in an average, and the last window of a dimension reaches beyond it."""
    if not (node.get("ceil_mode", 0) and node.get("count_include_pad", 0)):
        return False
    x, sizes = node.input(0), list(node.get("kernel_shape"))
    ends = window(node, x, sizes)
    places = by_dimension(x, node.output().shape[2:], sizes, *(ends[name] for name in ENDS))
    return any(
        (count - 1) * step + (width - 1) * gap + 1 > size + first + last
        for size, count, width, step, gap, first, last in places
    )


def _largest(node: OnnxNode) -> list[Counterpart]:
    return _pool("MAX_POOLING", _by_columns(node) if node.gives(1) and node.get("storage_order", 0) else node)


def _by_columns(node: OnnxNode) -> OnnxNode:
    """Return a pooling that counts columns first as one of images whose rows and columns are exchanged."""
    x = node.input(0)
    if x.ndim != 4:
        raise Unmapped("MaxPool that counts columns first, of other than two spatial dimensions")
    names = ("kernel_shape", "strides", "dilations")
    turned = {name: node.get(name)[::-1] for name in names if node.get(name)}
    if node.get("pads"):
        turned["pads"] = [node.get("pads")[index] for index in (1, 0, 3, 2)]
    return node.with_attributes(**turned, storage_order=0)._replace(
        inputs=(x.transpose((0, 1, 3, 2)),),
        outputs=tuple(None if values is None else values.transpose((0, 1, 3, 2)) for values in node.outputs),
    )


def _pool_of_provider(operator: str, node: OnnxNode) -> list[Counterpart]:
    """Pooling whose sizes are rounded up also where the last window begins in the padding."""
    if not node.get("ceil_mode", 0):
        return _pool(operator, node)
    x, sizes = node.input(0), list(node.get("kernel_shape"))
    ends = window(node, x, sizes)
    reached = _reached(x, sizes, ends)
    outputs = (None if each is None else each.view((*x.shape[:2], *reached)) for each in node.outputs)
    return _pool(operator, node._replace(outputs=tuple(outputs)))


def _reached(x: TensorRef, sizes: Sequence[int], ends: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the output sizes, rounded up."""
    return [
        -(-(size + first + last - (width - 1) * gap - 1) // step) + 1
        for size, width, step, gap, first, last in by_dimension(x, sizes, *(ends[name] for name in ENDS))
    ]


def _deviation(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider where the last window begins in the padding, or None."""
    if not node.get("ceil_mode", 0):
        return None
    x, sizes = node.input(0), list(node.get("kernel_shape"))
    ends = window(node, x, sizes)
    places = zip(x.shape[2:], _reached(x, sizes, ends), ends["Strides"], ends["StartPadding"], strict=True)
    if all((count - 1) * step < size + first for size, count, step, first in places):
        return None
    return (
        f"{node.type} with ceil_mode gives one element more than ONNX, for a window that begins in the "
        "padding at the end"
    )


def _deviation_of_source(node: OnnxNode) -> str | None:
    """Return the same mistake of other pools, or that of an average whose last window reaches beyond the padding."""
    more = _deviation(node)
    if more is not None:
        return Unrun(more)
    if node.type != "AveragePool" or not _is_beyond_padding(node):
        return None
    return Unrun("with ceil_mode and count_include_pad, AveragePool counts elements beyond the padding too")


def _query_max_pool(node: OnnxNode) -> str | None:
    """DmlOperatorPooling.cpp, QueryMaxPool."""
    return is_set(node, "storage_order")


# ---- regions, and the inverse


def _regions(node: OnnxNode) -> list[Counterpart]:
    x, regions = node.input(0), node.input(1)
    height, width = node.get("pooled_shape")
    tensors = {"InputTensor": x, "ROITensor": ranked(regions, 4), "OutputTensor": node.output()}
    size = {"Height": height, "Width": width}
    return [
        Counterpart("ROI_POOLING", {**tensors, "SpatialScale": shortest(node.get("spatial_scale")), "PooledSize": size})
    ]


def _unpool(node: OnnxNode) -> list[Counterpart]:
    """MAX_UNPOOLING where indices count in the output; ONNX counts in sizes that follow from the window."""
    x, output, sizes = node.input(0), node.output(), node.get("kernel_shape")
    ends = window(node, x, sizes)
    places = zip(x.shape[2:], sizes, ends["Strides"], ends["StartPadding"], ends["EndPadding"], strict=True)
    followed = [(count - 1) * step + size - start - end for count, size, step, start, end in places]
    if followed != list(output.shape[2:]):
        raise Unmapped("MaxUnpool whose indices do not count in its output")
    return _unpool_of_provider(node)


def _unpool_of_provider(node: OnnxNode) -> list[Counterpart]:
    """MAX_UNPOOLING wherever the indices count."""
    tensors = {"InputTensor": node.input(0), "IndicesTensor": unsigned(node.input(1)), "OutputTensor": node.output()}
    return [padded(Counterpart("MAX_UNPOOLING", tensors))]


_DROPPED = 22  # the opset from which onnx leaves out a window that begins in the padding at the end


def _sizes(given: Mapping[str, Any], opset: int, shapes: Sequence[Any]) -> tuple[int, ...] | None:
    """Return sizes that are rounded up, without the window that begins in the padding at the end.

    With SAME a size is that of the input by the stride, rounded up, also where the window is smaller than the stride.
    """
    if not given.get("ceil_mode", 0):
        return None
    x, widths = shapes[0], list(given["kernel_shape"])
    strides, reaches, pads = reaches_of(given, widths)
    if str(given.get("auto_pad", "NOTSET")).startswith("SAME"):
        return (*x[:2], *(-(-size // stride) for size, stride in zip(x[2:], strides, strict=True)))
    if is_automatic(given) or opset >= _DROPPED:
        return None
    made = []
    for size, stride, reach, first, last in zip(
        x[2:], strides, reaches, pads[: len(widths)], pads[len(widths) :], strict=True
    ):
        count = -(-(size + first + last - reach) // stride) + 1
        made.append(count - 1 if (count - 1) * stride >= size + first else count)
    return (*x[:2], *made)


def _global(operator: str) -> Row:
    return Row(partial(_pool, operator, is_global=True))


OPERATORS: dict[str, Row] = {
    "AveragePool": Row(
        exact=_average,
        provider=partial(_pool_of_provider, "AVERAGE_POOLING"),
        deviation=_deviation_of_source,
        sizes=_sizes,
    ),
    "GlobalAveragePool": _global("AVERAGE_POOLING"),
    "GlobalLpPool": _global("LP_POOLING"),
    "GlobalMaxPool": _global("MAX_POOLING"),
    "LpPool": Row(
        partial(_pool, "LP_POOLING"),
        provider=partial(_pool_of_provider, "LP_POOLING"),
        deviation=_deviation_of_source,
        sizes=_sizes,
    ),
    "MaxPool": Row(
        exact=_largest,
        provider=partial(_pool_of_provider, "MAX_POOLING"),
        query=_query_max_pool,
        deviation=_deviation,
        outputs=2,
        sizes=_sizes,
    ),
    "MaxRoiPool": Row(_regions),
    "MaxUnpool": Row(exact=_unpool, provider=_unpool_of_provider),
}
