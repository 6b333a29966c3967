"""ONNX's protobufs: models and tensors in files, and what a node or a tensor says of itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from dmlcheck.onnx.reading import (
    Unreadable,
    attributes_of,
    file_bytes,
    is_graph,
    tensor_of,
)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as found:
        file_bytes(str(tmp_path / "no.onnx"))
    assert found.value.diagnostic().rule == "file-not-found"
    assert found.value.name.endswith("/no.onnx")


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


# ---- the attributes of a node of ONNX, with their defaults


def test_defaults_are_those_of_onnxs_own_operators() -> None:
    node = helper.make_node("Elu", ["x"], ["y"], domain="com.microsoft", beta=2)
    assert attributes_of(node, 17) == {"beta": 2}


def test_texts_numbers_and_tensors_are_plain_values() -> None:
    value = numpy_helper.from_array(np.float32([1, 2]))
    found = attributes_of(
        helper.make_node("Own", [], ["y"], "own", domain="own", mode="linear", axes=[1, 2], value=value), 17
    )
    assert (found["mode"], found["axes"], found["value"].tolist()) == ("linear", [1, 2], [1, 2])


def test_graphs_are_no_attributes_of_a_desc() -> None:
    inner = helper.make_graph([], "inner", [], [])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    assert [is_graph(attribute) for attribute in node.attribute] == [True, True]
    assert attributes_of(node, 17) == {}
