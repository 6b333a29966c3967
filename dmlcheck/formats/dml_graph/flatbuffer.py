"""FlatBuffers read by hand: every offset is checked, and a file gives no more than a few times its own bytes.

A table begins with the distance back to its vtable: its size, the table's size, and a place in the table for each field
(0: left out). Offsets to tables, strings and vectors are counted from where they stand. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeVar

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
