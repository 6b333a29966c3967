"""Moving, repeating, gathering and scattering elements, and sums along an axis."""

from __future__ import annotations

from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Counterpart, Unmapped
from dmlcheck.onnx.descs.tensors import permuted, ranked, repeated, sized, vector

_MODES = {"constant": "CONSTANT", "edge": "EDGE", "reflection": "REFLECTION"}
_LEAST, _MOST = -(2**31), 2**31 - 1  # of a diagonal
_MOST_RANK = 4  # of DIAGONAL_MATRIX1


def _identity(x: TensorRef, output: TensorRef) -> Counterpart:
    return Counterpart("ELEMENT_WISE_IDENTITY", {"InputTensor": x, "OutputTensor": output})


def _with_dimensions(call: Call) -> TensorRef:
    """Return the input; Unmapped for a scalar: its lists are empty in WebNN, and cannot be in DirectML."""
    x = call.tensor("input")
    if not x.ndim:
        raise Unmapped(f"{call.name} of a scalar: DirectML's lists of numbers have at least one")
    return x


def _expand(call: Call) -> Counterpart:
    return _identity(repeated(call.tensor("input"), call.output.shape), call.output)


def _reshape(call: Call) -> Counterpart:
    return _identity(sized(call.tensor("input"), call.output.shape), call.output)


def _transpose(call: Call) -> Counterpart:
    x = call.tensor("input")
    return _identity(permuted(x, call.numbers("permutation", list(reversed(range(x.ndim))))), call.output)


def _concat(call: Call) -> Counterpart:
    axis = call.axis("axis", call.output.ndim)
    return Counterpart("JOIN", {"InputTensors": call.tensors("inputs"), "OutputTensor": call.output, "Axis": axis})


def _split(call: Call) -> Counterpart:
    x = call.tensor("input")
    axis = call.axis("axis", x.ndim, 0)
    return Counterpart("SPLIT", {"InputTensor": x, "OutputTensors": list(call.outputs), "Axis": axis})


def _slice(call: Call) -> Counterpart:
    x = _with_dimensions(call)
    fields = {
        "Offsets": call.numbers("starts"),
        "Sizes": list(call.output.shape),
        "Strides": call.numbers("strides", [1] * x.ndim),
    }
    return Counterpart("SLICE", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _reverse(call: Call) -> Counterpart:
    """SLICE1 whose strides are -1 along the axes."""
    x = _with_dimensions(call)
    axes = call.numbers("axes", list(range(x.ndim)))
    fields = {
        "InputWindowOffsets": [0] * x.ndim,
        "InputWindowSizes": list(x.shape),
        "InputWindowStrides": [-1 if axis in axes else 1 for axis in range(x.ndim)],
    }
    return Counterpart("SLICE1", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _pad(call: Call) -> Counterpart:
    x = _with_dimensions(call)
    fields = {
        "PaddingMode": call.choice("mode", _MODES, "constant"),
        "PaddingValue": call.number("value", 0),
        "StartPadding": call.numbers("beginningPadding"),
        "EndPadding": call.numbers("endingPadding"),
    }
    return Counterpart("PADDING", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _tile(call: Call) -> Counterpart:
    x = _with_dimensions(call)
    return Counterpart("TILE", {"InputTensor": x, "OutputTensor": call.output, "Repeats": call.numbers("repetitions")})


def _triangular(call: Call) -> Counterpart:
    """DIAGONAL_MATRIX1, which fills the diagonals that `triangular` removes."""
    x = call.tensor("input")
    if x.ndim > _MOST_RANK:
        raise Unmapped(f"triangular of {x.ndim} dimensions becomes several operators of DirectML, and a case has one")
    diagonal = call.whole("diagonal", 0)
    begin, end = (_LEAST, diagonal) if call.flag("upper", default=True) else (diagonal + 1, _MOST)
    fields = {"ValueDataType": x.data_type, "Value": 0, "DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    return Counterpart("DIAGONAL_MATRIX1", {"InputTensor": x, "OutputTensor": call.output, **fields})


def _cumulative_sum(call: Call) -> Counterpart:
    x = call.tensor("input")
    fields = {
        "Axis": call.axis("axis", x.ndim),
        "AxisDirection": "DECREASING" if call.flag("reversed") else "INCREASING",
        "HasExclusiveSum": call.flag("exclusive"),
    }
    return Counterpart("CUMULATIVE_SUMMATION", {"InputTensor": x, "OutputTensor": call.output, **fields})


# ---- by indices


def _gather(call: Call) -> Counterpart:
    """GATHER, whose tensors have one number of dimensions; a scalar index is one of one dimension."""
    x, indices, output = call.tensor("input"), vector(call.tensor("indices")), call.output
    axis = call.axis("axis", x.ndim, 0)
    if output.ndim < x.ndim:
        output = sized(output, [1 if i == axis else size for i, size in enumerate(x.shape)])
    rank = max(x.ndim, output.ndim)
    tensors = {
        "InputTensor": ranked(x, rank),
        "IndicesTensor": ranked(indices, rank),
        "OutputTensor": ranked(output, rank),
    }
    return Counterpart("GATHER", {**tensors, "Axis": axis + rank - x.ndim, "IndexDimensions": indices.ndim})


def _gather_elements(call: Call) -> Counterpart:
    x = call.tensor("input")
    tensors = {"InputTensor": x, "IndicesTensor": call.tensor("indices"), "OutputTensor": call.output}
    return Counterpart("GATHER_ELEMENTS", {**tensors, "Axis": call.axis("axis", x.ndim, 0)})


def _scatter_elements(call: Call) -> Counterpart:
    x = call.tensor("input")
    tensors = {"IndicesTensor": call.tensor("indices"), "UpdatesTensor": call.tensor("updates")}
    axis = call.axis("axis", x.ndim, 0)
    return Counterpart("SCATTER", {"InputTensor": x, **tensors, "OutputTensor": call.output, "Axis": axis})


def _by_places(operator: str, call: Call, names: dict[str, str]) -> Counterpart:
    """GATHER_ND or SCATTER_ND, whose tensors have leading dimensions of size 1 up to one rank."""
    tensors = {field: call.tensor(name) for field, name in names.items()} | {"OutputTensor": call.output}
    rank = max(x.ndim for x in tensors.values())
    counts = {
        "InputDimensionCount": tensors["InputTensor"].ndim,
        "IndicesDimensionCount": tensors["IndicesTensor"].ndim,
    }
    return Counterpart(operator, {**{field: ranked(x, rank) for field, x in tensors.items()}, **counts})


def _gather_nd(call: Call) -> Counterpart:
    return _by_places("GATHER_ND", call, {"InputTensor": "input", "IndicesTensor": "indices"})


def _scatter_nd(call: Call) -> Counterpart:
    names = {"InputTensor": "input", "IndicesTensor": "indices", "UpdatesTensor": "updates"}
    return _by_places("SCATTER_ND", call, names)


_BY_INDICES = ("input", "indices")
_UPDATED = ("input", "indices", "updates")
OPERATORS: dict[str, WebnnRow] = {
    "concat": WebnnRow(("inputs", "axis"), _concat, ("JOIN",)),
    "cumulativeSum": WebnnRow(("input", "axis"), _cumulative_sum, ("CUMULATIVE_SUMMATION",)),
    "expand": WebnnRow(("input", "newShape"), _expand, ("ELEMENT_WISE_IDENTITY",)),
    "gather": WebnnRow(_BY_INDICES, _gather, ("GATHER",)),
    "gatherElements": WebnnRow(_BY_INDICES, _gather_elements, ("GATHER_ELEMENTS",)),
    "gatherND": WebnnRow(_BY_INDICES, _gather_nd, ("GATHER_ND",)),
    "pad": WebnnRow(("input", "beginningPadding", "endingPadding"), _pad, ("PADDING",)),
    "reshape": WebnnRow(("input", "newShape"), _reshape, ("ELEMENT_WISE_IDENTITY",)),
    "reverse": WebnnRow(("input",), _reverse, ("SLICE1",)),
    "scatterElements": WebnnRow(_UPDATED, _scatter_elements, ("SCATTER",)),
    "scatterND": WebnnRow(_UPDATED, _scatter_nd, ("SCATTER_ND",)),
    "slice": WebnnRow(("input", "starts", "sizes"), _slice, ("SLICE",)),
    "split": WebnnRow(("input", "splits"), _split, ("SPLIT",)),
    "tile": WebnnRow(("input", "repetitions"), _tile, ("TILE",)),
    "transpose": WebnnRow(("input",), _transpose, ("ELEMENT_WISE_IDENTITY",)),
    "triangular": WebnnRow(("input",), _triangular, ("DIAGONAL_MATRIX1",)),
}
