"""Descs as C++: what the pages show compiles against a DirectML.h made from the specs, and fills the structs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from directml_header import header
from shipped import example_case
from valid_descs import valid

from dmlcheck.reports.site.cpp import program
from dmlcheck.specs.load import operator_names
from dmlcheck.validation import validate

REST = """
#include <cmath>
using REFIID = const int&;
struct IDMLDevice { HRESULT CreateOperator(const DML_OPERATOR_DESC*, REFIID, void**) { return 0; } };
"""


def of(operator: str, **fields: object) -> str:
    desc = valid(operator, fields)
    return program(desc)


def tensor(*sizes: int, **more: object) -> dict[str, object]:
    return {"DataType": "FLOAT32", "Sizes": list(sizes), **more}


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
