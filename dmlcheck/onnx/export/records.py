"""A desc as an ONNX graph: plain records that need neither NumPy nor onnx."""

from __future__ import annotations

from typing import Any, NamedTuple

# ONNX's names of the element types that DirectML has too.
TYPES = {
    "FLOAT16": "FLOAT16",
    "FLOAT32": "FLOAT",
    "FLOAT64": "DOUBLE",
    "INT4": "INT4",
    "INT8": "INT8",
    "INT16": "INT16",
    "INT32": "INT32",
    "INT64": "INT64",
    "UINT4": "UINT4",
    "UINT8": "UINT8",
    "UINT16": "UINT16",
    "UINT32": "UINT32",
    "UINT64": "UINT64",
}


# The 8-bit types that have the numbers of the 4-bit ones.
BYTES_OF = {"INT4": "INT8", "UINT4": "UINT8"}


class Inexpressible(Exception):
    """A desc that ONNX cannot express exactly; the message says what ONNX lacks."""


class GraphValue(NamedTuple):
    """A value of a graph: its name, its data type in DirectML's name, and its shape.

    `element` is ONNX's own type where DirectML has none: BOOL.
    """

    name: str
    data_type: str
    sizes: tuple[int, ...]
    element: str | None = None

    @property
    def onnx_type(self) -> str:
        """ONNX's name of the type."""
        return self.element or TYPES[self.data_type]


class Initializer(NamedTuple):
    """A value that is part of the graph: its elements, flat."""

    value: GraphValue
    elements: tuple[float, ...]


class ExportedNode(NamedTuple):
    """One operator of a graph; "" stands for an input that is left out.

    A type may begin with its domain (`com.microsoft.QLinearAdd`). An attribute that is a data type is its ONNX name,
    one that is a tensor is a Constant.
    """

    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


class ExportedGraph(NamedTuple):
    """A desc as a graph of ONNX. `inputs` and `outputs` are named as the desc's tensors are in reports.

    `values` are those between its nodes.
    """

    operator: str
    opset: int
    nodes: tuple[ExportedNode, ...]
    inputs: tuple[GraphValue, ...]
    outputs: tuple[GraphValue, ...]
    constants: tuple[Initializer, ...]
    values: tuple[GraphValue, ...] = ()
