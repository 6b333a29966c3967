"""Nodes that become several descs."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import node, zeros

from dmlcheck.onnx.operators.provider.mapping import SEVERAL, counterparts
from dmlcheck.onnx.operators.shared import OPERATORS
from dmlcheck.onnx.provider.registrations import left_to_others, registrations, without_descs

X = zeros(2, 3)


def operators(name: str, inputs: list[Any], output: Any, **attributes: Any) -> list[str]:
    return [made.operator for made in counterparts(node(name, inputs, output, **attributes))]


@pytest.mark.parametrize(("name", "operator"), [("Sum", "ADD"), ("Max", "MAX"), ("Min", "MIN")])
def test_inputs_are_taken_two_by_two(name: str, operator: str) -> None:
    own = f"ELEMENT_WISE_{operator}"
    assert operators(name, [X], X) == ["ELEMENT_WISE_IDENTITY"]
    assert operators(name, [X, X], X) == [own]
    assert operators(name, [X, X, zeros(3), X], X) == [own] * 3


def test_a_further_input_is_combined_with_the_result_so_far() -> None:
    first, second = counterparts(node("Sum", [zeros(3), X, zeros(2, 1)], zeros(2, 3)))
    assert first.fields["ATensor"].strides == (0, 1)
    assert second.fields["ATensor"].buffer is first.fields["OutputTensor"].buffer
    assert second.fields["BTensor"].strides == (1, 0)


def test_a_mean_of_more_than_two_is_a_sum_that_is_scaled() -> None:
    assert operators("Mean", [X, X], X) == ["ELEMENT_WISE_MEAN"]
    *sums, scaled = counterparts(node("Mean", [X, zeros(3), X, X], X))
    assert [made.operator for made in sums] == ["ELEMENT_WISE_ADD"] * 3
    assert (scaled.operator, scaled.fields["ScaleBias"]) == ("ELEMENT_WISE_IDENTITY", {"Scale": 0.25, "Bias": 0})


def test_dropout_is_a_copy() -> None:
    assert operators("Dropout", [X], X) == ["ACTIVATION_IDENTITY"]


def test_axes_of_a_normalization_leave_the_channels_out() -> None:
    x = zeros(2, 3, 4, 5)
    (made,) = counterparts(node("MeanVarianceNormalization", [x], x))
    assert (made.operator, made.fields["Axes"]) == ("MEAN_VARIANCE_NORMALIZATION1", [0, 2, 3])
    (made,) = counterparts(node("MeanVarianceNormalization", [x], x, axes=[-1]))
    assert made.fields["Axes"] == [3]


def test_all_that_the_provider_computes_is_mapped() -> None:
    x = zeros(1, 1, 4, 4)
    rest = {name for name in registrations().rows if name not in OPERATORS and name not in SEVERAL}
    newest = {name: registrations().rows[name][-1].versions[-1] for name in rest}
    assert [left_to_others(node(name, [x], x), version, []) for name, version in newest.items()] == [None] * len(rest)
    reasons = {name: without_descs(name) for name in rest}
    assert [name for name, reason in reasons.items() if reason is None] == []
    assert {name for name, reason in reasons.items() if "shaders" in str(reason)} == {"DFT", "GridSample"}


def test_all_others_become_one() -> None:
    assert operators("Relu", [X], X) == ["ACTIVATION_RELU"]
