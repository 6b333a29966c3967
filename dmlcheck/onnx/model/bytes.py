"""The bytes of a model without the values of its large tensors, which are never in memory.

A protobuf is a list of fields: a number that gives the field and its form, and its value, with the length before it in
some forms. The numbers here come from onnx.proto.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import IO, NamedTuple

from dmlcheck.files.plain import open_plain, reason
from dmlcheck.onnx.reading import MOST_PROTOBUF, Unreadable

MOST_BYTES = 128 * 2**20  # of a model without its weights
_LEAST = 16  # bytes that a field takes at least once it is read
_LARGE = 16 * 2**10  # bytes of values: constants that are kept have fewer
_MOST_DIGITS = 10  # bytes of a whole number
_MOST_DEPTH = 100  # messages within messages, as protobuf has it
_GRAPH, _INITIALIZER = 7, 5  # the numbers of these fields
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5
_SIZES = {_LONG: 8, _SHORT: 4}


class _Kind(NamedTuple):
    """A kind of message: its parts, its texts and its values, by the numbers of the fields.

    Unneeded texts are left out, and values if they are many.
    """

    parts: Mapping[int, str]
    texts: frozenset[int] = frozenset()
    values: frozenset[int] = frozenset()


_KINDS = {
    "model": _Kind({7: "graph", 25: "function"}, frozenset([6, 14, 20])),
    "graph": _Kind({1: "node", 5: "tensor", 15: "sparse"}, frozenset([10, 16])),
    "function": _Kind({7: "node", 11: "attribute"}, frozenset([8, 14])),
    "node": _Kind({5: "attribute"}, frozenset([6, 9])),
    "attribute": _Kind(
        {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"}, frozenset([13])
    ),
    "tensor": _Kind({}, frozenset([12, 16]), frozenset([4, 5, 6, 7, 9, 10, 11])),
    "sparse": _Kind({1: "tensor", 2: "tensor"}),
}


_OF_NODES = ("graph", "function", "node")  # whose texts are left out though they are small


class _Malformed(Exception):
    """Bytes that are no protobuf."""


def model_bytes(path: str) -> bytes:
    """Return a model without the values of large tensors; Unreadable if a file is none, or has too much else."""
    return _read(path, _Reader)


def bytes_and_weights(path: str, take: Callable[[bytes], object]) -> bytes:
    """Return a model without the initializers of its graph, which `take` gets one by one; Unreadable as above."""
    return _read(path, lambda file, name: _Splitter(file, name, take))


def _read(path: str, reader: Callable[[IO[bytes], str], _Reader]) -> bytes:
    try:
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = reader(file, path).message("model", size) if size <= MOST_PROTOBUF else None
    except _Malformed:
        raise Unreadable(path, "is not an ONNX model: it is no protobuf") from None
    except (OSError, ValueError) as error:
        raise Unreadable(path, reason(error), "file-not-found") from None
    if data is None:
        raise Unreadable(path, "is larger than 2 GiB, which no protobuf is", "file-too-large")
    return bytes(data)


class _Reader:
    """A file that is read field by field; Unreadable if more than MOST_BYTES are kept of it."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self.file, self.path = file, path
        self.kept = 0

    def message(self, kind: str, size: int, depth: int = 0) -> bytearray:
        """Return the bytes of a message of some size, without the fields that its kind leaves out."""
        if depth > _MOST_DEPTH:
            raise _Malformed
        kept = bytearray()
        while size > 0:
            key, used = self.number()
            form = key & 7
            if form == _VARINT:
                value, length = self.number()
                kept += _varint(key) + _varint(value)
            elif form in _SIZES:
                length = _SIZES[form]
                kept += _varint(key) + self.taken(length)
            elif form == _BYTES:
                length, more = self.number()
                used += more
                if length > size - used:
                    raise _Malformed
                part = self.part(_KINDS[kind], key >> 3, length, depth)
                if part is not None:
                    kept += _varint(key) + _varint(len(part)) + part
            else:
                raise _Malformed
            size -= used + length
            self.count(_LEAST)
        if size < 0:
            raise _Malformed
        return kept

    def part(self, kind: _Kind, number: int, size: int, depth: int) -> bytes | bytearray | None:
        """Return the kept bytes of a field, None for a field that is left out."""
        if number in kind.texts or (size > _LARGE and number in kind.values):
            self.file.seek(size, os.SEEK_CUR)
            return None
        inner = kind.parts.get(number)
        if inner is None or (size <= _LARGE and inner not in _OF_NODES):
            return self.taken(size)
        return self.message(inner, size, depth + 1)

    def number(self) -> tuple[int, int]:
        """Return the next whole number, and how many bytes it has."""
        value = 0
        for index in range(_MOST_DIGITS):
            (byte,) = self.file.read(1) or (None,)
            if byte is None:
                break
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value, index + 1
        raise _Malformed

    def taken(self, size: int) -> bytes:
        self.count(size)
        data = self.file.read(size)
        if len(data) < size:
            raise _Malformed
        return data

    def count(self, size: int) -> None:
        self.kept += size
        if self.kept > MOST_BYTES:
            problem = f"has more than {MOST_BYTES:,} bytes without its weights, and dmlcheck reads no more"
            raise Unreadable(self.path, problem, "file-too-large")


class _Splitter(_Reader):
    """A file that is read field by field, whose initializers go elsewhere, one by one."""

    def __init__(self, file: IO[bytes], path: str, take: Callable[[bytes], object]) -> None:
        super().__init__(file, path)
        self.take = take

    def part(self, kind: _Kind, number: int, size: int, depth: int) -> bytes | bytearray | None:
        """Return the bytes of a field, None of an initializer."""
        if kind is _KINDS["model"] and number == _GRAPH:
            return self.message("graph", size, depth + 1)
        data = self.taken(size)
        if kind is not _KINDS["graph"] or number != _INITIALIZER:
            return data
        self.take(data)
        return None

    def count(self, size: int) -> None:
        """Count nothing: all of the model is wanted."""


def in_pieces(model: bytes, graph: bytes, initializers: Iterable[bytes]) -> list[bytes]:
    """Return the bytes of a model, in pieces: of its fields but the graph, those of the graph, and initializers.

    ValueError if a protobuf does not hold them.
    """
    pieces = [graph]
    for initializer in initializers:
        pieces += [_head(_INITIALIZER, len(initializer)), initializer]
    size = sum(map(len, pieces))
    if size > MOST_PROTOBUF - len(model) - _MOST_DIGITS:
        raise ValueError("its constants are larger than 2 GiB, which no protobuf is")
    return [model + _head(_GRAPH, size), *pieces]


def _head(field: int, size: int) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(size)


def _varint(value: int) -> bytes:
    """Return a whole number as a protobuf has it: seven bits a byte, the lowest first."""
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)
