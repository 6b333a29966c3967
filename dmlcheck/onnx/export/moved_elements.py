"""Moved elements: parts and whole tensors, windows, padding, blocks, repeated and reversed tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue
from dmlcheck.onnx.export.representable import as_element, as_float32, positive, require_few_indices


def join(g: Builder, desc: OperatorDesc) -> None:
    """JOIN: Concat."""
    parts = [g.input(part.label) for part in desc.parts["InputTensors"]]
    axis = desc.values["Axis"]
    first = parts[0]
    sizes = (*first.sizes[:axis], sum(part.sizes[axis] for part in parts), *first.sizes[axis + 1 :])
    g.output("OutputTensor", g.node("Concat", parts, sizes, first.data_type, axis=axis))


def split(g: Builder, desc: OperatorDesc) -> None:
    """SPLIT: the lengths of the parts are an input."""
    x = g.input("InputTensor")
    axis = desc.values["Axis"]
    parts = desc.parts["OutputTensors"]
    lengths = g.constant([part.tensor.sizes[axis] for part in parts])
    outputs: list[tuple[Sequence[int], str, str | None]] = [(part.tensor.sizes, x.data_type, None) for part in parts]
    for part, value in zip(parts, g.nodes_of("Split", [x, lengths], outputs, axis=axis), strict=True):
        g.output(part.label, value)


def slice_window(g: Builder, desc: OperatorDesc) -> None:
    """SLICE: a step of 0 repeats one element, which takes a Gather."""
    x = g.input("InputTensor")
    starts, counts, steps = (list(desc.values[name]) for name in ("Offsets", "Sizes", "Strides"))
    for axis, step in enumerate(steps):
        if step == 0:
            require_few_indices(counts[axis])
            x = g.gather(x, axis, [starts[axis]] * counts[axis])
            starts[axis], steps[axis] = 0, 1
    g.output("OutputTensor", sliced(g, x, starts, counts, steps))


def slice_signed(g: Builder, desc: OperatorDesc) -> None:
    """SLICE1: a negative step starts at the window's end."""
    steps = desc.values["InputWindowStrides"]
    counts = g.tensor("OutputTensor").sizes
    g.output("OutputTensor", sliced(g, g.input("InputTensor"), _window_starts(desc), counts, steps))


def sliced(g: Builder, x: GraphValue, starts: Sequence[int], counts: Sequence[int], steps: Sequence[int]) -> GraphValue:
    """Return a number of elements of each dimension; the end of a backward slice may be below all indices."""
    ends = []
    for start, count, step, size in zip(starts, counts, steps, x.sizes, strict=True):
        end = start + (count - 1) * step + (1 if step > 0 else -1)
        ends.append(end if end >= 0 else -size - 1)
    return g.slice(x, starts, ends, counts, range(len(x.sizes)), steps)


def _window_starts(desc: OperatorDesc) -> list[int]:
    window = zip(*(desc.values[f"InputWindow{name}"] for name in ("Offsets", "Sizes", "Strides")), strict=True)
    return [offset + (size - 1 if step < 0 else 0) for offset, size, step in window]


def slice_grad(g: Builder, desc: OperatorDesc) -> None:
    """SLICE_GRAD: along each axis, places that nothing was taken from have the 0 that is added at its end."""
    x = g.input("InputGradientTensor")
    sizes = g.tensor("OutputGradientTensor").sizes
    steps = desc.values["InputWindowStrides"]
    for axis, start in enumerate(_window_starts(desc)):
        count = x.sizes[axis]
        require_few_indices(sizes[axis])
        origin = [count] * sizes[axis]
        for index in range(count):
            origin[start + index * steps[axis]] = index
        if count in origin:
            x = g.pad(x, [0] * len(sizes), [int(each == axis) for each in range(len(sizes))])
        x = g.gather(x, axis, origin)
    g.output("OutputGradientTensor", x)


# Where an element that is added by a mode is from: the place of an element of the result, and the size of the axis.
_ORIGINS: dict[str, Callable[[int, int], int]] = {
    "EDGE": lambda place, size: min(max(place, 0), size - 1),
    "REFLECTION": lambda place, size: _folded(place, size, max(size - 1, 1), 0),
    "SYMMETRIC": lambda place, size: _folded(place, size, size, 1),
    "WRAP": lambda place, size: place % size,
}

# ONNX's mode, its opset, and by how many elements of the axis it may add at an end: all it says how to fold.
_PAD_MODES: dict[str, tuple[str, int, Callable[[int], float]]] = {
    "EDGE": ("edge", 13, lambda size: math.inf),  # noqa: ARG005
    "REFLECTION": ("reflect", 13, lambda size: size - 1),
    "WRAP": ("wrap", 19, lambda size: size),
}


def padding(g: Builder, desc: OperatorDesc) -> None:
    """Map PADDING and PADDING1: Pad where it has the mode; otherwise elements by constant indices."""
    x = g.input("InputTensor")
    mode, before, after = (desc.values[name] for name in ("PaddingMode", "StartPadding", "EndPadding"))
    if mode == "CONSTANT":
        value = desc.values["PaddingValue"]
        if "PaddingValueDataType" not in desc.values:
            value = as_float32(value)
        fill = g.scalar(as_element(value, x.data_type), x.data_type)
        g.output("OutputTensor", g.pad(x, before, after, fill))
        return
    name, opset, most = _PAD_MODES.get(mode, ("", 0, lambda size: -1))  # noqa: ARG005
    if all(max(low, high) <= most(size) for low, high, size in zip(before, after, x.sizes, strict=True)):
        g.at_least(opset)
        g.output("OutputTensor", g.pad(x, before, after, mode=name))
        return
    for axis, (low, high) in enumerate(zip(before, after, strict=True)):
        size = x.sizes[axis]
        require_few_indices(low + size + high)
        x = g.gather(x, axis, [_ORIGINS[mode](place, size) for place in range(-low, size + high)])
    g.output("OutputTensor", x)


def _folded(place: int, size: int, half: int, repeats: int) -> int:
    """Return the element at a place where the axis runs to and fro; with `repeats` its end elements come twice."""
    place %= 2 * half
    return min(place if place < size else 2 * half - place - repeats, size - 1)


def tile(g: Builder, desc: OperatorDesc) -> None:
    """TILE."""
    x = g.input("InputTensor")
    repeats = desc.values["Repeats"]
    sizes = [size * count for size, count in zip(x.sizes, repeats, strict=True)]
    g.output("OutputTensor", g.node("Tile", [x, g.constant(repeats)], sizes, x.data_type))


def space_to_depth(g: Builder, desc: OperatorDesc) -> None:
    """SPACE_TO_DEPTH and SPACE_TO_DEPTH1: ONNX has the order of blocks first only."""
    x = g.input("InputTensor")
    batch, channels, height, width = x.sizes
    block = desc.values["BlockSize"]
    sizes = (batch, channels * block * block, height // block, width // block)
    if desc.values.get("Order") == "COLUMN_ROW_DEPTH":
        apart = g.reshape(x, (batch, channels, height // block, block, width // block, block))
        g.output("OutputTensor", g.transpose(apart, (0, 1, 3, 5, 2, 4)))
        return
    g.output("OutputTensor", g.node("SpaceToDepth", [x], sizes, x.data_type, blocksize=block))


def depth_to_space(g: Builder, desc: OperatorDesc) -> None:
    """DEPTH_TO_SPACE and DEPTH_TO_SPACE1."""
    x = g.input("InputTensor")
    batch, channels, height, width = x.sizes
    block = desc.values["BlockSize"]
    sizes = (batch, channels // (block * block), height * block, width * block)
    mode = "CRD" if desc.values.get("Order") == "COLUMN_ROW_DEPTH" else "DCR"
    g.output("OutputTensor", g.node("DepthToSpace", [x], sizes, x.data_type, blocksize=block, mode=mode))


def reverse_subsequences(g: Builder, desc: OperatorDesc) -> None:
    """REVERSE_SUBSEQUENCES: ONNX has one length for each row of a matrix, and none above their number of columns."""
    x = g.input("InputTensor")
    lengths = g.input("SequenceLengthsTensor")
    axis = desc.values["Axis"]
    size = x.sizes[axis]
    order = [*(each for each in range(len(x.sizes)) if each != axis), axis]
    moved = g.transpose(x, order)
    rows = math.prod(moved.sizes[:-1])
    most = g.scalar(size, lengths.data_type)
    counts = g.cast(g.node("Min", [lengths, most], lengths.sizes, lengths.data_type), "INT64")
    inputs = [g.reshape(moved, (rows, size)), g.reshape(g.transpose(counts, order), (rows,))]
    reversed_rows = g.node("ReverseSequence", inputs, (rows, size), x.data_type, batch_axis=0, time_axis=1)
    back = g.reshape(reversed_rows, moved.sizes)
    g.output("OutputTensor", g.transpose(back, [order.index(each) for each in range(len(order))]))


def fold(g: Builder, desc: OperatorDesc) -> None:
    """FOLD: Col2Im, new in opset 18."""
    g.at_least(18)
    x = g.input("InputTensor")
    output = g.tensor("OutputTensor")
    inputs = [x, g.constant(output.sizes[2:]), g.constant(desc.values["WindowSizes"])]
    folded = g.node(
        "Col2Im",
        inputs,
        output.sizes,
        x.data_type,
        dilations=positive(desc, "Dilations"),
        pads=[*desc.values["StartPadding"], *desc.values["EndPadding"]],
        strides=list(desc.values["Strides"]),
    )
    g.output("OutputTensor", folded)


def unfold(g: Builder, desc: OperatorDesc) -> None:
    """UNFOLD: ONNX has no Im2Col; every element of every window is taken from the padded input by its index."""
    x = g.input("InputTensor")
    before, after, window, steps, gaps = (
        list(desc.values[name]) for name in ("StartPadding", "EndPadding", "WindowSizes", "Strides", "Dilations")
    )
    x = g.pad(x, [0, 0, *before], [0, 0, *after])
    spatial = x.sizes[2:]
    dimensions = list(zip(spatial, window, steps, gaps, strict=True))
    blocks = [(size - gap * (reach - 1) - 1) // step + 1 for size, reach, step, gap in dimensions]
    require_few_indices(math.prod(window) * math.prod(blocks))
    pitches = [math.prod(spatial[axis + 1 :]) for axis in range(len(spatial))]
    indices = [
        sum(
            (b * step + w * gap) * pitch
            for b, w, step, gap, pitch in zip(block, place, steps, gaps, pitches, strict=True)
        )
        for place in itertools.product(*map(range, window))
        for block in itertools.product(*map(range, blocks))
    ]
    g.output("OutputTensor", g.gather(g.reshape(x, (*x.sizes[:2], math.prod(spatial))), 2, indices))


MAPPINGS: dict[str, Maker] = {
    "DEPTH_TO_SPACE": depth_to_space,
    "DEPTH_TO_SPACE1": depth_to_space,
    "FOLD": fold,
    "JOIN": join,
    "PADDING": padding,
    "PADDING1": padding,
    "REVERSE_SUBSEQUENCES": reverse_subsequences,
    "SLICE": slice_window,
    "SLICE1": slice_signed,
    "SLICE_GRAD": slice_grad,
    "SPACE_TO_DEPTH": space_to_depth,
    "SPACE_TO_DEPTH1": space_to_depth,
    "SPLIT": split,
    "TILE": tile,
    "UNFOLD": unfold,
}
