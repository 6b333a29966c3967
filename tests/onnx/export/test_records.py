"""A desc as an ONNX graph."""

from __future__ import annotations

from dmlcheck.onnx.export.records import GraphValue


def test_a_type_has_its_name_in_onnx_but_where_directml_has_no_such_type() -> None:
    assert GraphValue("x", "FLOAT32", (2,)).onnx_type == "FLOAT"
    assert GraphValue("x", "UINT64", ()).onnx_type == "UINT64"
    assert GraphValue("x", "UINT8", (2,), "BOOL").onnx_type == "BOOL"
