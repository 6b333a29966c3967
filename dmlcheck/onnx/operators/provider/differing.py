"""Nodes of which ONNX Runtime's DirectML provider makes another desc than the one that computes what ONNX says.

Most are the same with other sizes or numbers. The source is the class of each operator in DmlOperator*.cpp, and its
helper in OperatorHelper.cpp, as of ONNX Runtime 1.24.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Maker, Node, Refused, axis_of, number
from dmlcheck.onnx.descs.tensors import unsigned
from dmlcheck.onnx.operators.products_and_windows import window
from dmlcheck.onnx.operators.resampling import aligned
from dmlcheck.onnx.operators.shared import counterpart

_LEAST = 4  # dimensions


# ---- elements


def _clip(node: Node) -> Counterpart:
    """CLIP1 from opset 11 on, also where Min is above Max; the least number of INT64 is not among its limits."""
    if node.opset < 11:
        return counterpart(node)
    x = node.input(0)
    info: Any = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    given = node.known(1), node.known(2)
    ends = (info.min if x.dtype.kind == "f" else max(info.min, 1 - 2**63), info.max)
    least, most = (
        number(end if values is None else values.reshape(-1)[0], x.dtype)
        for values, end in zip(given, ends, strict=True)
    )
    return Counterpart(
        "ELEMENT_WISE_CLIP1", {**node.tensors(), "MinMaxDataType": x.data_type, "Min": least, "Max": most}
    )


def _infinity(node: Node) -> Counterpart:
    """IS_INFINITY, of either sign also where neither is asked for."""
    is_neither = not node.get("detect_negative", 1) and not node.get("detect_positive", 1)
    return counterpart(node.with_attributes(detect_negative=1, detect_positive=1) if is_neither else node)


def _norm(node: Node) -> Counterpart:
    """LP_NORMALIZATION with a small number that ONNX does not have."""
    return counterpart(node).with_fields(Epsilon=number(1e-5))


def _by_first_axis(node: Node) -> Counterpart:
    """QUANTIZE_LINEAR and DEQUANTIZE_LINEAR of onnxruntime's own, whose scales are along axis 0 by default."""
    return counterpart(node.with_attributes(axis=node.get("axis", 0)))


def _recurrent(node: Node) -> Counterpart:
    """RNN, GRU and LSTM: clip is for LSTM alone, and a softplus has no Steepness."""
    if "affine" in (name.lower() for name in node.get("activations") or []):
        raise Refused(f"{node.type} with the activation Affine, which the DirectML provider refuses")
    made = counterpart(node if node.type == "LSTM" else node.with_attributes(clip=None))
    activations = [{**each, "Steepness": 0} if "Steepness" in each else each for each in made.fields["ActivationDescs"]]
    return made.with_fields(ActivationDescs=activations)


# ---- elements that are found or moved


def _nonzero(node: Node) -> Counterpart:
    """NONZERO_COORDINATES whose rows lie as the columns of INT64 numbers; what copies them is made in the run."""
    made = counterpart(node)
    rows = made.fields["OutputCoordinatesTensor"]
    return made.with_fields(OutputCoordinatesTensor=rows.view(rows.shape, (2, 2 * rows.shape[0])))


def _top(node: Node) -> Counterpart:
    """TOP_K1, sorted also where any order would do; what sets the upper halves of the indices to 0 is left out."""
    return counterpart(node.with_attributes(sorted=1))


def _reversed(node: Node) -> Counterpart:
    """REVERSE_SUBSEQUENCES whose lengths have the input's sizes, but for the axis, without strides."""
    x, lengths = node.input(0), node.input(1)
    time = axis_of(node.get("time_axis", 0), x.ndim)
    sizes = [1 if axis == time else size for axis, size in enumerate(x.shape)]
    unsigned_lengths = lengths.bits(f"UINT{8 * lengths.dtype.itemsize}").view(sizes)
    tensors = {"InputTensor": x, "SequenceLengthsTensor": unsigned_lengths, "OutputTensor": node.output()}
    return Counterpart("REVERSE_SUBSEQUENCES", {**tensors, "Axis": time})


def _tile(node: Node) -> Counterpart:
    """TILE without the dimensions whose results have size 1."""
    x, output = node.input(0), node.output()
    repeats = node.numbers("repeats", 1) or []
    kept = [axis for axis, size in enumerate(output.shape) if size > 1] or list(range(x.ndim))[-1:]
    tensors = {
        "InputTensor": x.reshape([x.shape[axis] for axis in kept]),
        "OutputTensor": output.reshape([output.shape[axis] for axis in kept]),
    }
    return Counterpart("TILE", {**tensors, "Repeats": [repeats[axis] for axis in kept]})


def _slice(node: Node) -> Counterpart:
    """SLICE1, with as many axes as there are steps."""
    if node.has(4) and not node.has(3):
        raise Refused(f"{node.type} with steps and without axes, which the DirectML provider refuses")
    return counterpart(node)


def _fold(node: Node) -> Counterpart:
    """FOLD whose padding is the same at both ends: that of the start."""
    made = counterpart(node)
    return made.with_fields(EndPadding=made.fields["StartPadding"])


# ---- normalizations


def _instances(node: Node) -> Counterpart:
    return _ending_in_ones(counterpart(node))


def _ending_in_ones(made: Counterpart) -> Counterpart:
    """Return a normalization of the last axes with four dimensions: new ones come last, and are among the axes."""
    axes = made.fields["Axes"]
    given = {name: value for name, value in made.fields.items() if isinstance(value, TensorRef)}
    wider = {name: value.reshape(*value.shape, *(1,) * (_LEAST - value.ndim)) for name, value in given.items()}
    return made.with_fields(**wider, Axes=list(range(axes[0], wider["InputTensor"].ndim)))


def layer(node: Node) -> list[Counterpart]:
    """MEAN_VARIANCE_NORMALIZATION2 in FLOAT32 where the input and its factors have different types."""
    made = _ending_in_ones(counterpart(node))
    names = [name for name in ("InputTensor", "ScaleTensor", "BiasTensor") if name in made.fields]
    given: Mapping[str, TensorRef] = {name: made.fields[name] for name in (*names, "OutputTensor")}
    if len({given[name].dtype for name in names}) == 1:
        return [made]
    wide = {name: x if x.element == "FLOAT32" else x.like(x.shape, "FLOAT32") for name, x in given.items()}
    casts = {
        name: _cast(*((given[name], wide[name]) if name in names else (wide[name], given[name])))
        for name in given
        if given[name] is not wide[name]
    }
    last = [casts.pop("OutputTensor")] if "OutputTensor" in casts else []
    return [*casts.values(), made.with_fields(**wide), *last]


def _cast(x: TensorRef, output: TensorRef) -> Counterpart:
    return Counterpart("CAST", {"InputTensor": x, "OutputTensor": output})


# ---- windows


_ENDS = ("Strides", "Dilations", "StartPadding", "EndPadding")


def _pool(node: Node) -> Counterpart:
    """Pooling whose sizes are rounded up also where the last window begins in the padding."""
    if not node.get("ceil_mode", 0):
        return counterpart(node)
    x, sizes = node.input(0), list(node.get("kernel_shape"))
    ends = window(node, x, sizes)
    reached = [
        -(-(size + first + last - (width - 1) * gap - 1) // step) + 1
        for size, width, step, gap, first, last in _by_dimension(x, sizes, *(ends[name] for name in _ENDS))
    ]
    outputs = (None if each is None else each.view((*x.shape[:2], *reached)) for each in node.outputs)
    return counterpart(node._replace(outputs=tuple(outputs)))


def _by_dimension(x: TensorRef, *numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return zip(x.shape[2:], *numbers, strict=True)


def _transposed_convolution(node: Node) -> Counterpart:
    """CONVOLUTION whose padding is that of a forward one, or follows from output_shape alone, and no OutputPadding."""
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
            for count, width, step, gap, first, last, more in _by_dimension(
                x, widths, *(ends[name] for name in _ENDS), added
            )
        ]
    output = node.output().view((*node.output().shape[:2], *sizes))
    plain = node.with_attributes(output_shape=None, output_padding=None, auto_pad="NOTSET", pads=pads)
    return counterpart(plain._replace(outputs=(output,)))


def _for_sizes(node: Node, sizes: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Return the padding for sizes of the output, as if the filter were not dilated."""
    x, widths = node.input(0), node.input(1).shape[2:]
    totals = [
        max(0, (count - 1) * step + width - size)
        for count, width, size, step in _by_dimension(x, widths, sizes, strides)
    ]
    start = [total // 2 if node.get("auto_pad") == "SAME_UPPER" else (total + 1) // 2 for total in totals]
    return [*start, *(total - first for total, first in zip(totals, start, strict=True))]


def _unpool(node: Node) -> Counterpart:
    """MAX_UNPOOLING wherever the indices count."""
    tensors = {"InputTensor": node.input(0), "IndicesTensor": unsigned(node.input(1)), "OutputTensor": node.output()}
    return Counterpart("MAX_UNPOOLING", tensors)


def _regions(node: Node) -> Counterpart:
    """ROI_ALIGN1, by half pixels also before the opset that has them, of averages or maxima."""
    return aligned(node, node.get("coordinate_transformation_mode", "half_pixel"))


OPERATORS: dict[str, Maker] = {
    "AveragePool": _pool,
    "Clip": _clip,
    "Col2Im": _fold,
    "ConvTranspose": _transposed_convolution,
    "GRU": _recurrent,
    "InstanceNormalization": _instances,
    "IsInf": _infinity,
    "LSTM": _recurrent,
    "LpNormalization": _norm,
    "LpPool": _pool,
    "MaxPool": _pool,
    "MaxUnpool": _unpool,
    "NonZero": _nonzero,
    "RNN": _recurrent,
    "ReverseSequence": _reversed,
    "RoiAlign": _regions,
    "Slice": _slice,
    "Tile": _tile,
    "TopK": _top,
    "com.microsoft.DequantizeLinear": _by_first_axis,
    "com.microsoft.QuantizeLinear": _by_first_axis,
}
