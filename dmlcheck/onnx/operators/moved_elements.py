"""Moved elements: whole tensors, parts, windows, padding, blocks."""

from __future__ import annotations

from functools import partial

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axis_of, number
from dmlcheck.onnx.descs.tensors import permuted, repeated, sized


def _identity(values: TensorRef, node: Node) -> Counterpart:
    """ELEMENT_WISE_IDENTITY that reads through strides."""
    return Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": values, "OutputTensor": node.output()})


def _expand(node: Node) -> Counterpart:
    return _identity(repeated(node.input(0), node.output().shape), node)


def _transpose(node: Node) -> Counterpart:
    x = node.input(0)
    moved = _identity(permuted(x, node.get("perm") or range(x.ndim)[::-1]), node)
    return moved._replace(least=1)


def _reshape(node: Node) -> Counterpart:
    """Return a copy: of the output's sizes where its values are known, else of the input's, as the provider has it."""
    if not node.has_outputs:
        x = node.input(0)
        copy = node.output().view(x.shape) if node.gives(0) else x.unknown()
        return Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x, "OutputTensor": copy})
    return _identity(sized(node.input(0), node.output().shape), node)


def _concat(node: Node) -> Counterpart:
    """JOIN of the parts that have elements."""
    parts = [node.input(index) for index in range(len(node.inputs))]
    axis = axis_of(node.get("axis", 1), parts[0].ndim)
    full = [part for part in parts if part.size]
    return Counterpart("JOIN", {"InputTensors": full, "OutputTensor": node.output(), "Axis": axis})


def _concat_of_sequence(node: Node) -> Counterpart:
    """JOIN of the tensors of a sequence, which are the inputs here; empty ones are left out."""
    parts = [node.input(index) for index in range(len(node.inputs))]
    is_new = node.whole("new_axis", 0)
    if not parts or is_new not in (0, 1) or len({part.ndim for part in parts}) > 1:
        raise Refused(f"{node.type} of {len(parts)} tensors that do not have the same number of dimensions")
    axis = axis_of(node.whole("axis"), parts[0].ndim + is_new)
    parts = [part.reshape((*part.shape[:axis], 1, *part.shape[axis:])) for part in parts] if is_new else parts
    return _concat(node._replace(inputs=tuple(parts), attributes={"axis": axis}))


def _split(node: Node) -> Counterpart:
    x = node.input(0)
    parts = [node.output(index) for index in range(len(node.outputs))]
    return Counterpart(
        "SPLIT", {"InputTensor": x, "OutputTensors": parts, "Axis": axis_of(node.get("axis", 0), x.ndim)}
    )


def _slice(node: Node) -> Counterpart:
    """SLICE1: a window from the lowest element to before the end, walked up, or down from its last element."""
    x = node.input(0)
    starts, ends = node.numbers("starts", 1) or [], node.numbers("ends", 2) or []
    axes = node.numbers("axes", 3) or list(range(len(starts)))
    steps = node.numbers("steps", 4) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise Refused("Slice whose starts, ends, axes and steps do not go together")
    offsets, sizes, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = axis_of(given, x.ndim)
        first, stop, strides[axis] = slice(start, end, step).indices(x.shape[axis])
        offsets[axis], after = (first, stop) if step > 0 else (stop + 1, first + 1)
        sizes[axis] = after - offsets[axis]
        if sizes[axis] < 1:
            raise Refused("Slice that takes no element")
    windows = {"InputWindowOffsets": offsets, "InputWindowSizes": sizes, "InputWindowStrides": strides}
    return Counterpart("SLICE1", {"InputTensor": x, "OutputTensor": node.output(), **windows})


_PADDING = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "wrap": "WRAP"}


def _pad(node: Node) -> Counterpart:
    x = node.input(0)
    pads = node.numbers("pads", 1) or []
    axes = [axis_of(axis, x.ndim) for axis in node.numbers("axes", 3) or range(x.ndim)]
    mode = node.get("mode", "constant")
    if len(pads) != 2 * len(axes) or mode not in _PADDING:
        raise Refused(f"Pad of mode {mode} whose pads are {pads}")
    if min(pads, default=0) < 0:
        raise Refused("Pad that cuts elements off")
    start, end = [0] * x.ndim, [0] * x.ndim
    for index, axis in enumerate(axes):
        start[axis], end[axis] = pads[index], pads[index + len(axes)]
    given = node.known(2)
    value = node.get("value", 0) if given is None else given.reshape(-1)[0]
    fields = {"PaddingValueDataType": x.data_type, "PaddingValue": number(value, x.dtype)}
    ends = {"StartPadding": start, "EndPadding": end}
    tensors = {"InputTensor": x, "OutputTensor": node.output()}
    return Counterpart("PADDING1", {**tensors, "PaddingMode": _PADDING[mode], **fields, **ends})


def _tile(node: Node) -> Counterpart:
    return Counterpart("TILE", {**node.tensors(), "Repeats": node.numbers("repeats", 1)})


def _blocks(operator: str, node: Node) -> Counterpart:
    """DEPTH_TO_SPACE1 and, for the order that is the only one of older opsets, SPACE_TO_DEPTH."""
    orders = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}
    order, block = orders.get(node.get("mode", "DCR")), {"BlockSize": node.get("blocksize")}
    if operator == "SPACE_TO_DEPTH1" and order == "DEPTH_COLUMN_ROW":
        return Counterpart("SPACE_TO_DEPTH", {**node.tensors(), **block})
    return Counterpart(operator, {**node.tensors(), **block, "Order": order})


def _fold(node: Node) -> Counterpart:
    block = node.numbers("block_shape", 2) or []
    count = len(block)
    pads = node.get("pads") or [0] * (2 * count)
    steps = {name: node.get(name.lower()) or [1] * count for name in ("Strides", "Dilations")}
    fields = {"WindowSizes": block, **steps, "StartPadding": pads[:count], "EndPadding": pads[count:]}
    return Counterpart("FOLD", {**node.tensors(), **fields})


OPERATORS: dict[str, Maker] = {
    "Col2Im": _fold,
    "Concat": _concat,
    "ConcatFromSequence": _concat_of_sequence,
    "DepthToSpace": partial(_blocks, "DEPTH_TO_SPACE1"),
    "Expand": _expand,
    "Flatten": _reshape,
    "Pad": _pad,
    "Reshape": _reshape,
    "Slice": _slice,
    "SpaceToDepth": partial(_blocks, "SPACE_TO_DEPTH1"),
    "Split": _split,
    "Squeeze": _reshape,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _reshape,
}
