"""The C types of fields: against the header that tests make of DirectML's structs."""

from __future__ import annotations

import pytest

from dmlcheck.specs.c_types import c_type
from dmlcheck.specs.load import load_spec, operator_names


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
