"""What the records of a spec say of themselves."""

from __future__ import annotations

import pytest

from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import Tolerance, Undefined, c_type


def test_the_fields_of_an_operator_are_tensors_or_attributes() -> None:
    spec = load_spec("DML_OPERATOR_JOIN")
    assert {name: field.is_tensor for name, field in spec.fields.items()} == {
        "InputCount": False,
        "InputTensors": True,
        "OutputTensor": True,
        "Axis": False,
    }
    assert [[field.name for field in fields] for fields in (spec.inputs, spec.outputs, spec.operators)] == [
        ["InputTensors"],
        ["OutputTensor"],
        [],
    ]


def test_an_undefined_result_is_also_one_text() -> None:
    row = Undefined("undefined", "An index over NaN.", "Nothing says it.", ("It is 0.",), "The reference gives 1.")
    assert row.text == "An index over NaN. Nothing says it. It is 0. The reference gives 1."
    assert row._replace(reason="", outcomes=(), reference="").text == "An index over NaN."


@pytest.mark.parametrize(("operator", "expected"), [("ARGMAX", True), ("FILL_VALUE_SEQUENCE", False), ("JOIN", False)])
def test_only_results_without_a_number_are_undefined_elements(operator: str, expected: bool) -> None:
    assert load_spec(f"DML_OPERATOR_{operator}").has_undefined is expected


def test_an_operator_goes_by_its_short_name() -> None:
    assert load_spec("DML_OPERATOR_GEMM").short == "GEMM"


# ---- the C types of fields: against the header that tests make of DirectML's structs


# As DirectML.h declares them.
@pytest.mark.parametrize(
    ("operator", "field", "declared"),
    [
        ("GEMM", "ATensor", "const DML_TENSOR_DESC*"),
        ("GEMM", "TransA", "DML_MATRIX_TRANSFORM"),
        ("GEMM", "Alpha", "FLOAT"),
        ("GEMM", "FusedActivation", "const DML_OPERATOR_DESC*"),
        ("REDUCE", "AxisCount", "UINT"),
        ("REDUCE", "Axes", "const UINT*"),
        ("RESAMPLE", "Scales", "const FLOAT*"),
        ("SLICE1", "InputWindowStrides", "const INT*"),
        ("SPLIT", "OutputTensors", "const DML_TENSOR_DESC*"),
        ("LSTM", "ActivationDescs", "const DML_OPERATOR_DESC*"),
        ("LSTM", "UseClipThreshold", "BOOL"),
        ("LOCAL_RESPONSE_NORMALIZATION_GRAD", "CrossChannel", "BOOL"),
        ("ELEMENT_WISE_ABS", "ScaleBias", "const DML_SCALE_BIAS*"),
        ("FILL_VALUE_CONSTANT", "Value", "DML_SCALAR_UNION"),
        ("UPSAMPLE_2D", "ScaleSize", "DML_SIZE_2D"),
        ("DIAGONAL_MATRIX", "Offset", "INT"),
        ("FILL_VALUE_CONSTANT", "ValueDataType", "DML_TENSOR_DATA_TYPE"),
    ],
)
def test_a_field_has_the_type_of_the_header(operator: str, field: str, declared: str) -> None:
    assert c_type(load_spec(f"DML_OPERATOR_{operator}").fields[field]) == declared


def test_every_type_is_one_of_c() -> None:
    types = {c_type(field) for name in operator_names() for field in load_spec(name).fields.values()}
    assert {name for name in types if not name.removeprefix("const ").startswith("DML_")} == {
        "BOOL",
        "FLOAT",
        "INT",
        "UINT",
        "const FLOAT*",
        "const INT*",
        "const UINT*",
    }


def test_a_tolerance_is_written_as_a_case_file_has_it() -> None:
    assert Tolerance(exact=True).notation == "exact"
    own = Tolerance(absolute=0.5, relative=0.25, reason="rounded by hand")
    assert own.notation == {"absolute": 0.5, "relative": 0.25, "reason": "rounded by hand"}
