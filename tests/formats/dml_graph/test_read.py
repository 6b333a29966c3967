"""DirectML graphs read from their files."""

from __future__ import annotations

import random
import struct

import pytest
from dml_graphs import (
    U8,
    U64,
    Table,
    Vector,
    Writer,
    activation,
    gemm,
    graph,
    matmul_add,
    mutations,
    named_constant,
    operator,
    raw_constant,
    save,
    table,
    tensor,
    uint32,
)

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.formats.dml_graph.read import (
    Attribute,
    FlatBuffer,
    Malformed,
    Operator,
    Stored,
    read_stored,
)
from dmlcheck.models.graphs import validated_graph
from dmlcheck.running.legality import LevelRequest

pytestmark = pytest.mark.usefixtures("folder")


def read(data: bytes) -> Stored:
    found = read_stored(save(data))
    assert isinstance(found, Stored)
    return found


def refused(data: bytes) -> Diagnostic:
    found = read_stored(save(data))
    assert isinstance(found, Diagnostic)
    return found


def test_every_type_of_attribute() -> None:
    attributes = [
        activation("DML_OPERATOR_ACTIVATION_ELU", table("Alpha", U8(6), struct.pack("<f", 0.5))),
        table("a", U8(2), table([table("DML_OPERATOR_ACTIVATION_TANH", [])])),
        uint32(2**32 - 1),
        table("a", U8(4), struct.pack("<Q", 2**63)),
        table("a", U8(5), struct.pack("<i", -3)),
        table("a", U8(7), table(Vector("I", [1, 2]))),
        table("a", U8(8), table(Vector("i", [-1]))),
        table("a", U8(9), table(Vector("f", []))),
        table("a", U8(10), struct.pack("<ff", 2, 0.25)),
        table("a", U8(11), struct.pack("<II", 3, 4)),
        table("a", U8(12), table(U8(1), b"\1\2\3\4\5\6\7\x88")),
        table("a", U8(13), b"\1"),
        table(),
    ]
    (node,) = read(graph([operator("n", "DML_OPERATOR_X", {}, {}, *attributes)], [], [])).nodes
    assert isinstance(node.desc, Operator)
    assert [(attribute.kind, attribute.value) for attribute in node.desc.attributes] == [
        ("Activation", Operator("DML_OPERATOR_ACTIVATION_ELU", attributes=(Attribute("Float32", 0.5),))),
        ("ActivationArray", (Operator("DML_OPERATOR_ACTIVATION_TANH"),)),
        ("UInt32", 2**32 - 1),
        ("UInt64", 2**63),
        ("Int32", -3),
        ("UIntArray", (1, 2)),
        ("IntArray", (-1,)),
        ("FloatArray", ()),
        ("ScaleBias", (2.0, 0.25)),
        ("Size2D", (3, 4)),
        ("ScalarUnionData", b"\1\2\3\4\5\6\7\x88"),
        ("Bool", True),
        ("nothing", None),
    ]


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (table(U8(1), table("DML_OPERATOR_X"), "", [], []), "nodes[0]: it has no name"),
        (table(U8(0), None, "n", [], []), "nodes[0]: it is neither an operator nor a constant"),
        (table(U8(3), table(), "n", [], []), "nodes[0]: it is neither an operator nor a constant"),
        (named_constant("n", "e", ""), "nodes[0]: it is a constant without data"),
        (raw_constant("n", "e", b""), "nodes[0]: it is a constant without data"),
        (operator("n", "X", {}, {}, table("a", U8(14), b"")), "the type of attributes[0] is 14"),
        (operator("n", "X", {}, {}, activation("Y", activation("Z"))), "the type of attributes[0] is 1"),
        (operator("n", "X", {}, {}, table("a", U8(12), table(U8(7), bytes(8)))), "a scalar union is of type 7"),
    ],
)
def test_what_is_no_node_is_refused(node: object, problem: str) -> None:
    found = refused(graph([node], [], []))  # type: ignore[list-item]
    assert (found.rule, found.file) == ("graph-syntax", "Partition_0.bin")
    assert problem in found.message
    assert found.help == "fetch the file again, or let ONNX Runtime write it again"


@pytest.mark.parametrize("data", [b"", b"\0" * 4, b"\0" * 400, b"version https://git-lfs.github.com/spec/v1\n"])
def test_what_is_no_graph_is_refused(data: bytes) -> None:
    assert refused(data).rule == "graph-syntax"


def test_a_graph_without_nodes_is_refused() -> None:
    assert "it has no nodes" in refused(graph([], ["a"], ["b"])).message


def test_a_file_that_is_not_there_is_named() -> None:
    found = read_stored("absent.bin")
    assert isinstance(found, Diagnostic)
    assert (found.rule, found.message, found.file) == ("file-not-found", "no such file or folder", "absent.bin")


def test_a_graph_of_too_many_nodes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.formats.dml_graph.read.MOST_NODES", 3)
    assert len(read(matmul_add(nodes=[gemm()])).nodes) == 3
    assert "it has more than 3 nodes, and dmlcheck reads no more" in refused(matmul_add()).message


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_changed_bytes_end_in_a_graph_or_in_words(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same bytes on every machine
    fused = operator(
        "fused",
        "DML_OPERATOR_ELEMENT_WISE_ADD1",
        {"product": tensor([1, 1, 1, 5], strides=[0, 0, 0, 1]), "bias": tensor([1, 1, 1, 5])},
        {"model_output": tensor([1, 1, 1, 5])},
        activation("DML_OPERATOR_ACTIVATION_RELU"),
    )
    change = mutations(matmul_add(nodes=[gemm(), fused]))[seed]
    for _ in range(100):
        found = validated_graph(save(change(draw)), LevelRequest())
        assert all(desc.name for desc in found.descs)
        assert found.problem is not None or found.entries


# ---- flatBuffers read by hand


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
