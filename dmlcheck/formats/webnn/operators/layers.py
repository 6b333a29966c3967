"""Layers: normalization and quantization, products of matrices, reductions, recurrent networks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.formats.webnn.operators.windows import LAYOUTS
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped, axes_of, axis_of, shortest
from dmlcheck.onnx.descs.tensors import permuted, ranked, repeated, sized

_EPSILON = 1e-5
_RANK = 4  # that Chromium gives the tensors of QUANTIZE and DEQUANTIZE at least


def _along(x: TensorRef, rank: int, axes: Sequence[int]) -> TensorRef:
    """Return a tensor whose dimensions are some axes of another, in the order of these; all others have size 1."""
    if x.ndim != len(axes):
        raise Unmapped(f"a tensor of {x.ndim} dimensions stands for {len(axes)} axes")
    ordered = permuted(x, sorted(range(len(axes)), key=lambda place: axes[place]))
    sizes = dict(zip(sorted(axes), ordered.shape, strict=True))
    return sized(ordered, [sizes.get(axis, 1) for axis in range(rank)])


def _constant(value: float, like: TensorRef, rank: int) -> TensorRef:
    return TensorRef.of(np.full((1,) * rank, value, dtype=like.dtype), like.element)


def _batch(call: Call) -> Counterpart:
    x = call.tensor("input")
    axis = call.axis("axis", x.ndim, 1)
    tensors = {
        "InputTensor": x,
        "MeanTensor": _along(call.tensor("mean"), x.ndim, [axis]),
        "VarianceTensor": _along(call.tensor("variance"), x.ndim, [axis]),
    }
    for field, name, default in (("ScaleTensor", "scale", 1.0), ("BiasTensor", "bias", 0.0)):
        given = call.optional(name)
        tensors[field] = _constant(default, x, x.ndim) if given is None else _along(given, x.ndim, [axis])
    fields = {"Spatial": True, "Epsilon": shortest(call.number("epsilon", _EPSILON))}
    return Counterpart("BATCH_NORMALIZATION", {**tensors, "OutputTensor": call.output, **fields, **call.fused})


def _mean_variance(
    call: Call, x: TensorRef, output: TensorRef, axes: Sequence[int], along: Sequence[int]
) -> Counterpart:
    """MEAN_VARIANCE_NORMALIZATION1, which has a scale where it has a bias."""
    tensors = {"InputTensor": x, "OutputTensor": output}
    if call.has("scale") or call.has("bias"):
        for field, name, default in (("ScaleTensor", "scale", 1.0), ("BiasTensor", "bias", 0.0)):
            given = call.optional(name)
            tensors[field] = _constant(default, x, x.ndim) if given is None else _along(given, x.ndim, along)
    fields = {
        "Axes": list(axes),
        "NormalizeVariance": True,
        "Epsilon": shortest(call.number("epsilon", _EPSILON)),
    }
    return Counterpart("MEAN_VARIANCE_NORMALIZATION1", {**tensors, **fields, **call.fused})


def _instance(call: Call) -> Counterpart:
    order = call.choice("layout", LAYOUTS, "nchw")
    x, output = permuted(call.tensor("input"), order), permuted(call.output, order)
    return _mean_variance(call, x, output, [2, 3], [1])


def _layer(call: Call) -> Counterpart:
    x = call.tensor("input")
    axes = [axis_of(axis, x.ndim) for axis in call.numbers("axes", list(range(1, x.ndim)))]
    return _mean_variance(call, x, call.output, axes, axes)


def _quantize(call: Call) -> Counterpart:
    return _quantization("QUANTIZE", call)


def _dequantize(call: Call) -> Counterpart:
    return _quantization("DEQUANTIZE", call)


def _quantization(operator: str, call: Call) -> Counterpart:
    """QUANTIZE or DEQUANTIZE, whose scales and zero points may each be for a block of elements."""
    x = call.tensor("input")
    rank = max(_RANK, x.ndim)
    numbers = [ranked(call.tensor(name), rank) for name in ("scale", "zeroPoint")]
    return Counterpart(
        operator,
        {
            "InputTensor": ranked(x, rank),
            "QuantizationType": "SCALE_ZERO_POINT",
            "QuantizationTensors": numbers,
            "OutputTensor": ranked(call.output, rank),
        },
    )


_QUANTIZED = ("input", "scale", "zeroPoint")
_NORMALIZED = ("MEAN_VARIANCE_NORMALIZATION1",)


# ---- products of matrices, and reductions


_TRANSFORM = {False: "NONE", True: "TRANSPOSE"}


def _gemm(call: Call) -> Counterpart:
    c = call.optional("c")
    tensors = {"ATensor": call.tensor("a"), "BTensor": call.tensor("b"), "OutputTensor": call.output}
    if c is not None:
        tensors["CTensor"] = repeated(c, call.output.shape)
    fields = {
        "TransA": _TRANSFORM[call.flag("aTranspose")],
        "TransB": _TRANSFORM[call.flag("bTranspose")],
        "Alpha": shortest(call.number("alpha", 1.0)),
        "Beta": shortest(call.number("beta", 1.0)),
    }
    return Counterpart("GEMM", {**{field: ranked(x, _RANK) for field, x in tensors.items()}, **fields, **call.fused})


def _matmul(call: Call) -> Counterpart:
    """GEMM whose batches are repeated through strides; of more than four dimensions the first ones become one."""
    a, b, output = call.tensor("a"), call.tensor("b"), call.output
    if min(a.ndim, b.ndim) < 2:
        raise Unmapped("matmul of a tensor that is no matrix")
    batch = output.shape[:-2]
    tensors = {"ATensor": _batches(a, batch), "BTensor": _batches(b, batch), "OutputTensor": _flat(output)}
    transforms = {f"Trans{name.upper()}": _TRANSFORM[name in call.transposed] for name in ("a", "b")}
    return Counterpart("GEMM", {**tensors, **transforms, "Alpha": 1, "Beta": 0, **call.fused})


def _batches(x: TensorRef, batch: tuple[int, ...]) -> TensorRef:
    return _flat(repeated(x, (*batch, *x.shape[-2:])))


def _flat(x: TensorRef) -> TensorRef:
    """Return a tensor of four dimensions; a copy of one that is repeated where strides do not let them become one."""
    if x.ndim <= _RANK:
        return ranked(x, _RANK)
    last = x.shape[-3:]
    if x.strides is None:
        return x.reshape((-1, *last))
    batches = [(size, step) for size, step in zip(x.shape[:-3], x.strides[:-3], strict=True) if size != 1]
    if any(outer != size * inner for (_, outer), (size, inner) in pairwise(batches)):
        return x.packed().reshape((-1, *last))
    step = batches[-1][1] if batches else 0
    return x.view((math.prod(size for size, _ in batches), *last), (step, *x.strides[-3:]))


def _kept(x: TensorRef, output: TensorRef, axes: list[int]) -> TensorRef:
    """Return an output with the dimensions of its input, of size 1 along some axes."""
    return sized(output, [1 if axis in axes else size for axis, size in enumerate(x.shape)])


def _reduction(function: str, call: Call) -> Counterpart:
    x = call.tensor("input")
    axes = axes_of(call.numbers("axes", list(range(x.ndim))), x.ndim)
    tensors = {"InputTensor": x, "OutputTensor": _kept(x, call.output, axes)}
    return Counterpart("REDUCE", {**tensors, "Function": function, "Axes": axes})


def _extreme(operator: str, call: Call) -> Counterpart:
    x = call.tensor("input")
    axes = [call.axis("axis", x.ndim)]
    tensors = {"InputTensor": x, "OutputTensor": _kept(x, call.output, axes)}
    return Counterpart(operator, {**tensors, "Axes": axes, "AxisDirection": "INCREASING"})


_FUNCTIONS = {
    "reduceL1": "L1",
    "reduceL2": "L2",
    "reduceLogSum": "LOG_SUM",
    "reduceLogSumExp": "LOG_SUM_EXP",
    "reduceMax": "MAX",
    "reduceMean": "AVERAGE",
    "reduceMin": "MIN",
    "reduceProduct": "MULTIPLY",
    "reduceSum": "SUM",
    "reduceSumSquare": "SUM_SQUARE",
}


# ---- recurrent networks


_DIRECTIONS = {"forward": "FORWARD", "backward": "BACKWARD", "both": "BIDIRECTIONAL"}
_ACTIVATIONS = {"relu": "ACTIVATION_RELU", "sigmoid": "ACTIVATION_SIGMOID", "tanh": "ACTIVATION_TANH"}
# Where the gates of DirectML's order are in a layout: GRU has zrn and LSTM iofg.
_GRU_GATES: Mapping[str, Sequence[int]] = {"zrn": (0, 1, 2)}
_LSTM_GATES: Mapping[str, Sequence[int]] = {"iofg": (0, 1, 2, 3), "ifgo": (0, 3, 1, 2)}


def _gru(call: Call) -> Counterpart:
    tensors, gates = _tensors(call, _GRU_GATES, "zrn")
    fields = {**_fields(call, ["sigmoid", "tanh"]), "LinearBeforeReset": call.flag("resetAfter", default=True)}
    return Counterpart("GRU", {**tensors, **gates, **_outputs(call, ["OutputSingleTensor"]), **fields})


def _lstm(call: Call) -> Counterpart:
    tensors, gates = _tensors(call, _LSTM_GATES, "iofg")
    states = {"CellMemInitTensor": ("cellState", "initialCellState"), "PeepholeTensor": ("peepholeWeight",)}
    for field, names in states.items():
        given = _first(call, *names)
        if given is not None:
            tensors[field] = ranked(given, _RANK)
    fields = {
        **_fields(call, ["sigmoid", "tanh", "tanh"]),
        "ClipThreshold": 0,
        "UseClipThreshold": False,
        "CoupleInputForget": False,
    }
    outputs = _outputs(call, ["OutputSingleTensor", "OutputCellSingleTensor"])
    return Counterpart("LSTM", {**tensors, **gates, **outputs, **fields})


def _first(call: Call, *names: str) -> TensorRef | None:
    return next((call.tensor(name) for name in names if call.has(name)), None)


def _tensors(
    call: Call, layouts: Mapping[str, Sequence[int]], layout: str
) -> tuple[dict[str, TensorRef], dict[str, TensorRef]]:
    """Return the input and the hidden state, and the weights and biases with their gates in DirectML's order."""
    tensors = {"InputTensor": ranked(call.tensor("input"), _RANK)}
    hidden = _first(call, "hiddenState", "initialHiddenState")
    if hidden is not None:
        tensors["HiddenInitTensor"] = ranked(hidden, _RANK)
    order = call.choice("layout", layouts, layout)
    weights = {"WeightTensor": "weight", "RecurrenceTensor": "recurrentWeight"}
    gates = {field: ranked(_ordered(call.tensor(name), order, -2), _RANK) for field, name in weights.items()}
    bias = _bias(call, order)
    return tensors, gates if bias is None else {**gates, "BiasTensor": bias}


def _bias(call: Call, order: Sequence[int]) -> TensorRef | None:
    """Return the biases of the input and of the hidden state as one tensor, zeros for one that is left out."""
    given = [call.optional(name) for name in ("bias", "recurrentBias")]
    known = next((one for one in given if one is not None), None)
    if known is None:
        return None
    halves = [_values(_ordered(known.like(known.shape) if one is None else one, order, -1)) for one in given]
    joined = TensorRef.of(np.concatenate(halves, axis=-1), known.element)
    return ranked(joined, _RANK)


def _values(x: TensorRef) -> Array:
    """Return the values of a tensor, zeros where it has none."""
    return np.zeros(x.shape, dtype=x.dtype) if x.values is None else x.values


def _ordered(x: TensorRef, order: Sequence[int], axis: int) -> TensorRef:
    """Return a tensor whose parts along an axis, one for each gate, are in another order."""
    values = x.values
    if list(order) == sorted(order) or values is None:
        return x
    if x.shape[axis] % len(order):
        raise Unmapped(f"{x.shape[axis]} rows are not for {len(order)} gates")
    parts = np.split(values, len(order), axis=axis)
    return TensorRef.of(np.concatenate([parts[gate] for gate in order], axis=axis), x.element)


def _fields(call: Call, default: list[str]) -> dict[str, Any]:
    direction = call.choice("direction", _DIRECTIONS, "forward")
    names = call.given.get("activations") or default
    unknown = next((name for name in names if name not in _ACTIVATIONS), None)
    if unknown is not None or len(names) != len(default):
        raise Unmapped(f"Chromium's DirectML backend does not take these activations of {call.name}: {names}")
    activations = [{"Type": _ACTIVATIONS[name]} for name in names]
    return {"ActivationDescs": activations * (2 if direction == "BIDIRECTIONAL" else 1), "Direction": direction}


def _outputs(call: Call, fields: Sequence[str]) -> dict[str, TensorRef]:
    """Return the outputs: of the last step, and the sequence where it is asked for."""
    count, names = len(fields), [*fields, "OutputSequenceTensor"]
    if not count <= len(call.outputs) <= count + 1:
        raise Unmapped(f"{call.name} has {len(call.outputs)} outputs")
    # The sequence has four dimensions in WebNN too, and what a cell gives two.
    return {name: sized(x, (1,) * (_RANK - x.ndim) + x.shape) for name, x in zip(names, call.outputs, strict=False)}


_STATES = ("input", "weight", "recurrentWeight")

OPERATORS: dict[str, WebnnRow] = {
    "batchNormalization": WebnnRow(
        ("input", "mean", "variance"), _batch, ("BATCH_NORMALIZATION",), takes_activation=True
    ),
    "dequantizeLinear": WebnnRow(_QUANTIZED, _dequantize, ("DEQUANTIZE",), below=("ELEMENT_WISE_DEQUANTIZE_LINEAR",)),
    "instanceNormalization": WebnnRow(("input",), _instance, _NORMALIZED, takes_activation=True),
    "layerNormalization": WebnnRow(("input",), _layer, _NORMALIZED, takes_activation=True),
    "quantizeLinear": WebnnRow(_QUANTIZED, _quantize, ("QUANTIZE",), below=("ELEMENT_WISE_QUANTIZE_LINEAR",)),
    **{name: WebnnRow(("input",), partial(_reduction, function), ("REDUCE",)) for name, function in _FUNCTIONS.items()},
    "argMax": WebnnRow(("input", "axis"), partial(_extreme, "ARGMAX"), ("ARGMAX",)),
    "argMin": WebnnRow(("input", "axis"), partial(_extreme, "ARGMIN"), ("ARGMIN",)),
    "gemm": WebnnRow(("a", "b"), _gemm, ("GEMM",), takes_activation=True),
    "matmul": WebnnRow(("a", "b"), _matmul, ("GEMM",), takes_activation=True),
    "gru": WebnnRow((*_STATES, "steps", "hiddenSize"), _gru, ("GRU",)),
    "gruCell": WebnnRow((*_STATES, "hiddenState", "hiddenSize"), _gru, ("GRU",)),
    "lstm": WebnnRow((*_STATES, "steps", "hiddenSize"), _lstm, ("LSTM",)),
    "lstmCell": WebnnRow((*_STATES, "hiddenState", "cellState", "hiddenSize"), _lstm, ("LSTM",)),
}
