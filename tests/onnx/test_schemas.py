"""Schemas of ONNX's own operators."""

from __future__ import annotations

import pytest

from dmlcheck.onnx.reading import defaults_of, schema_of, versions_of_operators

helper = pytest.importorskip("onnx.helper")


def test_an_operator_has_no_schema_before_the_opset_that_brought_it() -> None:
    assert schema_of("Gelu", 19) is None
    assert schema_of("Gelu", 20).since_version == 20
    assert schema_of("NoSuch", 20) is None


def test_defaults_are_those_of_attributes_that_need_not_be_given() -> None:
    """Cast has one for saturate and none for to; Concat has none for its axis."""
    defaults = {name: helper.get_attribute_value(each) for name, each in defaults_of(schema_of("Cast", 19)).items()}
    assert defaults == {"saturate": 1}
    assert defaults_of(schema_of("Concat", 13)) == {}


def test_operators_have_all_versions_of_onnxs_own_domain() -> None:
    versions = versions_of_operators()
    assert versions["Softmax"] == {1, 11, 13}
    assert "Scaler" not in versions  # of ai.onnx.ml
    assert schema_of("Scaler", 3, "ai.onnx.ml").since_version == 1
