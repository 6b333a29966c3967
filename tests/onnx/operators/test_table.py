"""The table of ONNX's operators, and a node as steps: by ONNX's meaning, or by the descs of the provider."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest
from onnx_nodes import found, node, zeros

from dmlcheck.onnx import operators as package
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped
from dmlcheck.onnx.operators import table
from dmlcheck.onnx.operators.table import FAMILIES, OPERATORS, exact_steps, is_left_out, provider_steps, row_of
from dmlcheck.onnx.provider.registrations import left_to_others, registrations

X = zeros(2, 3)


def operators(steps: list[Counterpart]) -> list[str]:
    return [made.operator for made in steps]


@pytest.mark.parametrize(
    ("type", "reason"),
    [
        ("Mish", "DirectML has no operator that computes Mish"),
        ("ai.onnx.ml.Binarizer", "DirectML has no operator that computes ai.onnx.ml.Binarizer"),
        ("com.microsoft.Inverse", "com.microsoft.Inverse is not one of the operators that are known"),
        ("If", "If runs graphs of its own, and DirectML has operators only"),
        ("Multinomial", "Multinomial draws random numbers in a way of its own"),
        ("Shape", "Shape gives sizes, which DirectML has in descs only"),
    ],
)
def test_an_operator_without_a_counterpart_has_a_reason(type: str, reason: str) -> None:
    with pytest.raises(Unmapped) as refused:
        exact_steps(node(type, [X], np.zeros(1, np.int64)))
    assert str(refused.value) == reason


def test_more_outputs_than_the_counterpart_has_are_refused_but_where_it_has_several() -> None:
    with pytest.raises(Unmapped, match="no counterpart to output 1 of Relu"):
        found("Relu", [zeros(1)], zeros(1), zeros(1))
    assert found("Split", [zeros(2)], zeros(1), zeros(1)).operator == "SPLIT"


def test_what_is_not_said_twice_is_the_same_for_both() -> None:
    vector = zeros(3)
    one = node("com.microsoft.SkipLayerNormalization", [X, X, vector, vector], X)
    assert (
        operators(exact_steps(one))
        == operators(provider_steps(one))
        == ["ELEMENT_WISE_ADD", "MEAN_VARIANCE_NORMALIZATION2"]
    )


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (node("STFT", [zeros(1, 8, 2), np.array(4), None, np.array(4)], zeros(1, 2, 4, 2)), "STFT of complex numbers"),
        (node("GRU", [zeros(7, 2, 5), zeros(1, 9, 5), zeros(1, 9, 3)], zeros(7, 1, 2, 3), clip=0.5), "GRU with clip"),
        (node("IsInf", [X], X, detect_negative=0, detect_positive=0), "finds neither infinity"),
        (node("Dropout", [X, None, np.array(True)], X), "Dropout in training"),
        (
            node(
                "Resize",
                [zeros(1, 1, 4, 4), None, np.array([1, 1, 0.5, 0.5], np.float32)],
                zeros(1, 1, 2, 2),
                mode="linear",
                antialias=1,
            ),
            "a filter that DirectML does not document",
        ),
        (node("TopK", [X, np.array([1])], zeros(2, 1), zeros(2, 1), sorted=0), "TopK in any order"),
    ],
)
def test_what_the_provider_computes_otherwise_or_in_part_is_no_meaning(one: OnnxNode, reason: str) -> None:
    assert provider_steps(one)
    with pytest.raises(Unmapped, match=reason):
        exact_steps(one)


def test_what_the_provider_has_not_is_refused() -> None:
    assert operators(exact_steps(node("Compress", [X, np.array([True, False])], zeros(1, 3), axis=0))) == ["GATHER"]
    with pytest.raises(Unmapped, match="the DirectML provider has no descs of Compress"):
        provider_steps(node("Compress", [X, np.array([True, False])], zeros(1, 3), axis=0))


def test_all_that_the_provider_computes_is_mapped() -> None:
    x = zeros(1, 1, 4, 4)
    rest = {name for name in registrations().rows if not row_of(name).provider and not row_of(name).make}
    newest = {name: registrations().rows[name][-1].versions[-1] for name in rest}
    assert [left_to_others(node(name, [x], x), version, []) for name, version in newest.items()] == [None] * len(rest)
    reasons = {name: row_of(name).elsewhere for name in rest}
    assert [name for name, reason in reasons.items() if reason is None] == []
    assert {name for name, reason in reasons.items() if "shaders" in str(reason)} == {"DFT", "GridSample"}


def test_every_row_says_something_and_nothing_twice() -> None:
    for name, row in OPERATORS.items():
        assert row.is_mapped or row.reason or row.elsewhere or row.rule, name
        assert not (row.make and row.exact and row.provider), name
        assert not (row.reason and (row.make or row.exact)), name


def test_inputs_without_elements_are_left_out_by_these_alone() -> None:
    left_out = {name for name, row in OPERATORS.items() if row.leaves_out_empty}
    own = {f"com.microsoft.{name}" for name in ("Attention", "GroupQueryAttention", "MultiHeadAttention")}
    assert left_out == {"Concat", "Resize", "Scatter", "ScatterElements", "Attention", *own}
    one, none = zeros(2), zeros(0, dtype="int64")
    for scatter in ("Scatter", "ScatterElements"):
        assert operators(provider_steps(node(scatter, [one, none, zeros(0)], one))) == ["ELEMENT_WISE_IDENTITY"]


def test_every_family_is_in_the_table_and_no_operator_in_two() -> None:
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    families = {
        module.__name__.rpartition(".")[2]: module.OPERATORS
        for module in modules
        if module is not table and hasattr(module, "OPERATORS")
    }
    assert sorted(families) == list(FAMILIES)
    assert sum(map(len, families.values())) == len(OPERATORS)


def test_only_axes_sizes_and_what_only_gives_a_type_may_have_no_elements() -> None:
    found = {name: row.may_be_empty for name, row in OPERATORS.items() if row.may_be_empty is not None}
    reductions = {name: 1 for name in OPERATORS if name.startswith("Reduce")}
    assert found == {**reductions, "CastLike": 1, "Expand": 1, "Reshape": 1, "Unsqueeze": 1}


@pytest.mark.parametrize(("operator", "sizes"), [("Reshape", (1,)), ("Expand", (2, 3)), ("Unsqueeze", (2, 3))])
def test_a_scalar_has_no_sizes(operator: str, sizes: tuple[int, ...]) -> None:
    output = zeros() if operator == "Reshape" else zeros(*sizes)
    one = node(operator, [zeros(*sizes), np.zeros(0, np.int64)], output)
    assert operators(exact_steps(one)) == operators(provider_steps(one)) == ["ELEMENT_WISE_IDENTITY"]
    assert not is_left_out(one)


def test_what_only_gives_a_type_may_have_no_elements() -> None:
    """ONNX Runtime 1.24.4 with DirectML 1.15.4, 2026-11-29, of test_reduce_l2_empty_set_expanded of onnx."""
    (made,) = provider_steps(node("CastLike", [X, zeros(2, 0, 4)], X))
    assert made.operator == "CAST"


@pytest.mark.parametrize(
    ("made", "is_known"),
    [
        (node("Split", [X, zeros(2, dtype="int64")], X, zeros(0, 2)), True),
        (node("ReduceMax", [zeros(0, 2), zeros(1, dtype="int64")], zeros(1, 2)), True),
        (node("Concat", [X, zeros(0, 2)], X, axis=0), False),  # which leaves such tensors out
        (node("ReduceMax", [X, zeros(0, dtype="int64")], zeros(1, 1)), False),
        (node("Abs", [zeros(0, 2)], zeros(0, 2)), False),
    ],
)
def test_nothing_of_a_node_is_computed_if_a_tensor_has_no_elements(made: OnnxNode, is_known: bool) -> None:
    """ONNX Runtime 1.24.4 with DirectML 1.15.4, 2026-11-29: onnx's RotaryEmbedding by its parts, and reductions."""
    assert ("no elements" in str(table.deviation_of(made))) == is_known
