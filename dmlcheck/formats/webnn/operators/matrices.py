"""Products of matrices, reductions and the search for the least and the greatest element."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped, axes_of, shortest
from dmlcheck.onnx.descs.tensors import ranked, repeated, sized

_RANK = 4  # that Chromium gives the tensors of GEMM
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
OPERATORS: dict[str, WebnnRow] = {
    **{name: WebnnRow(("input",), partial(_reduction, function), ("REDUCE",)) for name, function in _FUNCTIONS.items()},
    "argMax": WebnnRow(("input", "axis"), partial(_extreme, "ARGMAX"), ("ARGMAX",)),
    "argMin": WebnnRow(("input", "axis"), partial(_extreme, "ARGMIN"), ("ARGMIN",)),
    "gemm": WebnnRow(("a", "b"), _gemm, ("GEMM",), takes_activation=True),
    "matmul": WebnnRow(("a", "b"), _matmul, ("GEMM",), takes_activation=True),
}
