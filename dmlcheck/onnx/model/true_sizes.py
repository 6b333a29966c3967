"""Sizes of outputs that onnx infers otherwise than ONNX means them: of windows, and of labels that are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dmlcheck.onnx.attributes import attributes_of
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.einsum import sizes_of_output

Sizes = tuple[int, ...]
_Attributes = Mapping[str, Any]
_DROPPED = 22  # the opset from which onnx leaves out a window that begins in the padding at the end


def true_sizes(node: Any, opset: int, shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Return the sizes of the first output of a node of ONNX where onnx may infer others, None of all other nodes.

    `shapes` are those of the inputs, None for one that is left out.
    """
    make = None if node.domain else _SIZES.get(node.op_type)
    if make is None:
        return None
    try:
        return make(attributes_of(node, opset), opset, shapes)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, Unmapped):
        return None


def _of(shapes: Sequence[Sizes | None], index: int) -> Sizes:
    shape = shapes[index]
    if shape is None:
        raise LookupError(index)
    return shape


def _windows(given: _Attributes, widths: Sequence[int]) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return the strides, the reach of the window and the pads, first and last, for each dimension of a window."""
    count = len(widths)
    dilations = given.get("dilations") or [1] * count
    reaches = [(width - 1) * gap + 1 for width, gap in zip(widths, dilations, strict=True)]
    pads = given.get("pads") or [0] * (2 * count)
    return given.get("strides") or [1] * count, reaches, [0] * (2 * count) if _is_automatic(given) else pads


def _is_automatic(given: _Attributes) -> bool:
    return str(given.get("auto_pad", "NOTSET")) != "NOTSET"


def _transposed(given: _Attributes, _: int, shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Return those of output_shape, or the input's times the stride for SAME, or those that the windows reach."""
    x, weights = _of(shapes, 0), _of(shapes, 1)
    sizes, widths = x[2:], weights[2:]
    strides, reaches, pads = _windows(given, widths)
    added, count = given.get("output_padding") or [0] * len(widths), len(widths)
    if given.get("output_shape"):
        made = list(given["output_shape"])[-count:]
    elif str(given.get("auto_pad", "NOTSET")).startswith("SAME"):
        made = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    else:
        places = zip(sizes, strides, reaches, added, pads[:count], pads[count:], strict=True)
        made = [(size - 1) * stride + reach + more - first - last for size, stride, reach, more, first, last in places]
    return (x[0], weights[1] * int(given.get("group", 1)), *made)


def _pooled(given: _Attributes, opset: int, shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Return sizes that are rounded up, without the window that begins in the padding at the end."""
    if not given.get("ceil_mode", 0) or _is_automatic(given) or opset >= _DROPPED:
        return None
    x, widths = _of(shapes, 0), list(given["kernel_shape"])
    strides, reaches, pads = _windows(given, widths)
    made = []
    for size, stride, reach, first, last in zip(
        x[2:], strides, reaches, pads[: len(widths)], pads[len(widths) :], strict=True
    ):
        count = -(-(size + first + last - reach) // stride) + 1
        made.append(count - 1 if (count - 1) * stride >= size + first else count)
    return (*x[:2], *made)


def _of_labels(given: _Attributes, _: int, shapes: Sequence[Sizes | None]) -> Sizes:
    return sizes_of_output(given["equation"], [_of(shapes, index) for index in range(len(shapes))])


_SIZES: dict[str, Callable[[_Attributes, int, Sequence[Sizes | None]], Sizes | None]] = {
    "AveragePool": _pooled,
    "ConvTranspose": _transposed,
    "Einsum": _of_labels,
    "LpPool": _pooled,
    "MaxPool": _pooled,
}
