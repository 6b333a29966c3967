"""FlatBuffers read by hand: what is outside the file, or given many times over, is refused."""

from __future__ import annotations

import struct

import pytest
from dml_graphs import U8, U64, Table, Vector, Writer, table

from dmlcheck.formats.dml_graph.flatbuffer import FlatBuffer, Malformed

# A table of two fields, as the documentation of FlatBuffers lays them out: an offset to the table; the vtable (its size
# of 8 bytes, the table's of 9, the fields at 4 and 8); the table (the distance to the vtable, then 7, then 3).
BY_HAND = struct.pack("<IHHHHiIB", 12, 8, 9, 4, 8, 8, 7, 3)


def written(*fields: object) -> FlatBuffer:
    return FlatBuffer(Writer().file(table(*fields)))


def test_a_table_by_hand() -> None:
    root = FlatBuffer(BY_HAND).root()
    assert (root.number(0, "<I"), root.number(1, "<B"), root.number(2, "<I")) == (7, 3, 0)


def test_each_kind_of_field() -> None:
    root = written(
        "naïve", None, U8(200), U64(2**40), Vector("I", [1, 2**32 - 1]), Vector("B", [5, 6]), struct.pack("<f", 0.5)
    ).root()
    assert (root.string(0), root.string(1), root.number(2, "<B"), root.number(3, "<Q")) == ("naïve", "", 200, 2**40)
    assert (root.numbers(4, "I"), root.numbers(1, "I"), root.structure(6, "<f")) == ((1, 2**32 - 1), None, (0.5,))
    data = root.bytes(5)
    assert data is not None
    assert (bytes(data), root.bytes(1), root.table(1), root.structure(1, "<I")) == (b"\5\6", None, None, None)


def test_lists_of_tables_and_texts() -> None:
    root = written([table(U8(1)), table(U8(2))], ["a", ""]).root()
    assert root.each(0, lambda index, place: (index, root.buffer.table(place).number(0, "<B"))) == ((0, 1), (1, 2))
    assert root.each(1, lambda _, place: root.buffer.string(place)) == ("a", "")
    assert root.each(2, lambda *_: pytest.fail("it is left out")) == ()


@pytest.mark.parametrize("length", range(len(BY_HAND)))
def test_a_file_that_was_cut_short_is_refused(length: int) -> None:
    with pytest.raises(Malformed):
        FlatBuffer(BY_HAND[:length]).root()


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [
        (0, "<I", 2**32 - 1),  # the root is outside
        (12, "<i", 100),  # the vtable is before the file
        (12, "<i", -100),  # and after it
        (4, "<H", 7),  # a vtable of an odd size
        (4, "<H", 2),  # or of none
        (4, "<H", 60),  # or larger than the file
        (6, "<H", 60),  # a table larger than the file
    ],
)
def test_a_table_outside_the_file_is_refused(place: int, form: str, value: int) -> None:
    data = bytearray(BY_HAND)
    struct.pack_into(form, data, place, value)
    with pytest.raises(Malformed):
        FlatBuffer(bytes(data)).root()


@pytest.mark.parametrize("offset", [1, 3, 6, 9, 65535])
def test_a_field_outside_its_table_is_refused(offset: int) -> None:
    data = bytearray(BY_HAND)
    struct.pack_into("<H", data, 8, offset)
    with pytest.raises(Malformed, match="field 0"):
        FlatBuffer(bytes(data)).root().number(0, "<I")


def test_a_vector_longer_than_the_file_is_refused() -> None:
    data = bytearray(Writer().file(table(Vector("I", [77]))))
    place = data.index(struct.pack("<II", 1, 77))
    struct.pack_into("<I", data, place, 2**32 - 1)
    root = FlatBuffer(bytes(data)).root()
    for read in (lambda: root.numbers(0, "I"), lambda: root.bytes(0), lambda: root.string(0)):
        with pytest.raises(Malformed):
            read()
    with pytest.raises(Malformed):
        root.each(0, lambda index, _: index)


def test_a_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(Malformed, match="UTF-8"):
        written(Vector("B", [0xFF])).root().string(0)


def test_a_list_that_has_one_large_vector_many_times_is_refused() -> None:
    shared = Writer()
    names = [""] * 1000
    data = bytearray(shared.file(table(names)))
    place, text = data.index(struct.pack("<I", 1000)), len(data)
    data += struct.pack("<I", 50_000) + b"a" * 50_000
    for index in range(1000):
        at = place + 4 + 4 * index
        struct.pack_into("<I", data, at, text - at)
    root = FlatBuffer(bytes(data)).root()
    with pytest.raises(Malformed, match="many times over"):
        root.each(0, lambda _, at: root.buffer.string(at))


def test_the_writer_of_the_tests_aligns_numbers_as_flatbuffers_does() -> None:
    data = Writer().file(Table((U64(2**63),)))
    assert data.index(struct.pack("<Q", 2**63)) % 8 == 0
