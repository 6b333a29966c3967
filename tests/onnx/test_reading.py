"""ONNX's protobufs: models and tensors in files, and what a node or a tensor says of itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.reading import (
    Unreadable,
    element_type,
    file_bytes,
    first_line,
    opset_of,
    parsed_model,
    tensor_in,
    tensor_of,
)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as found:
        file_bytes(str(tmp_path / "no.onnx"))
    assert found.value.diagnostic().rule == "file-not-found"
    assert found.value.name.endswith("/no.onnx")


def test_what_is_no_model_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="is not an ONNX model"):
        parsed_model("a.onnx", b"\xff\xff")
    with pytest.raises(Unreadable, match="it has no graph or no opset"):
        parsed_model("a.onnx", b"")


def test_a_tensor_of_a_file_has_its_values(tmp_path: Path) -> None:
    path = tmp_path / "x.pb"
    path.write_bytes(numpy_helper.from_array(np.int8([1, -2])).SerializeToString())
    found = tensor_in(str(path))
    assert (found.data_type, found.shape) == ("INT8", (2,))
    assert found.values is not None
    assert found.values.tolist() == [1, -2]


def test_a_type_that_directml_has_not_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pb"
    path.write_bytes(TensorProto(data_type=TensorProto.STRING, dims=[1], string_data=[b"a"]).SerializeToString())
    with pytest.raises(Unmapped, match="is STRING, a type"):
        tensor_in(str(path))


def test_types_have_onnxs_names() -> None:
    assert [element_type(kind) for kind in (TensorProto.FLOAT, TensorProto.BOOL)] == ["FLOAT", "BOOL"]


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        ("value_float", 1.5, 1.5),
        ("value_ints", [1, 2], [1, 2]),
        ("value", numpy_helper.from_array(np.float32([3])), [3]),
    ],
)
def test_a_constant_has_its_tensor_in_one_of_several_attributes(
    attribute: str, value: object, expected: object
) -> None:
    node = helper.make_node("Constant", [], ["y"], **{attribute: value})
    assert numpy_helper.to_array(tensor_of(node)).tolist() == expected


def test_the_first_line_says_what_a_library_found() -> None:
    assert first_line(ValueError("one\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"
    assert len(first_line(ValueError("x" * 5000))) <= 1000


def test_a_model_has_the_opset_of_onnxs_own_domain() -> None:
    graph = helper.make_graph([], "g", [], [])
    opsets = [helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("", 17)]
    assert opset_of(helper.make_model(graph, opset_imports=opsets)) == 17
