"""The values of a model before it runs: their types, their sizes, and the numbers of constant ones.

Needs the package onnx.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.evaluator import evaluate_node
from dmlcheck.onnx.model.file import MOST_VALUES, elements
from dmlcheck.onnx.model.parts import whole_number
from dmlcheck.onnx.reading import ELEMENTS, KNOWN, element_type, tensor_of, valued

_COUNTABLE = 2**59  # elements: NumPy can hold the number of their bytes
_MOST_BYTES = 4096  # of a type: names of sizes have tens of characters, and tensors up to eight of them
_MOST_FOLLOWED = 100  # dimensions: more than any array has
_MOST_PARTS = 256  # tensors of a sequence that are followed
MOST_DIMENSIONS = 32  # that arrays of all versions of NumPy have
CONSTANT = "constant"
HOST = "host"
GIVEN = "given"
_OF_INDICES = ("INT32", "INT64")
_OF_SIZES = ("Shape", "Size")
_ARITHMETIC = frozenset(
    [
        "Abs",
        "Add",
        "And",
        "ArgMax",
        "ArgMin",
        "BitShift",
        "BitwiseAnd",
        "BitwiseNot",
        "BitwiseOr",
        "BitwiseXor",
        "Cast",
        "CastLike",
        "Ceil",
        "Clip",
        "Compress",
        "Concat",
        "ConstantOfShape",
        "CumSum",
        "Div",
        "Equal",
        "Exp",
        "Expand",
        "Flatten",
        "Floor",
        "Gather",
        "GatherElements",
        "GatherND",
        "Greater",
        "GreaterOrEqual",
        "Identity",
        "Less",
        "LessOrEqual",
        "Log",
        "Max",
        "Mean",
        "Min",
        "Mod",
        "Mul",
        "Neg",
        "NonZero",
        "Not",
        "Or",
        "Pad",
        "Pow",
        "Range",
        "Reciprocal",
        "ReduceL1",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceSum",
        "ReduceSumSquare",
        "Reshape",
        "Round",
        "ScatterElements",
        "ScatterND",
        "Shape",
        "Sign",
        "Size",
        "Slice",
        "Split",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Sum",
        "Tile",
        "Transpose",
        "Trilu",
        "Unsqueeze",
        "Where",
        "Xor",
    ]
)
_SELECTING = ("Compress", "NonZero")  # whose sizes are not inferred


class Value(NamedTuple):
    """A value: an onnx.TypeProto or None, its numbers if they are few and known, and its origin.

    `origin` is CONSTANT for values of the model, HOST for values on the CPU, and GIVEN for inputs of a graph. `parts`
    are the tensors of a sequence, None if they are not known. `root` is the place from where the sizes, or the numbers
    that sizes may follow from, are unknown.
    """

    type: Any
    numbers: Array | None = None
    origin: str = ""
    parts: tuple[Value, ...] | None = None
    root: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether the sizes of this value, or those that follow from its numbers, are unknown."""
        if not self.is_sized:
            return self.parts is None
        return self.numbers is None and self.element in _OF_INDICES and self.has_at_most(MOST_VALUES)

    @property
    def element(self) -> str:
        """ONNX's name of the type of the elements, "" if it is no tensor or not known."""
        is_tensor = self.type is not None and self.type.HasField("tensor_type")
        return element_type(self.type.tensor_type.elem_type) if is_tensor and self.type.tensor_type.elem_type else ""

    @property
    def sizes(self) -> tuple[int | str, ...] | None:
        """The sizes, with the names of symbolic ones in their places ("" for none); None if there are none."""
        if self.type is None or not self.type.tensor_type.HasField("shape"):
            return None
        return tuple(map(_size, self.type.tensor_type.shape.dim))

    @property
    def known(self) -> tuple[int, ...] | None:
        """The sizes where all are known, and an array can have them."""
        sizes = self.sizes
        if sizes is None or len(sizes) > MOST_DIMENSIONS:
            return None
        known = tuple([size for size in sizes if isinstance(size, int)])
        if len(known) < len(sizes) or math.prod([size or 1 for size in known]) >= _COUNTABLE:
            return None  # NumPy counts no size of 0
        return known

    @property
    def is_sized(self) -> bool:
        """Whether all sizes are known, and an array can have them."""
        return self.known is not None

    def has_at_most(self, most: int) -> bool:
        """Whether all sizes are known, and make no more elements than that."""
        known = self.known
        return known is not None and elements(known, most) <= most

    def tensor(self) -> TensorRef | None:
        """Return the value as a tensor, or None if DirectML does not have its type, or its sizes are not known."""
        known, element = self.known, self.element
        if known is None or element not in KNOWN:
            return None
        return TensorRef(ELEMENTS[element], known) if self.numbers is None else valued(self.numbers, element)


def _size(dim: Any) -> int | str:
    return int(dim.dim_value) if dim.HasField("dim_value") and dim.dim_value >= 0 else str(dim.dim_param)


def limited(type: Any) -> Any:
    """Return a type, without its sizes if they are many, since each value that is made of it may repeat them."""
    if type is None or (type.ByteSize() <= _MOST_BYTES and len(type.tensor_type.shape.dim) <= _MOST_FOLLOWED):
        return type
    from onnx import helper

    is_tensor = type.HasField("tensor_type")
    return helper.make_tensor_type_proto(type.tensor_type.elem_type, None) if is_tensor else None


def initial(tensor: Any) -> Value:
    """Return an initializer, or the value of a Constant."""
    from onnx import TensorProto, helper, numpy_helper

    of = limited(helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims)))
    kind = element_type(tensor.data_type)
    is_outside = tensor.data_location == TensorProto.EXTERNAL
    if kind not in KNOWN or elements(tensor.dims, MOST_VALUES) > MOST_VALUES or is_outside:
        return Value(of, None, CONSTANT)
    try:
        numbers = numpy_helper.to_array(tensor)
    except (ValueError, TypeError):  # not as many as the sizes say
        return Value(of, None, CONSTANT)
    return Value(of, numbers, CONSTANT)


def constant_value(node: Any) -> Value | None:
    """Return the value of a Constant, None of other nodes and of one that is wrong."""
    if node.op_type != "Constant" or node.domain or not node.output:
        return None
    try:
        given = tensor_of(node)
        return Value(None, None, CONSTANT) if given is None else initial(given)
    except (AttributeError, Unmapped, TypeError, ValueError):  # attributes of wrong types, which onnx tells
        return None


def of_numbers(numbers: Array) -> Value:
    """Return the value of numbers that were computed."""
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(numbers.dtype)
    return Value(helper.make_tensor_type_proto(kind, list(numbers.shape)), numbers)


def sequence_parts(node: Any, inputs: Sequence[Value]) -> tuple[Value, ...] | None:
    """Return the tensors of the sequence that a node makes; None if it makes none, or they are not known."""
    if node.op_type in ("SequenceConstruct", "SequenceEmpty"):
        return tuple(inputs) if len(inputs) <= _MOST_PARTS else None
    if node.op_type not in ("SequenceErase", "SequenceInsert") or not inputs or inputs[0].parts is None:
        return None
    parts, is_insert = list(inputs[0].parts), node.op_type == "SequenceInsert"
    place: int | None = len(parts) if is_insert else len(parts) - 1
    if len(inputs) > 1 + is_insert:
        numbers = inputs[1 + is_insert].numbers
        place = None if numbers is None or numbers.size != 1 else int(numbers.reshape(-1)[0])
    if place is None or not -len(parts) <= place < len(parts) + is_insert:
        return None
    parts[place : place if is_insert else place + 1 or None] = [inputs[1]] if is_insert else []
    return tuple(parts) if len(parts) <= _MOST_PARTS else None


def computed(node: Any, inputs: Sequence[Value], outputs: Sequence[Value], opsets: Mapping[str, int]) -> list[Array]:
    """Return the outputs of a node that computes few numbers from known ones, [] for all others."""
    if node.op_type not in _ARITHMETIC or node.domain:
        return []
    if node.op_type not in _SELECTING and not all(value.has_at_most(MOST_VALUES) for value in outputs):
        return []
    if node.op_type in _OF_SIZES and inputs and inputs[0].is_sized:
        sizes = np.array(inputs[0].sizes, np.int64)
        begin, end = (whole_number(node, name, default) for name, default in (("start", 0), ("end", None)))
        return [sizes[begin:end] if node.op_type == "Shape" else np.array(sizes.prod(), np.int64)]
    if not inputs or any(value.numbers is None for value in inputs):
        return []
    results = _evaluated(node, [value.numbers for value in inputs], opsets)
    return results if all(result.size <= MOST_VALUES for result in results) else []


def _evaluated(node: Any, inputs: Sequence[Any], opsets: Mapping[str, int]) -> list[Array]:
    """Return the outputs of a node of known inputs, without missing ones; [] if they stay unknown."""
    given = iter(inputs)
    try:
        return evaluate_node(node, [next(given) if name else None for name in node.input], opsets)
    except (Unmapped, MemoryError, StopIteration):
        return []
