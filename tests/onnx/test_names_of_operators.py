"""The names of ONNX in the specs are those that the mappings of nodes know, and each leads to what they make."""

from __future__ import annotations

import warnings

import pytest

from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode
from dmlcheck.onnx.operators.table import OPERATORS
from dmlcheck.onnx.provider.registrations import registrations
from dmlcheck.specs.load import load_spec, operator_names

# Of these the provider makes several descs, none of which is theirs more than another's.
WITHOUT_AN_OPERATOR = {
    "Einsum",
    "GroupNormalization",
    "STFT",
    "com.microsoft.BiasSplitGelu",
    "com.microsoft.EmbedLayerNormalization",
    "com.microsoft.GroupNorm",
    "com.microsoft.QLinearConcat",
    "com.microsoft.QLinearSigmoid",
    "com.microsoft.QuickGelu",
    "com.microsoft.RotaryEmbedding",
}
# What is left of a node whose inputs or axes are few, or of a function that others compute.
REMAINDERS = {"ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_LOG", "ELEMENT_WISE_MULTIPLY", "CAST", "JOIN"}
NAMED = {name for operator in operator_names() for name in load_spec(operator).names.get("ONNX", ())}


def test_every_operator_that_is_mapped_is_named_by_those_of_directml() -> None:
    made = {name for name, row in OPERATORS.items() if row.make or row.provider}
    assert made - NAMED == WITHOUT_AN_OPERATOR


def test_every_name_is_that_of_an_operator_which_the_mappings_know() -> None:
    made = {name for name, row in OPERATORS.items() if row.is_mapped}
    assert NAMED - made - set(registrations().rows) == set()


@pytest.mark.slow
def test_what_a_node_is_mapped_to_has_its_name(nodes: list[ModelNode]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {
            (node.operator.rpartition("-")[0], node.found[0].operator)
            for node in nodes
            if not isinstance(node.found, UnusableNode) and len(node.found) == 1
        }
    named = {(name, operator) for name, operator in made if name in NAMED}
    assert len(named) > 100
    assert {
        (name, operator)
        for name, operator in named
        if name not in load_spec(f"DML_OPERATOR_{operator}").names.get("ONNX", ()) and operator not in REMAINDERS
    } == set()
