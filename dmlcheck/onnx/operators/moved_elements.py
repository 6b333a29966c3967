"""Moved elements: copies, whole tensors, parts, windows, padding, blocks."""

from __future__ import annotations

import math
from functools import partial

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, axis_of, shortest
from dmlcheck.onnx.descs.steps import window
from dmlcheck.onnx.descs.tensors import permuted, repeated, sized
from dmlcheck.onnx.export.records import BYTES_OF
from dmlcheck.onnx.operators.row import BY_SIZES, Row, check_sizes, not_taken


def _identity(values: TensorRef, node: OnnxNode) -> list[Counterpart]:
    """ELEMENT_WISE_IDENTITY that reads through strides."""
    return [Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": values, "OutputTensor": node.output()})]


def _transpose(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    moved = permuted(x, node.get("perm") or range(x.ndim)[::-1])
    return [made._replace(least=1) for made in _identity(moved, node)]


def _reshape(node: OnnxNode) -> list[Counterpart]:
    """Return a copy: of the output's sizes where its values are known, else of the input's, as the provider has it."""
    if not node.has_outputs:
        x = node.input(0)
        if node.gives(0) and node.output().size != x.size:
            raise Unmapped(f"{node.type} of {x.size:,} elements to the sizes {list(node.output().shape)}")
        copy = node.output().view(x.shape) if node.gives(0) else x.unknown()
        return [Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x, "OutputTensor": copy})]
    return _identity(sized(node.input(0), node.output().shape), node)


def _concat(node: OnnxNode) -> list[Counterpart]:
    parts = [node.input(index) for index in range(len(node.inputs))]
    axis = axis_of(node.get("axis", 1), parts[0].ndim)
    full = [part for part in parts if part.size]
    return [Counterpart("JOIN", {"InputTensors": full, "OutputTensor": node.output(), "Axis": axis})]


def _concat_of_sequence(node: OnnxNode) -> list[Counterpart]:
    """JOIN of the tensors of a sequence, which are the inputs here; empty ones are left out."""
    parts = [node.input(index) for index in range(len(node.inputs))]
    is_new = node.whole("new_axis", 0)
    if not parts or is_new not in (0, 1) or len({part.ndim for part in parts}) > 1:
        raise Unmapped(f"{node.type} of {len(parts)} tensors that do not have the same number of dimensions")
    axis = axis_of(node.whole("axis"), parts[0].ndim + is_new)
    parts = [part.reshape((*part.shape[:axis], 1, *part.shape[axis:])) for part in parts] if is_new else parts
    return _concat(node._replace(inputs=tuple(parts), attributes={"axis": axis}))


def _split(node: OnnxNode) -> list[Counterpart]:
    x = node.input(0)
    parts = [node.output(index) for index in range(len(node.outputs))]
    return [
        Counterpart("SPLIT", {"InputTensor": x, "OutputTensors": parts, "Axis": axis_of(node.get("axis", 0), x.ndim)})
    ]


def _slice(node: OnnxNode) -> list[Counterpart]:
    """SLICE1: a window from the lowest element to before the end, walked up, or down from its last element."""
    x = node.input(0)
    starts, ends = node.numbers("starts", 1) or [], node.numbers("ends", 2) or []
    axes = node.numbers("axes", 3) or list(range(len(starts)))
    steps = node.numbers("steps", 4) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise Unmapped("Slice whose starts, ends, axes and steps do not go together")
    offsets, sizes, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = axis_of(given, x.ndim)
        first, stop, strides[axis] = slice(start, end, step).indices(x.shape[axis])
        offsets[axis], after = (first, stop) if step > 0 else (stop + 1, first + 1)
        sizes[axis] = after - offsets[axis]
        if sizes[axis] < 1:
            raise Unmapped("Slice that takes no element")
    windows = {"InputWindowOffsets": offsets, "InputWindowSizes": sizes, "InputWindowStrides": strides}
    return [Counterpart("SLICE1", {"InputTensor": x, "OutputTensor": node.output(), **windows})]


_PADDING = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "wrap": "WRAP"}


def _pad(node: OnnxNode) -> list[Counterpart]:
    start, end = _ends_of_padding(node)
    if min(*start, *end, 0) < 0:
        raise Unmapped("Pad that cuts elements off")
    return [_padded(node, node.input(0), start, end)]


def _pad_and_cut(node: OnnxNode) -> list[Counterpart]:
    """SLICE1 where a number is negative, and PADDING1 of the rest where one is positive."""
    x, output = node.input(0), node.output()
    start, end = _ends_of_padding(node)
    if min(*start, *end, 0) >= 0:
        return [_padded(node, x, start, end)]
    sizes = [size + min(first, 0) + min(last, 0) for size, first, last in zip(x.shape, start, end, strict=True)]
    if min(sizes, default=1) < 1:
        raise Unmapped("Pad that cuts off more elements than there are")
    offsets = [-min(first, 0) for first in start]
    if max(*start, *end, 0) == 0:
        return [window(x, output, offsets)]
    cut = x.like(sizes)
    added = ([max(number, 0) for number in numbers] for numbers in (start, end))
    return [window(x, cut, offsets), _padded(node, cut, *added)]


def _ends_of_padding(node: OnnxNode) -> tuple[list[int], list[int]]:
    """Return the numbers of elements that are added before and after each dimension, negative ones for cuts."""
    x = node.input(0)
    pads = node.numbers("pads", 1) or []
    axes = [axis_of(axis, x.ndim) for axis in node.numbers("axes", 3) or range(x.ndim)]
    if len(pads) != 2 * len(axes):
        raise Unmapped(f"Pad of {dimensions_text(len(axes))} whose pads are {pads}")
    start, end = [0] * x.ndim, [0] * x.ndim
    for index, axis in enumerate(axes):
        start[axis], end[axis] = pads[index], pads[index + len(axes)]
    return start, end


def _padded(node: OnnxNode, x: TensorRef, start: list[int], end: list[int]) -> Counterpart:
    mode = node.get("mode", "constant")
    if mode not in _PADDING:
        raise Unmapped(f"Pad of mode {mode}")
    given = node.known(2)
    value = node.get("value", 0) if given is None else given.reshape(-1)[0]
    fields = {"PaddingValueDataType": x.data_type, "PaddingValue": shortest(value, x.dtype)}
    ends = {"StartPadding": start, "EndPadding": end}
    tensors = {"InputTensor": x, "OutputTensor": node.output()}
    return Counterpart("PADDING1", {**tensors, "PaddingMode": _PADDING[mode], **fields, **ends})


def _tile(node: OnnxNode) -> list[Counterpart]:
    return [Counterpart("TILE", {**node.tensors(), "Repeats": node.numbers("repeats", 1)})]


def _blocks(operator: str, node: OnnxNode) -> list[Counterpart]:
    """DEPTH_TO_SPACE1 and, for the order that is the only one of older opsets, SPACE_TO_DEPTH."""
    orders = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}
    order, block = orders.get(node.get("mode", "DCR")), {"BlockSize": node.get("blocksize")}
    if operator == "SPACE_TO_DEPTH1" and order == "DEPTH_COLUMN_ROW":
        return [Counterpart("SPACE_TO_DEPTH", {**node.tensors(), **block})]
    return [Counterpart(operator, {**node.tensors(), **block, "Order": order})]


def _fold(node: OnnxNode) -> list[Counterpart]:
    block = node.numbers("block_shape", 2) or []
    count = len(block)
    pads = node.get("pads") or [0] * (2 * count)
    steps = {name: node.get(name.lower()) or [1] * count for name in ("Strides", "Dilations")}
    fields = {"WindowSizes": block, **steps, "StartPadding": pads[:count], "EndPadding": pads[count:]}
    return [Counterpart("FOLD", {**node.tensors(), **fields})]


# ---- copies


def _copy(node: OnnxNode) -> list[Counterpart]:
    return [Counterpart("ELEMENT_WISE_IDENTITY", node.tensors())]


def _of_same_bits(node: OnnxNode) -> list[Counterpart]:
    """Copy the bits of the elements, which are of the output's type on both sides."""
    x, output = node.input(0), node.output()
    if {x.data_type, output.data_type} & BYTES_OF.keys():
        raise Unmapped("BitCast of elements of less than a byte")
    return [Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x.bits(output.element), "OutputTensor": output})]


def _dropout(node: OnnxNode) -> list[Counterpart]:
    """Copy the input: outside training, and where nothing is dropped."""
    ratio, training = node.known(1), node.known(2)
    is_training = training is not None and bool(training.any())
    if node.opset < 7:
        is_training = not node.get("is_test", 0)
    if is_training and (ratio is None or ratio.any()):
        raise Unmapped("Dropout in training, which draws random numbers")
    note = "The mask is not compared." if node.gives(1) else None
    return [made._replace(note=note) for made in _copy(node)]


def _dropout_of_provider(node: OnnxNode) -> list[Counterpart]:
    """Copy the input: dropout is for training."""
    return [Counterpart("ACTIVATION_IDENTITY", node.tensors())]


def _centered(node: OnnxNode) -> list[Counterpart]:
    """SLICE1 where no axis is padded, PADDING1 where none is cut."""
    x, output = node.input(0), node.output()
    more = [new - old for old, new in zip(x.shape, output.shape, strict=True)]
    if min(more) < 0 < max(more):
        raise Unmapped("CenterCropPad that cuts and pads, which are two operators of DirectML")
    before = [abs(count) // 2 for count in more]
    tensors = {"InputTensor": x, "OutputTensor": output}
    if min(more) < 0:
        windows = {"InputWindowOffsets": before, "InputWindowSizes": list(output.shape)}
        return [Counterpart("SLICE1", {**tensors, **windows, "InputWindowStrides": [1] * x.ndim})]
    after = [count - start for count, start in zip(more, before, strict=True)]
    fields = {"PaddingMode": "CONSTANT", "PaddingValueDataType": x.data_type, "PaddingValue": 0}
    return [Counterpart("PADDING1", {**tensors, **fields, "StartPadding": before, "EndPadding": after})]


# ---- as the provider makes them


def _tile_of_provider(node: OnnxNode) -> list[Counterpart]:
    """TILE without the dimensions whose results have size 1."""
    x, output = node.input(0), node.output()
    repeats = node.numbers("repeats", 1) or []
    kept = [axis for axis, size in enumerate(output.shape) if size > 1] or list(range(x.ndim))[-1:]
    tensors = {
        "InputTensor": x.reshape([x.shape[axis] for axis in kept]),
        "OutputTensor": output.reshape([output.shape[axis] for axis in kept]),
    }
    return [Counterpart("TILE", {**tensors, "Repeats": [repeats[axis] for axis in kept]})]


def _slice_of_provider(node: OnnxNode) -> list[Counterpart]:
    """SLICE1, with as many axes as there are steps."""
    if node.has(4) and not node.has(3):
        raise RefusedNode(
            f"the DirectML provider refuses {node.type} with steps and without axes",
            "give the axes, which are 0, 1, ...",
        )
    made = _slice(node)
    check_sizes(node, _sizes_of_slice(node), "start from -2147483647, or from minus the size, and not from less")
    return made


_LEAST, _MOST = -(2**31), 2**31 - 1


def _sizes_of_slice(node: OnnxNode) -> list[int]:
    """Return the sizes that SliceHelper of OperatorHelper computes, of numbers that are cut off to 32 bits.

    From the least of these on, it takes a negative end as it is.
    """
    x = node.input(0)
    starts, ends = ([min(max(number, _LEAST), _MOST) for number in node.numbers(name, place) or []]
                    for name, place in (("starts", 1), ("ends", 2)))  # fmt: skip
    axes = node.numbers("axes", 3) or range(len(starts))
    steps = node.numbers("steps", 4) or [1] * len(starts)
    sizes = list(x.shape)
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = axis_of(given, x.ndim)
        size = x.shape[axis]
        first = start + size if _LEAST < start < 0 else start
        last = end + size if end < 0 and start > _LEAST else end
        if step < 0:
            first, last = min(last + 1, _MOST), min(first + 1, _MOST)
        sizes[axis] = -(-max(min(last, size) - max(first, 0), 0) // abs(step))
    return sizes


def _query_slice(node: OnnxNode) -> str | None:
    """DmlOperatorSlice.cpp, QuerySlice."""
    return not_taken(node, "of more than 5 inputs") if len(node.inputs) > 5 else None


def _deviation_of_pad(node: OnnxNode) -> str | None:
    """Return the known mistake of the provider where more is padded than there is, or None."""
    mode = node.get("mode", "constant")
    most = {"reflect": 1, "wrap": 0}.get(mode)
    if most is None:
        return None
    ends = zip(node.input(0).shape, *_ends_of_padding(node), strict=True)
    if all(max(numbers) <= size - most for size, *numbers in ends):
        return None
    return f"a Pad of mode {mode} with more elements than the dimension has gives other values than ONNX"


def _query_pad(node: OnnxNode) -> str | None:
    """DmlOperatorPadding.cpp, QueryPad."""
    return not_taken(node, "of negative pads") if any(pad < 0 for pad in node.get("pads", ())) else None


def _fold_of_provider(node: OnnxNode) -> list[Counterpart]:
    """FOLD with the same padding at both ends: the start's."""
    return [made.with_fields(EndPadding=made.fields["StartPadding"]) for made in _fold(node)]


def _refusal_of_reshape(node: OnnxNode) -> RefusedNode | None:
    """Return the refusal of a Reshape, or None.

    ReshapeHelper of OperatorHelper takes -1 with allowzero as it is. No provider makes more or fewer elements.
    """
    shape = node.optional(1)
    values = None if shape is None else shape.values
    if values is None:
        return None
    if not node.get("allowzero", 0) or -1 not in values:
        return _refusal_of_count(node, [int(size) for size in values.reshape(-1)])
    return RefusedNode(
        f"the DirectML provider takes -1 in the shape of {node.type} as 4294967295 if allowzero is 1, and refuses it",
        "set allowzero to 0, where no size of the shape is 0, or write the size in place of -1",
    )


def _refusal_of_count(node: OnnxNode, asked: list[int]) -> RefusedNode | None:
    """Return the refusal of a shape that has not as many elements as the input, None where it has or that is open."""
    x = node.optional(0)
    if x is None or min(asked, default=0) < -1 or asked.count(-1) > 1 or (0 in asked and len(asked) > x.ndim):
        return None
    kept = zip(asked, [*x.shape, *asked[x.ndim :]], strict=False)
    sizes = asked if node.get("allowzero", 0) else [own if size == 0 else size for size, own in kept]
    rest = math.prod(size for size in sizes if size != -1)
    if rest == x.size or (-1 in sizes and rest and x.size % rest == 0):
        return None
    return RefusedNode(
        f"no provider makes the sizes {asked} of the {x.size:,} elements of {list(x.shape)}",
        "the model may be made for other sizes: give these with --dim, or export it again with sizes that may change",
    )


_RESHAPED = Row(_reshape, is_sized_by_inputs=True)
OPERATORS: dict[str, Row] = {
    **dict.fromkeys(("Flatten", "Squeeze"), _RESHAPED),
    "BitCast": Row(exact=_of_same_bits),
    "CenterCropPad": Row(exact=_centered),
    "Col2Im": Row(_fold, provider=_fold_of_provider),
    "Concat": Row(_concat, leaves_out_empty=True),
    "ConcatFromSequence": Row(_concat_of_sequence),
    "DepthToSpace": Row(partial(_blocks, "DEPTH_TO_SPACE1")),
    "Dropout": Row(exact=_dropout, provider=_dropout_of_provider, outputs=None),
    "Expand": Row(lambda node: _identity(repeated(node.input(0), node.output().shape), node), may_be_empty=1),
    "OptionalGetElement": Row(exact=_copy, elsewhere=BY_SIZES),
    "Pad": Row(exact=_pad_and_cut, provider=_pad, query=_query_pad, deviation=_deviation_of_pad),
    "Reshape": _RESHAPED._replace(refusal=_refusal_of_reshape, may_be_empty=1),
    "Slice": Row(_slice, provider=_slice_of_provider, query=_query_slice),
    "SpaceToDepth": Row(partial(_blocks, "SPACE_TO_DEPTH1")),
    "Split": Row(_split, outputs=None),
    "Tile": Row(_tile, provider=_tile_of_provider),
    "Transpose": Row(_transpose),
    "Unsqueeze": _RESHAPED._replace(may_be_empty=1),
}
