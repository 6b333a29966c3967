"""Which operators of ONNX have a counterpart, whatever the family."""

from __future__ import annotations

import pytest
from onnx_nodes import found, zeros

from dmlcheck.onnx.descs.node import Refused
from dmlcheck.onnx.operators.shared import OPERATORS


def test_every_family_is_there() -> None:
    assert {"Add", "Gather", "Concat", "LRN", "MatMul", "ReduceSum"} <= OPERATORS.keys()


def test_an_operator_without_a_counterpart_is_named() -> None:
    with pytest.raises(Refused, match=r"^Mish is not one of the operators that are imported$"):
        found("Mish", [zeros(1)], zeros(1))


def test_more_outputs_than_the_counterpart_has_are_refused_but_where_it_has_several() -> None:
    with pytest.raises(Refused, match="no counterpart to output 1 of Relu"):
        found("Relu", [zeros(1)], zeros(1), zeros(1))
    assert found("Split", [zeros(2)], zeros(1), zeros(1)).operator == "SPLIT"
