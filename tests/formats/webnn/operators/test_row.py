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
