"""The names of WebNN in the specs are those of the mapping: each operator with all that it may become, and no other."""

from __future__ import annotations

from dmlcheck.formats.webnn.importer import OF_SEVERAL, OPERATORS
from dmlcheck.formats.webnn.operators.elementwise import FUSED
from dmlcheck.specs.load import load_spec, operator_names


def test_the_specs_name_what_the_mapping_makes() -> None:
    named = {
        (name, operator.removeprefix("DML_OPERATOR_"))
        for operator in operator_names()
        for name in load_spec(operator).names.get("WebNN", ())
    }
    made = {(name, one) for name, row in OPERATORS.items() for one in (*row.becomes, *row.below)}
    made |= {(name, one) for name, several in OF_SEVERAL.items() for one in several}
    assert named == made


def test_what_takes_an_activation_has_the_field_for_it() -> None:
    takers = {name for name, row in OPERATORS.items() if row.takes_activation}
    assert takers == {
        *("add", "batchNormalization", "conv2d", "convTranspose2d"),
        *("gemm", "instanceNormalization", "layerNormalization", "matmul"),
    }
    for name in takers:
        assert any("FusedActivation" in load_spec(f"DML_OPERATOR_{one}").fields for one in OPERATORS[name].becomes)
    assert set(FUSED) <= set(OPERATORS)
