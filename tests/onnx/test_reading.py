"""ONNX's protobufs: models and tensors in files, and what a node or a tensor says of itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from dmlcheck.onnx.reading import (
    Unreadable,
    file_bytes,
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
