"""Graphs as Python with onnx.helper: the program of every page makes the graph, and the graph is the example."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from directml_header import header
from shipped import example_case
from valid_descs import tensor, valid

from dmlcheck.descs.records import TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.folders.export_folder import Exported, ready
from dmlcheck.models.cases import Loaded, node_cases
from dmlcheck.models.reference_nodes import ReferenceNodes, Uncomputed
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import TYPES, ExportedGraph, ExportedNode, GraphValue, Initializer
from dmlcheck.reports.site.example import example_of, onnx_code, program
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.validation import validate

pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

import numpy as np
from onnx import checker

from dmlcheck.onnx.importer import BackendTest, foreign_case
from dmlcheck.onnx.proto import model_proto
from dmlcheck.onnx.reading import valued

X, Y = (GraphValue(name, "FLOAT32", (2, 3)) for name in ("X", "Y"))
# Operators of ONNX whose example has fields that ONNX does not have.
NOT_IN_ONNX = {
    "ACTIVATION_HARD_SWISH",
    "ELEMENT_WISE_MODULUS_FLOOR",
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
    "MULTIHEAD_ATTENTION1",
}
# What a single node becomes where it is not the example's own desc: a later version, an operator that computes the same
# thing, or the same operator with fields that make no difference to the example.
BECOMES = {
    "ACTIVATION_IDENTITY": "ELEMENT_WISE_IDENTITY",
    "ACTIVATION_PARAMETRIC_SOFTPLUS": "ACTIVATION_SOFTPLUS",
    "DEPTH_TO_SPACE": "DEPTH_TO_SPACE1",
    "ELEMENT_WISE_CLIP": "ELEMENT_WISE_CLIP1",
    "ELEMENT_WISE_CONSTANT_POW": "ELEMENT_WISE_POW",
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": "DEQUANTIZE",
    "FILL_VALUE_CONSTANT": "ELEMENT_WISE_IDENTITY",
    "PADDING": "PADDING1",
    "RESAMPLE2": "RESAMPLE2",  # RoundingDirection, with LINEAR
    "RESAMPLE3": "RESAMPLE2",
    "SLICE1": "SLICE1",  # a window without the elements that its strides pass over
}


def model_of(code: str) -> Any:
    """Return the model that a program makes."""
    names: dict[str, Any] = {}
    exec(compile(code, "example.py", "exec"), names)  # noqa: S102 - the program that the page shows
    return names["model"]


def mapped_back(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs of a model, each node mapped to DirectML's operators and computed by the reference engine."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    names = [output.name for output in model.graph.output]
    way = ReferenceNodes(Loaded(model, constants, node_cases(model, "model.onnx", constants), inputs), names)
    for node, found in way.nodes():
        assert not isinstance(found, Uncomputed), (node.operator, found.reason)
    return {name: way.value(name) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_the_onnx_of_a_page_is_its_example(operator: str) -> None:
    spec = load_spec(operator)
    case = example_case(operator)
    shown = example_of(spec, case)
    assert bool(shown.onnx) is ("ONNX" in spec.names and spec.short not in NOT_IN_ONNX)
    assert bool(shown.not_in_onnx) is (spec.short in NOT_IN_ONNX)
    if not shown.onnx:
        return
    going = ready(case, with_outputs=True)
    assert not isinstance(going, Exported)
    model = model_of(shown.onnx)
    checker.check_model(model, full_check=True)
    expected = model_proto(build(going.desc)).graph
    assert list(map(_node, model.graph.node)) == list(map(_node, expected.node))
    assert model.graph.input == expected.input
    assert model.graph.output == expected.output
    assert [_array(one) for one in model.graph.initializer] == [_array(one) for one in expected.initializer]
    found = mapped_back(model, {part.label: values for part, values in going.desc.inputs_with(going.inputs)})
    for label, (_, values) in going.expected.items():
        assert np.allclose(found[label], values, rtol=1e-5, atol=1e-6, equal_nan=True), label


@pytest.mark.slow
@pytest.mark.parametrize("operator", [name for name in operator_names() if "ONNX" in load_spec(name).names])
def test_the_onnx_of_a_page_becomes_its_desc_again(operator: str) -> None:
    case = example_case(operator)
    code = example_of(load_spec(operator), case).onnx
    if code.count("helper.make_node(") != 1:
        return  # several nodes become several operators
    going = ready(case, with_outputs=True)
    assert not isinstance(going, Exported)
    inputs = {part.label: _valued(part.tensor, values) for part, values in going.desc.inputs_with(going.inputs)}
    outputs = {label: _valued(tensor, values) for label, (tensor, values) in going.expected.items()}
    found = foreign_case(BackendTest(model_of(code), inputs, outputs), "the page").desc
    short = operator.removeprefix("DML_OPERATOR_")
    assert found.spec.short == BECOMES.get(short, short)
    assert (found.spec == going.desc.spec and notation(found) == notation(going.desc)) is (short not in BECOMES)


def _valued(tensor: TensorDesc, values: Any) -> Any:
    return valued(values, TYPES[tensor.data_type])


def _node(node: Any) -> tuple[Any, ...]:
    attributes = {attribute.name: attribute.SerializeToString() for attribute in node.attribute}
    return node.domain, node.op_type, list(node.input), list(node.output), attributes


def _array(tensor: Any) -> tuple[Any, ...]:
    from onnx import numpy_helper

    return tensor.name, tensor.data_type, tuple(tensor.dims), numpy_helper.to_array(tensor).tolist()


def test_numbers_and_names_are_written_as_python_reads_them() -> None:
    node = ExportedNode("Gemm", ("X", "", "C"), ("Y",), {"alpha": 0.10000000149011612, "transA": 1, "mode": "a"})
    constant = Initializer(GraphValue("C", "FLOAT16", (2,)), (float("-inf"), 3.0))
    code = onnx_code(ExportedGraph("DML_OPERATOR_GEMM", 17, (node,), (X,), (Y,), (constant,)))
    assert '    helper.make_node("Gemm", ["X", "", "C"], ["Y"], alpha=0.1, transA=1, mode="a"),\n' in code
    assert '    helper.make_tensor("C", TensorProto.FLOAT16, [2], [float("-inf"), 3.0]),\n' in code
    assert 'graph = helper.make_graph(nodes, "GEMM", inputs, outputs, constants)\n' in code


def test_types_domains_and_long_lists_are_written() -> None:
    cast = ExportedNode("Cast", ("X",), ("Z",), {"to": "FLOAT16"})
    long = ExportedNode(
        "com.microsoft.QLinearAdd", tuple(f"name_{at}" for at in range(12)), ("Y",), {"numbers": [1, 2]}
    )
    code = onnx_code(ExportedGraph("DML_OPERATOR_CAST", 21, (cast, long), (X,), (Y,), ()))
    assert '    helper.make_node("Cast", ["X"], ["Z"], to=TensorProto.FLOAT16),\n' in code
    assert '        ["Y"], domain="com.microsoft", numbers=[1, 2]),\n' in code
    assert 'opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]\n' in code
    assert "constants" not in code
    assert max(map(len, code.split("\n"))) < 140


def test_a_float64_keeps_all_its_digits() -> None:
    constant = Initializer(GraphValue("C", "FLOAT64", ()), (0.100000000001,))
    code = onnx_code(ExportedGraph("DML_OPERATOR_CAST", 17, (), (), (Y,), (constant,)))
    assert "[0.100000000001]" in code
    constant = constant._replace(elements=(1e300,))
    assert "inputs = []\n" in code
    assert "[1e+300]" in onnx_code(ExportedGraph("DML_OPERATOR_CAST", 17, (), (), (Y,), (constant,)))


# ---- descs as C++: what the pages show compiles against a DirectML.h made from the specs, and fills the structs


REST = """
#include <cmath>
using REFIID = const int&;
struct IDMLDevice { HRESULT CreateOperator(const DML_OPERATOR_DESC*, REFIID, void**) { return 0; } };
"""


def of(operator: str, **fields: object) -> str:
    desc = valid(operator, fields)
    return program(desc)


def test_a_program_has_the_struct_with_its_tensors_arrays_and_enumerations() -> None:
    found = of("ARGMAX", InputTensor=tensor(2, 3), OutputTensor={"DataType": "UINT32", "Sizes": [2, 1]}, Axes=[1],
               AxisDirection="DECREASING")  # fmt: skip
    assert found.startswith("#define DML_TARGET_VERSION 0x3000  // ARGMAX came with DML_FEATURE_LEVEL_3_0\n")
    for line in (
        "const UINT inputTensorSizes[] = {2, 3};",
        "inputTensorBuffer.TotalTensorSizeInBytes = 24;",
        "const DML_TENSOR_DESC inputTensor{DML_TENSOR_TYPE_BUFFER, &inputTensorBuffer};",
        "const UINT axes[] = {1};",
        "DML_ARGMAX_OPERATOR_DESC desc{};",
        "desc.OutputTensor = &outputTensor;",
        "desc.AxisCount = 1;",
        "desc.Axes = axes;",
        "desc.AxisDirection = DML_AXIS_DIRECTION_DECREASING;",
        "const DML_OPERATOR_DESC operatorDesc{DML_OPERATOR_ARGMAX, &desc};",
    ):
        assert f"    {line}\n" in found


def test_strides_numbers_and_operators_inside_are_written() -> None:
    strided = tensor(2, 3, Strides=[0, 1])
    found = of("ELEMENT_WISE_ADD1", ATensor=tensor(2, 3), BTensor=strided, OutputTensor=tensor(2, 3),
               FusedActivation={"Type": "ACTIVATION_LINEAR", "Alpha": 0.5, "Beta": 2})  # fmt: skip
    for line in (
        "const UINT bTensorStrides[] = {0, 1};",
        "bTensorBuffer.Strides = bTensorStrides;",
        "bTensorBuffer.TotalTensorSizeInBytes = 12;",
        "fusedActivationDesc.Alpha = 0.5f;",
        "fusedActivationDesc.Beta = 2.0f;",
        "const DML_OPERATOR_DESC fusedActivation{DML_OPERATOR_ACTIVATION_LINEAR, &fusedActivationDesc};",
        "desc.FusedActivation = &fusedActivation;",
    ):
        assert f"    {line}\n" in found


def test_a_number_of_any_type_goes_to_its_member() -> None:
    output = {"DataType": "FLOAT16", "Sizes": [2]}
    found = of("FILL_VALUE_CONSTANT", OutputTensor=output, ValueDataType="FLOAT16", Value=1.5)
    assert "    desc.Value.UInt16 = 0x3e00;\n" in found
    found = of("FILL_VALUE_CONSTANT", OutputTensor={**output, "DataType": "INT8"}, ValueDataType="INT8", Value=-3)
    assert "    desc.Value.Int8 = -3;\n" in found


@pytest.mark.slow
def test_the_examples_of_all_operators_compile(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no g++ or clang++ here, so the C++ of the examples was not compiled")
    (tmp_path / "DirectML.h").write_text(header() + REST, encoding="utf-8")
    parts = ['#include "DirectML.h"']
    for operator in operator_names():
        case = example_case(operator)
        desc, _ = validate(operator, case.desc, case.level)
        assert desc is not None
        parts.append(f"namespace {operator}_ {{\n{program(desc).partition('#include <DirectML.h>')[2]}}}")
    source = tmp_path / "examples.cpp"
    source.write_text("\n".join(parts), encoding="utf-8")
    words = [compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", str(source)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
