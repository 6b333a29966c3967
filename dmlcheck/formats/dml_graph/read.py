"""A DirectML graph read from its file, in time and memory proportional to the file's size.

The tables come from microsoft/DirectML, DmlGraphDesc_generated.h and OperatorFieldTypes_generated.h of DxDispatch.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import visible
from dmlcheck.files.plain import TooLarge, read_plain, reason

# ---- the FlatBuffers of a file
#
# A table begins with the distance back to its vtable: its size, the table's size, and a place in the table for each
# field (0: left out). Offsets to tables, strings and vectors are counted from where they stand. All numbers are
# little-endian. Every offset is checked.


T = TypeVar("T")

_MOST_READ = 32 * 2**20  # bytes of tables, strings and lists; elements take ten times that in memory
_TIMES = 4  # times that the bytes of a file may be read: in a hostile file all tables may be the same one


class Malformed(ValueError):
    """The bytes are not a FlatBuffer of this form; the message is the beginning of a sentence."""


class FlatBuffer:
    """The bytes of a file, and the number of bytes that may still be read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = min(_TIMES * len(data), _MOST_READ)

    def checked(self, place: int, size: int) -> int:
        """Return a place, checked to be followed by a number of bytes."""
        if place < 0 or place + size > len(self.data):
            raise Malformed(f"{size:,} bytes at byte {place:,} are outside the file, which has {len(self.data):,}")
        return place

    def spend(self, size: int) -> None:
        """Count bytes as read."""
        self.left -= size
        if self.left < 0:
            raise Malformed("its tables and lists are too large for dmlcheck, or are listed many times over")

    def number(self, form: str, place: int) -> int:
        """Return a whole number of a form of `struct`."""
        size = struct.calcsize(form)
        found: int = struct.unpack_from(form, self.data, self.checked(place, size))[0]
        return found

    def target(self, place: int) -> int:
        """Return the place that an offset leads to."""
        return place + self.number("<I", place)

    def root(self) -> FlatTable:
        """Return the root table, whose offset is at the beginning of the file."""
        return self.table(self.target(0))

    def table(self, place: int) -> FlatTable:
        """Return the table at a place."""
        vtable = place - self.number("<i", place)
        size, extent = self.number("<H", vtable), self.number("<H", vtable + 2)
        if size < 4 or size % 2 or extent < 4:
            raise Malformed(f"there is no table at byte {place:,}")
        self.checked(vtable, size)
        self.checked(place, extent)
        self.spend(size + extent)
        return FlatTable(self, place, vtable, size, extent)

    def string(self, place: int) -> str:
        """Return the string at a place."""
        first, length = self.span(place, 1)
        self.spend(length)
        try:
            return self.data[first : first + length].decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed(f"the string at byte {place:,} is not UTF-8") from None

    def span(self, place: int, size: int) -> tuple[int, int]:
        """Return the place of the first element of a vector, and the number of its elements."""
        length = self.number("<I", place)
        return self.checked(place + 4, length * size), length


class FlatTable(NamedTuple):
    """A table of a file: its place and the place of its vtable. Fields go by their numbers, from 0."""

    buffer: FlatBuffer
    place: int
    vtable: int
    size: int
    extent: int

    def field(self, number: int, size: int = 4) -> int | None:
        """Return the place of a field of a given size in bytes, or None if it is omitted."""
        entry = 4 + 2 * number
        offset = self.buffer.number("<H", self.vtable + entry) if entry < self.size else 0
        if offset == 0:
            return None
        if offset < 4 or offset + size > self.extent:
            raise Malformed(f"field {number} of the table at byte {self.place:,} is outside it")
        return self.place + offset

    def number(self, number: int, form: str) -> int:
        """Return a whole number, 0 if it is left out."""
        place = self.field(number, struct.calcsize(form))
        return 0 if place is None else self.buffer.number(form, place)

    def at(self, number: int) -> int | None:
        """Return the place that a field leads to, or None if it is left out."""
        place = self.field(number)
        return None if place is None else self.buffer.target(place)

    def table(self, number: int) -> FlatTable | None:
        """Return a table, or None if it is left out."""
        place = self.at(number)
        return None if place is None else self.buffer.table(place)

    def string(self, number: int) -> str:
        """Return a string, empty if it is left out."""
        place = self.at(number)
        return "" if place is None else self.buffer.string(place)

    def structure(self, number: int, form: str) -> tuple[int | float, ...] | None:
        """Return the members of a struct that a union leads to, or None if it is left out."""
        place = self.at(number)
        if place is None:
            return None
        return struct.unpack_from(form, self.buffer.data, self.buffer.checked(place, struct.calcsize(form)))

    def numbers(self, number: int, letter: str) -> tuple[int | float, ...] | None:
        """Return a list of numbers of four bytes, or None if it is left out."""
        place = self.at(number)
        if place is None:
            return None
        first, length = self.buffer.span(place, 4)
        self.buffer.spend(4 * length)
        return struct.unpack_from(f"<{length}{letter}", self.buffer.data, first)

    def bytes(self, number: int) -> memoryview | None:
        """Return a list of bytes, which are not copied, or None if it is left out."""
        place = self.at(number)
        if place is None:
            return None
        first, length = self.buffer.span(place, 1)
        return memoryview(self.buffer.data)[first : first + length]

    def each(self, number: int, read: Callable[[int, int], T]) -> tuple[T, ...]:
        """Read the parts of a list, each by its index and its place; there are none if it is left out."""
        place = self.at(number)
        if place is None:
            return ()
        first, length = self.buffer.span(place, 4)
        self.buffer.spend(4 * length)
        return tuple(read(index, self.buffer.target(first + 4 * index)) for index in range(length))


# ---- the graph of a file


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


# ---- the records of a file


class Tensor(NamedTuple):
    """A DML_BUFFER_TENSOR_DESC; strides None means packed."""

    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_size: int


class Attribute(NamedTuple):
    """An attribute: the name of its type in the file (`UInt32`), and its value, None if it has none.

    A struct's value is a tuple of its members, a scalar union's its eight bytes.
    """

    kind: str
    value: Any = None


class Operator(NamedTuple):
    """An operator as the file has it: its name, its tensors without missing ones, its attributes in order."""

    type: str
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    attributes: tuple[Attribute, ...] = ()


class FileConstant(NamedTuple):
    """A constant: the name of the file next to the graph, without `.bin`, or else its bytes."""

    file: str = ""
    data: memoryview | None = None


class FileNode(NamedTuple):
    """A node, and the names of its inputs and outputs; an empty name stands for a missing tensor."""

    name: str
    desc: Operator | FileConstant
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Stored(NamedTuple):
    """A graph: its nodes in order, and the names of its inputs and outputs; an input that is not used has none."""

    nodes: tuple[FileNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
