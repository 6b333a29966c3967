"""A DirectML graph read from its file, in time and memory proportional to the file's size.

The tables come from microsoft/DirectML, DmlGraphDesc_generated.h and OperatorFieldTypes_generated.h of DxDispatch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import visible
from dmlcheck.files.plain import TooLarge, read_plain, reason
from dmlcheck.formats.dml_graph.flatbuffer import FlatBuffer, FlatTable, Malformed
from dmlcheck.formats.dml_graph.records import Attribute, FileConstant, FileNode, Operator, Stored, Tensor

MOST_BYTES = 512 * 2**20  # of a file; large constants have files of their own
MOST_NODES = 50_000
_HELP = "fetch the file again, or let ONNX Runtime write it again"


def read_stored(path: str) -> Stored | Diagnostic:
    """Return the graph of a file, or the findings about the file."""
    name = path.replace(os.sep, "/")
    try:
        return _graph(FlatBuffer(read_plain(path, MOST_BYTES)).root())
    except TooLarge as error:
        return Diagnostic("file-too-large", f"the file {error}", file=name)
    except Malformed as error:
        text = visible(f"the file is no DirectML graph: {error}")
        return Diagnostic("graph-syntax", text, file=name, help=_HELP)
    except (OSError, ValueError) as error:
        return Diagnostic("file-not-found", reason(error), file=name)


def _graph(root: FlatTable) -> Stored:
    inputs, outputs = _strings(root, 1), _strings(root, 2)
    nodes = root.each(0, partial(_node, root.buffer))
    if not nodes:
        raise Malformed("it has no nodes")
    return Stored(nodes, inputs, outputs)


def _strings(table: FlatTable, number: int) -> tuple[str, ...]:
    return table.each(number, lambda _, place: table.buffer.string(place))


def _node(buffer: FlatBuffer, index: int, place: int) -> FileNode:
    if index >= MOST_NODES:
        raise Malformed(f"it has more than {MOST_NODES:,} nodes, and dmlcheck reads no more")
    try:
        return _node_of(buffer.table(place))
    except Malformed as error:
        raise Malformed(f"nodes[{index}]: {error}") from None


def _node_of(table: FlatTable) -> FileNode:
    name = table.string(2)
    if not name:
        raise Malformed("it has no name")
    return FileNode(name, _desc(table), _strings(table, 3), _strings(table, 4))


def _desc(table: FlatTable) -> Operator | FileConstant:
    kind, desc = table.number(0, "<B"), table.table(1)
    if kind not in (1, 2) or desc is None:
        raise Malformed("it is neither an operator nor a constant")
    return _operator(desc) if kind == 1 else _constant(desc)


def _constant(table: FlatTable) -> FileConstant:
    kind, data = table.number(0, "<B"), table.table(1)
    if kind == 1 and data is not None and (file := data.string(0)):
        return FileConstant(file)
    if kind == 2 and data is not None and (found := data.bytes(0)):
        return FileConstant(data=found)
    raise Malformed("it is a constant without data and without a name of its data")


def _operator(table: FlatTable) -> Operator:
    def tensor(_: int, place: int) -> Tensor:
        return _tensor(table.buffer.table(place))

    return Operator(table.string(0), table.each(1, tensor), table.each(2, tensor), _attributes(table, 3, _VALUES))


def _tensor(table: FlatTable) -> Tensor:
    sizes, strides = table.numbers(1, "I"), table.numbers(2, "I")
    total = table.number(3, "<Q")
    return Tensor(table.string(0), _whole(sizes or ()), None if strides is None else _whole(strides), total)


def _whole(numbers: tuple[int | float, ...]) -> tuple[int, ...]:
    return tuple(map(int, numbers))


# ---- attributes

_Read = Callable[[FlatTable], Any]
_Kinds = dict[int, tuple[str, _Read]]


def _attributes(table: FlatTable, number: int, kinds: _Kinds) -> tuple[Attribute, ...]:
    return table.each(number, lambda index, place: _attribute(table.buffer.table(place), index, kinds))


def _attribute(table: FlatTable, index: int, kinds: _Kinds) -> Attribute:
    kind = table.number(1, "<B")
    if kind == 0:
        return Attribute("nothing")
    if kind not in kinds:
        raise Malformed(f"the type of attributes[{index}] is {kind}, which no attribute there has")
    name, read = kinds[kind]
    return Attribute(name, read(table))


def _activation(table: FlatTable) -> Operator | None:
    found = table.table(2)
    return None if found is None else _inner(found)


def _activations(table: FlatTable) -> tuple[Operator, ...] | None:
    found = table.table(2)
    return None if found is None else found.each(0, lambda _, place: _inner(table.buffer.table(place)))


def _inner(table: FlatTable) -> Operator:
    """Read an activation, which has no tensors and, of DirectML's, no activation of its own."""
    return Operator(table.string(0), attributes=_attributes(table, 1, _PLAIN))


def _struct(form: str) -> _Read:
    def read(table: FlatTable) -> Any:
        found = table.structure(2, form)
        return found[0] if found is not None and len(found) == 1 else found

    return read


def _array(letter: str) -> _Read:
    def read(table: FlatTable) -> Any:
        found = table.table(2)
        return None if found is None else found.numbers(0, letter) or ()

    return read


def _union(table: FlatTable) -> Any:
    """Read the bytes of a scalar union: of the schema's forms, the only one in use."""
    found = table.table(2)
    if found is None:
        return None
    kind, data = found.number(0, "<B"), found.structure(1, "<8B")
    if kind != 1 or data is None:
        raise Malformed(f"a scalar union is of type {kind}, not the bytes that ONNX Runtime writes")
    return bytes(map(int, data))


_PLAIN: _Kinds = {
    3: ("UInt32", _struct("<I")),
    4: ("UInt64", _struct("<Q")),
    5: ("Int32", _struct("<i")),
    6: ("Float32", _struct("<f")),
    7: ("UIntArray", _array("I")),
    8: ("IntArray", _array("i")),
    9: ("FloatArray", _array("f")),
    10: ("ScaleBias", _struct("<ff")),
    11: ("Size2D", _struct("<II")),
    12: ("ScalarUnionData", _union),
    13: ("Bool", _struct("<?")),
}
_VALUES: _Kinds = {1: ("Activation", _activation), 2: ("ActivationArray", _activations), **_PLAIN}
