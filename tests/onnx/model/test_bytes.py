"""Models as bytes without their weights: all else is there, and nothing of any length is read in vain."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from whole_models import model, node, residual_block, save, weight

from dmlcheck.onnx.model import bytes as module
from dmlcheck.onnx.model.bytes import in_pieces, model_bytes
from dmlcheck.onnx.reading import Unreadable

onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.usefixtures("folder")
helper = onnx.helper


def read(made: Any) -> Any:
    return onnx.ModelProto.FromString(model_bytes(save(made)))


def raw(name: str, size: int) -> Any:
    return helper.make_tensor(name, 3, [size], bytes(size), raw=True)


def test_large_tensors_keep_their_types_and_sizes_wherever_they_are() -> None:
    """In a graph, in a Constant, in a branch, in a function, and as the values of a sparse tensor."""
    size = 20_000
    inner = helper.make_graph([node("Relu", "x", "z")], "inner", [], [], [raw("w", size)])
    function = helper.make_function(
        "own", "F", ["a"], ["b"], [node("Constant", "", "b", value=raw("", size))], [helper.make_opsetid("", 17)]
    )
    indices = helper.make_tensor("i", 7, [size], list(range(size)))
    nodes = [
        node("Constant", "", "c", value=raw("", size)),
        node("Constant", "", "d", sparse_value=helper.make_sparse_tensor(raw("v", size), indices, [size])),
        node("If", "x", "y", then_branch=inner, else_branch=inner),
    ]
    floats = helper.make_tensor("floats", 1, [size], [0.5] * size)
    made = model(nodes, {"x": [4]}, {"y": [4]}, [raw("w", size), floats, raw("small", 16)], functions=[function])
    found = read(made)
    assert found.ByteSize() < 2000
    assert [(w.name, list(w.dims), w.data_type) for w in found.graph.initializer] == [
        ("w", [size], 3),
        ("floats", [size], 1),
        ("small", [16], 3),
    ]
    assert found.graph.initializer[2].raw_data == bytes(16)
    for node_, attribute in ((found.graph.node[0], "t"), (found.functions[0].node[0], "t")):
        assert list(getattr(node_.attribute[0], attribute).dims) == [size]
    assert [list(each.g.initializer[0].dims) for each in found.graph.node[2].attribute] == [[size], [size]]
    assert (found.graph.node[1].attribute[0].sparse_tensor.values.name, found.functions[0].name) == ("v", "F")


def test_texts_are_left_out_and_names_kept() -> None:
    made = model([node("Relu", "x", "y", "one")], {"x": [4]}, {"y": [4]})
    for part in (made, made.graph, made.graph.node[0]):
        part.doc_string = "d" * 100
        part.metadata_props.add(key="k", value="v" * 100)
    found = read(made)
    assert (found.doc_string, found.graph.doc_string, found.graph.node[0].doc_string) == ("", "", "")
    assert (found.graph.node[0].name, found.ir_version, found.opset_import[0].version) == ("one", 8, 17)


@pytest.mark.slow
def test_weights_are_never_in_memory() -> None:
    path = save(model([node("Relu", "x", "y")], {"x": [4]}, {"y": [4]}, [raw("w", 2**26)]))
    tracemalloc.start()
    try:
        assert len(model_bytes(path)) < 200
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**20


def test_whole_numbers_of_any_length_and_sign_come_back() -> None:
    made = model([node("Relu", "x", "y", own=[-1, 2**62, 0, 300])], {"x": [4]}, {"y": [4]}, [weight("w", [2**40])])
    made.model_version = -(2**63)
    assert read(made) == made


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten nodes of 1,000 bytes: a field is counted as 16 bytes more."""
    made = model([node("Relu", "x", "y", "n" * 1000) for _ in range(10)], {"x": [4]}, {"y": [4]})
    monkeypatch.setattr(module, "MOST_BYTES", 12_000)
    read(made)
    monkeypatch.setattr(module, "MOST_BYTES", 10_000)
    with pytest.raises(Unreadable, match="has more than 10,000 bytes without its weights") as refused:
        read(made)
    assert refused.value.rule == "file-too-large"


def test_empty_fields_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bytes each, of which nothing is kept: a documentation of no characters."""
    monkeypatch.setattr(module, "MOST_BYTES", 2**16)
    Path("a.onnx").write_bytes(b"\x32\x00" * 2**13)
    with pytest.raises(Unreadable, match="without its weights"):
        model_bytes("a.onnx")


def test_more_than_a_protobuf_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PROTOBUF", 10)
    with pytest.raises(Unreadable, match="is larger than 2 GiB"):
        read(residual_block())


@pytest.mark.parametrize(
    "data",
    [
        b"\x3a\x05ab",  # a graph that ends before its length
        b"\x3a",
        b"\x80",
        b"\xff" * 11,  # a number without end
        b"\x0b",  # groups, which ONNX has none of
        b"\x0f",  # a form that there is not
        b"\x09abc",
    ],
)
def test_what_is_no_protobuf_is_refused(data: bytes) -> None:
    Path("a.onnx").write_bytes(data)
    with pytest.raises(Unreadable, match="is not an ONNX model"):
        model_bytes("a.onnx")


def test_messages_within_messages_have_a_limit() -> None:
    """A graph in an attribute of a node of a graph: 50 times."""
    data = b""
    for _ in range(50):
        for key in (b"\x32", b"\x2a", b"\x0a"):
            data = key + length(len(data)) + data
    Path("a.onnx").write_bytes(b"\x3a" + length(len(data)) + data + bytes([0x3A]))
    with pytest.raises(Unreadable, match="is not an ONNX model"):
        model_bytes("a.onnx")


def length(size: int) -> bytes:
    return bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])


def test_a_model_in_pieces_holds_no_more_than_a_protobuf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PROTOBUF", 1000)
    assert sum(map(len, in_pieces(b"m", b"g", [bytes(900)]))) < 1000
    with pytest.raises(ValueError, match="larger than 2 GiB"):
        in_pieces(b"m", b"g", [bytes(500), bytes(500)])
