"""Elements named by indices, sorted or counted: gathers, scatters, ONE_HOT, TOP_K, NONZERO_COORDINATES."""

from __future__ import annotations

import math
from functools import partial

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import FLOATS, require_type


def indices(g: Builder, count: int | None = None) -> GraphValue:
    """Return IndicesTensor, or its last dimensions only, in a type that ONNX has for indices."""
    x = g.input("IndicesTensor")
    if count is not None:
        x = g.last_dimensions(x, count)
    return x if x.data_type in ("INT32", "INT64") else as_int64(g, x)


def as_int64(g: Builder, x: GraphValue) -> GraphValue:
    """Return indices as INT64; larger ones become its largest number, which is outside as well."""
    if x.data_type == "UINT64":
        x = g.node("Min", [x, g.scalar(2**63 - 1, "UINT64")], x.sizes, "UINT64")
    return g.cast(x, "INT64")


def gather(g: Builder, desc: OperatorDesc) -> None:
    """GATHER: the indices in their own number of dimensions."""
    x = g.input("InputTensor")
    axis = desc.values["Axis"]
    places = indices(g, desc.values["IndexDimensions"])
    sizes = (*x.sizes[:axis], *places.sizes, *x.sizes[axis + 1 :])
    g.output("OutputTensor", g.node("Gather", [x, places], sizes, x.data_type, axis=axis))


def gather_elements(g: Builder, desc: OperatorDesc) -> None:
    """GATHER_ELEMENTS."""
    x, places = g.input("InputTensor"), indices(g)
    made = g.node("GatherElements", [x, places], places.sizes, x.data_type, axis=desc.values["Axis"])
    g.output("OutputTensor", made)


def gather_nd(g: Builder, desc: OperatorDesc) -> None:
    """GATHER_ND and GATHER_ND1, which has batches."""
    batches = desc.values.get("BatchDimensionCount", 0)
    x = g.last_dimensions(g.input("InputTensor"), desc.values["InputDimensionCount"])
    places = _tuples(g, desc)
    sizes = (*places.sizes[:-1], *x.sizes[batches + places.sizes[-1] :])
    g.output("OutputTensor", g.node("GatherND", [x, places], sizes, x.data_type, batch_dims=batches or None))


def scatter(g: Builder, desc: OperatorDesc) -> None:
    """SCATTER."""
    x, places, updates = g.input("InputTensor"), indices(g), g.input("UpdatesTensor")
    made = g.node("ScatterElements", [x, places, updates], x.sizes, x.data_type, axis=desc.values["Axis"])
    g.output("OutputTensor", made)


def scatter_nd(g: Builder, desc: OperatorDesc) -> None:
    """SCATTER_ND: the updates have the sizes of the array of tuples, then of the slice that a tuple names."""
    x = g.last_dimensions(g.input("InputTensor"), desc.values["InputDimensionCount"])
    places = _tuples(g, desc)
    updates = g.reshape(g.input("UpdatesTensor"), (*places.sizes[:-1], *x.sizes[places.sizes[-1] :]))
    g.output("OutputTensor", g.node("ScatterND", [x, places, updates], x.sizes, x.data_type))


def _tuples(g: Builder, desc: OperatorDesc) -> GraphValue:
    """Return an array of index tuples; ONNX has them in INT64 only."""
    return as_int64(g, indices(g, desc.values["IndicesDimensionCount"]))


def max_unpooling(g: Builder, _: OperatorDesc) -> None:
    """MAX_UNPOOLING: a window from which the output's sizes follow; only the indices give the places of elements."""
    x = g.input("InputTensor")
    require_type("MaxUnpool", x, FLOATS)
    sizes = g.tensor("OutputTensor").sizes
    window = [large - small + 1 for small, large in zip(x.sizes[2:], sizes[2:], strict=True)]
    if sizes[:2] != x.sizes[:2] or min(window) < 1:
        raise Inexpressible("ONNX's MaxUnpool keeps batch and channels, and makes no dimension smaller")
    inputs = [x, g.cast(g.input("IndicesTensor"), "INT64")]
    g.output(
        "OutputTensor", g.node("MaxUnpool", inputs, sizes, x.data_type, kernel_shape=window, strides=[1] * len(window))
    )


def one_hot(g: Builder, desc: OperatorDesc) -> None:
    """ONE_HOT: without the indices' dimension of size 1; the first two elements of ValuesTensor are off and on."""
    axis = desc.values["Axis"]
    places, values = g.input("IndicesTensor"), g.input("ValuesTensor")
    depth = g.tensor("OutputTensor").sizes[axis]
    rows = as_int64(g, places)
    if len(rows.sizes) > 1:  # indices without dimensions are not among ONNX's
        rows = g.reshape(rows, (*rows.sizes[:axis], *rows.sizes[axis + 1 :]))
    count = math.prod(values.sizes)
    pair = g.reshape(values, (count,))
    if count > 2:
        pair = g.slice(pair, [0], [2], (2,), [0], [1])
    sizes = (*rows.sizes[:axis], depth, *rows.sizes[axis:])
    g.output(
        "OutputTensor", g.node("OneHot", [rows, g.scalar(depth, "INT64"), pair], sizes, values.data_type, axis=axis)
    )


def top_k(g: Builder, desc: OperatorDesc) -> None:
    """TOP_K and TOP_K1: of equal elements the lower index comes first in both."""
    x = g.input("InputTensor")
    sizes = g.tensor("OutputValueTensor").sizes
    values, places = g.nodes_of(
        "TopK",
        [x, g.constant([desc.values["K"]])],
        [(sizes, x.data_type, None), (sizes, "INT64", None)],
        axis=desc.values["Axis"],
        largest=int(desc.values.get("AxisDirection") != "INCREASING"),
        sorted=1,
    )
    g.output("OutputValueTensor", values)
    g.output("OutputIndexTensor", places)


def cumulative(type: str, opset: int, exclusive: str, g: Builder, desc: OperatorDesc) -> None:
    """CUMULATIVE_SUMMATION, and CUMULATIVE_PRODUCT, which came with opset 26."""
    g.at_least(opset)
    x = g.input("InputTensor")
    made = g.node(
        type,
        [x, g.scalar(desc.values["Axis"], "INT64")],
        x.sizes,
        x.data_type,
        exclusive=int(bool(desc.values[exclusive])),
        reverse=int(desc.values["AxisDirection"] == "DECREASING"),
    )
    g.output("OutputTensor", made)


def nonzero(g: Builder, _: OperatorDesc) -> None:
    """NONZERO_COORDINATES: NonZero gives a column for each element; rows are added up to the possible number."""
    x = g.input("InputTensor")
    rank, most = len(x.sizes), math.prod(x.sizes)
    wanted = g.tensor("OutputCoordinatesTensor").sizes[-1]
    zero = g.scalar(0, x.data_type)
    equal = g.node("Equal", [x, zero], x.sizes, x.data_type, "BOOL")
    mask = g.node("Not", [equal], x.sizes, x.data_type, "BOOL")
    counted = g.reshape(g.cast(mask, "INT64"), (most,))
    count = g.node("ReduceSum", [counted, g.constant([0])], (1,), "INT64", keepdims=1)
    columns = g.node("NonZero", [mask], (rank, most), "INT64")
    g.values.remove(columns)  # its second size is not known before it runs
    rest = g.node("Sub", [g.constant([most]), count], (1,), "INT64")
    pads = g.node("Concat", [g.constant([0, 0, 0]), rest], (4,), "INT64", axis=0)
    table = g.node("Pad", [columns, pads], (rank, most), "INT64", mode="constant")
    rows = g.transpose(table, (1, 0))
    if wanted < rank:
        rows = g.slice(rows, [rank - wanted], [rank], (most, wanted), [1], [1])
    g.output("OutputCountTensor", count)
    g.output("OutputCoordinatesTensor", rows)


MAPPINGS: dict[str, Maker] = {
    "CUMULATIVE_PRODUCT": partial(cumulative, "CumProd", 26, "HasExclusiveProduct"),
    "CUMULATIVE_SUMMATION": partial(cumulative, "CumSum", 17, "HasExclusiveSum"),
    "GATHER": gather,
    "GATHER_ELEMENTS": gather_elements,
    "GATHER_ND": gather_nd,
    "GATHER_ND1": gather_nd,
    "MAX_UNPOOLING": max_unpooling,
    "NONZERO_COORDINATES": nonzero,
    "ONE_HOT": one_hot,
    "SCATTER": scatter,
    "SCATTER_ND": scatter_nd,
    "TOP_K": top_k,
    "TOP_K1": top_k,
}
