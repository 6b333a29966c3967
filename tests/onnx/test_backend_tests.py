"""ONNX's backend tests on disk: data sets, and files that are broken or not there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcheck as api

onnx = pytest.importorskip("onnx")

from commandline import dmlcheck  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx_backend_tests import arrays, floats, model_of, write_test  # noqa: E402


def test_each_data_set_is_a_case(tmp_path: Path) -> None:
    x, y = floats(1, 2), floats(-1, -2)
    write_test(tmp_path / "test_one", model_of("Neg", [x], [y]), ([x], [y]), ([y], [x]))
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert "2 cases imported to test_one.yaml" in result.output
    cases = api.load_cases(str(tmp_path / "imported" / "test_one.yaml"))
    assert [(case.name, arrays(case)["InputTensor"].tolist()) for case in cases] == [
        ("test_one", [1, 2]),
        ("test_one-1", [-1, -2]),
    ]


def test_text_is_no_tensor_of_directml(tmp_path: Path) -> None:
    x = np.array(["a", "b"], dtype=object)
    model = model_of("Neg", [floats(1, 2)], [floats(1, 2)])
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = TensorProto.STRING
    write_test(tmp_path / "test_one", model, ([x], [x]))
    assert "x0 is STRING" in dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported").output


def missing_output(data: Path) -> None:
    (data / "output_0.pb").unlink()


def no_data(data: Path) -> None:
    shutil.rmtree(data)


def other_type(data: Path) -> None:
    tensor = numpy_helper.from_array(np.array([1, 2], dtype=np.int8))
    (data / "input_0.pb").write_bytes(tensor.SerializeToString())


def values_outside(data: Path) -> None:
    tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="/etc/passwd")
    (data / "input_0.pb").write_bytes(tensor.SerializeToString())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (missing_output, "test_data_set_0 has no output_0.pb"),
        (no_data, "there is no folder test_data_set_0"),
        (other_type, "x0 is INT8 in its file and FLOAT in the model"),
        (values_outside, "lie in another file"),
    ],
)
def test_values_that_are_not_there_are_named(tmp_path: Path, change: Any, reason: str) -> None:
    x = floats(1, 2)
    change(write_test(tmp_path / "test_one", model_of("Neg", [x], [-x]), ([x], [-x])) / "test_data_set_0")
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert reason in result.output


def too_few(data: bytes) -> bytes:
    return TensorProto(data_type=TensorProto.FLOAT, dims=[2**40], raw_data=data[:4]).SerializeToString()


def negative(data: bytes) -> bytes:
    return TensorProto(data_type=TensorProto.FLOAT, dims=[-1], raw_data=data[:4]).SerializeToString()


@pytest.mark.parametrize("change", [too_few, negative])
def test_a_tensor_that_has_not_as_many_elements_as_it_says_is_broken(tmp_path: Path, change: Any) -> None:
    x = floats(1, 2)
    folder = write_test(tmp_path / "test_one", model_of("Neg", [x], [-x]), ([x], [-x]))
    path = folder / "test_data_set_0" / "input_0.pb"
    path.write_bytes(change(path.read_bytes()))
    result = dmlcheck("import", "onnx", folder, "-o", tmp_path / "imported")
    assert result.exit_code == 2
    assert "is not a tensor of ONNX" in result.output
