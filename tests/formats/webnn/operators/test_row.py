"""What an operator is called with: each value of its kind, or the reason why the test is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.formats.webnn.operators.row import Call
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

X = TensorRef.of(np.zeros((2, 3), np.float32))


def call(**given: Any) -> Call:
    return Call("op", given, (X,))


def test_values_are_given_or_by_default() -> None:
    made = call(x=X, n=3, list=[1, 2], word="b", on=True, padding=[1, 2, 3, 4], none=None)
    assert (made.tensor("x"), made.optional("none"), made.output) == (X, None, X)
    assert (made.whole("n"), made.whole("m", 5), made.number("n", 1.5), made.number("m", 1.5)) == (3, 5, 3, 1.5)
    assert (made.numbers("list"), made.pair("list", [0, 0]), made.pair("other", [7, 7])) == ([1, 2], [1, 2], [7, 7])
    assert made.padding() == ([1, 3], [2, 4])  # before and after height and width
    assert (made.choice("word", {"a": 1, "b": 2}, "a"), made.choice("none", {"a": 1}, "a")) == (2, 1)
    assert (made.flag("on"), made.flag("none"), made.flag("none", default=True)) == (True, False, True)
    assert (made.axis("list2", 2, 1), call(axis=-1).axis("axis", 2)) == (1, 1)
    assert call(all=[X, X]).tensors("all") == [X, X]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (lambda made: made.tensor("n"), "`n` of op is 3, not a tensor of the test"),
        (lambda made: made.tensors("list"), "`list` of op is not a list of tensors of the test"),
        (lambda made: made.number("word"), "`word` of op is 'b', not a number"),
        (lambda made: made.number("on"), "`on` of op is true, not a number"),
        (lambda made: made.number("m"), "`m` of op is null, not a number"),
        (lambda made: made.whole("half"), "`half` of op has 0.5, which is no whole number"),
        (lambda made: made.whole("large"), "`large` of op has inf, which is no whole number"),
        (lambda made: made.numbers("n"), "`n` of op is 3, not a list of numbers"),
        (lambda made: made.numbers("words"), "`words` of op has 'b', which is no whole number"),
        (lambda made: made.pair("list", [0]), "`list` of op has 2 numbers, not 1"),
        (lambda made: made.axis("n", 2), "axis 3 is not one of 2 dimensions"),
        (lambda made: made.choice("n", {"a": 1}, "a"), "Chromium's DirectML backend does not take n 3"),
    ],
)
def test_what_does_not_fit_is_a_reason(asked: Any, reason: str) -> None:
    made = call(n=3, list=[1, 2], word="b", words=["b"], on=True, half=0.5, large=float("inf"))
    with pytest.raises(Unmapped) as refused:
        asked(made)
    assert str(refused.value) == reason


def test_an_activation_is_a_field_where_there_is_one() -> None:
    assert call().fused == {}
    assert call()._replace(activation={"Type": "ACTIVATION_RELU"}).fused == {
        "FusedActivation": {"Type": "ACTIVATION_RELU"}
    }
