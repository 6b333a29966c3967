"""Models of one operator that others wrote, as cases; and which are none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcheck as api
from dmlcheck.running.one_case import run_cases

onnx = pytest.importorskip("onnx")

from commandline import dmlcheck  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_backend_tests import floats, imported, model_of, write_test  # noqa: E402


def test_a_reduction_keeps_the_dimensions_that_onnx_drops(tmp_path: Path) -> None:
    inputs, outputs = [floats([1, 2, 3], [4, 5, 6])], [floats(6, 15)]
    case, _ = imported(tmp_path, "ReduceMax", inputs, [floats(3, 6)], opset=13, axes=[-1], keepdims=0)
    assert case == {
        "operator": "DML_OPERATOR_REDUCE",
        "source": "ONNX backend test test_one, opset 13",
        "desc": {
            "Function": "MAX",
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 1]},
            "Axes": [1],
        },
        "inputs": {"InputTensor": [[1, 2, 3], [4, 5, 6]]},
        "outputs": {"OutputTensor": [[3], [6]]},
    }
    shutil.rmtree(tmp_path / "test_one")
    axes = np.array([1], dtype=np.int64)
    case, _ = imported(tmp_path, "ReduceSum", [*inputs, axes], outputs, constants=1, keepdims=0)
    assert (case["desc"]["Function"], case["desc"]["Axes"]) == ("SUM", [1])


@pytest.mark.parametrize(("last", "direction"), [(0, "INCREASING"), (1, "DECREASING")])
def test_the_last_of_equal_elements_is_the_first_from_the_end(tmp_path: Path, last: int, direction: str) -> None:
    indices = np.array([[2 if last else 0]])
    case, _ = imported(tmp_path, "ArgMax", [floats([7, 1, 7])], [indices], axis=1, select_last_index=last)
    assert case["desc"]["AxisDirection"] == direction
    (result,) = run_cases(api.load_cases(str(tmp_path / "imported" / "test_one.yaml")))
    assert result.outcome == "passed"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("value", numpy_helper.from_array(np.array([10]))),
        ("value_int", 10),
        ("value_ints", [10, 20]),
        ("value_float", 0.5),
        ("value_floats", [0.5]),
    ],
)
def test_a_constant_is_a_value_in_whatever_form_it_is_given(tmp_path: Path, attribute: str, value: Any) -> None:
    number = numpy_helper.to_array(value) if attribute == "value" else np.asarray(value)
    x = np.array([1, 2]).astype("f4" if "float" in attribute else "i8")
    y = (x + number).astype(x.dtype)
    model = model_of("Add", [x, x], [y], constants=1)
    del model.graph.initializer[:]
    model.graph.node.insert(0, helper.make_node("Constant", [], ["x1"], **{attribute: value}))
    write_test(tmp_path / "test_one", model, ([x], [y]))
    assert "1 case imported" in dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported").output
    (result,) = run_cases(api.load_cases(str(tmp_path / "imported" / "test_one.yaml")))
    assert result.outcome == "passed"


def left_out(tmp_path: Path, *arguments: Any, **more: Any) -> str:
    case, output = imported(tmp_path, *arguments, **more)
    assert case is None
    return output


def test_an_operator_that_becomes_several_is_no_case(tmp_path: Path) -> None:
    x = floats([1, 2])
    case, output = imported(tmp_path, "Max", [x, x, x], [x])
    assert case is None
    assert "left out: Max becomes 2 operators of DirectML, and a case has one" in output


def test_an_operator_without_counterpart_is_named(tmp_path: Path) -> None:
    x = floats(1, 2)
    assert "DirectML has no operator that computes Mish" in left_out(tmp_path, "Mish", [x], [x], opset=18)


def test_a_result_without_elements_is_named(tmp_path: Path) -> None:
    output = left_out(tmp_path, "Neg", [np.zeros((0, 2), np.float32)], [np.zeros((0, 2), np.float32)])
    assert "left out: y0 has no elements, and a tensor of DirectML has at least one" in output


def test_an_output_that_onnx_has_otherwise_is_not_compared(tmp_path: Path) -> None:
    x, ones = floats([1], [3]), floats(1)
    inputs, outputs = [x, ones, ones, ones, ones], [floats([0], [2]), ones, ones]
    case, printed = imported(tmp_path, "BatchNormalization", inputs, outputs, training_mode=1, epsilon=0.0)
    assert case is not None, printed
    assert case["operator"] == "DML_OPERATOR_BATCH_NORMALIZATION_TRAINING"
    assert case["note"] == "The running mean and variance are not compared."
    assert case["desc"]["OutputMeanTensor"] == {"DataType": "FLOAT32", "Sizes": [1, 1]}
    assert case["outputs"] == {"OutputTensor": [[0], [2]]}
    (result,) = run_cases(api.load_cases(str(tmp_path / "imported" / "test_one.yaml")))
    assert result.outcome == "passed"


def test_a_type_that_the_operator_does_not_read_is_named(tmp_path: Path) -> None:
    x = np.array([1.0, 2.0])
    output = left_out(tmp_path, "Exp", [x], [np.exp(x)])
    assert "left out: DML_OPERATOR_ELEMENT_WISE_EXP does not take it: InputTensor is FLOAT64" in output


def test_more_dimensions_than_directml_has_are_named(tmp_path: Path) -> None:
    x = np.ones((1,) * 9, np.float32)
    assert "InputTensor has 9 dimensions" in left_out(tmp_path, "Exp", [x], [x])


def test_a_model_of_an_opset_that_onnx_does_not_have_is_left_out(tmp_path: Path) -> None:
    newest = onnx.defs.onnx_opset_version()
    output = left_out(tmp_path, "Neg", [floats(1)], [floats(-1)], opset=newest + 1)
    assert f"the model asks for opset {newest + 1}, and onnx {onnx.__version__} has opsets up to {newest}" in output


def two_operators(model: Any) -> None:
    model.graph.node.append(helper.make_node("Neg", ["y0"], ["z"]))


def other_domain(model: Any) -> None:
    model.graph.node[0].domain = "com.example"
    model.opset_import.append(helper.make_opsetid("com.example", 1))


def unknown_operator(model: Any) -> None:
    model.graph.node[0].op_type = "NoSuchOperator"


def data_outside(model: Any) -> None:
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")


def attribute_outside(model: Any) -> None:
    tensor = TensorProto(name="a", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    model.graph.node[0].attribute.append(helper.make_attribute("value", tensor))


def wrong_attribute(model: Any) -> None:
    model.graph.node[0].op_type = "ReduceMax"
    model.graph.node[0].attribute.append(helper.make_attribute("axes", "all"))


def no_node(model: Any) -> None:
    del model.graph.node[:]


def huge_constant(model: Any) -> None:
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2**31, 2**31])
    tensor.raw_data = b"1234"
    model.graph.node[0].op_type = "Add"
    model.graph.node[0].input.append("w")


def short_constant(model: Any) -> None:
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [1, 2], [1.0, 2.0])
    tensor.dims[:] = [3, 3]
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    model.graph.node[1].op_type = "Add"
    model.graph.node[1].input.append("w")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (two_operators, "the model has 2 operators, and a case has one"),
        (other_domain, "DirectML has no operator that computes com.example.Neg"),
        (unknown_operator, "onnx finds the model wrong"),
        (data_outside, "the values of w lie in another file"),
        (attribute_outside, "the values of a lie in another file"),
        (wrong_attribute, "onnx finds the model wrong"),
        (no_node, "onnx finds the model wrong"),
        (huge_constant, "left out"),
        (short_constant, "left out"),
    ],
)
def test_a_model_that_is_no_case_is_left_out_with_the_reason(tmp_path: Path, change: Any, reason: str) -> None:
    x = floats(1, 2)
    model = model_of("Neg", [x], [-x])
    change(model)
    write_test(tmp_path / "test_one", model, ([x], [-x]))
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert reason in result.output


def test_an_attribute_of_a_function_that_is_in_none_is_a_reason(tmp_path: Path) -> None:
    x = np.zeros((2, 3), np.float32)
    made = model_of("Gelu", [x], [x], domain="com.microsoft")
    made.graph.node[0].attribute.add(name="approximate", ref_attr_name="how", type=3)
    folder = write_test(tmp_path / "test_one", made, ([x], [x]))
    result = dmlcheck("import", "onnx", folder, "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert "its attribute approximate names how of a function, and it is in none" in result.output
    made.graph.node[0].CopyFrom(helper.make_node("Constant", [], ["y0"]))
    made.graph.node[0].attribute.add(name="value", ref_attr_name="what", type=4)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    result = dmlcheck("import", "onnx", folder, "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert "its attribute value names what of a function, and it is in none" in result.output
