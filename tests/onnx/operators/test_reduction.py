"""ONNX's reductions, and what is grouped along axes, as DirectML's."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_nodes import fields, found, zeros

from dmlcheck.onnx.descs.node import Unmapped

X = zeros(2, 3)


def test_what_versions_of_onnx_say_differently_is_refused() -> None:
    with pytest.raises(Unmapped, match="ReduceL2 of no axes"):
        found("ReduceL2", [X], X, noop_with_empty_axes=1)


@pytest.mark.parametrize(("attributes", "axes"), [({}, [1, 2]), ({"axis": 0}, [0, 1, 2]), ({"axis": -1}, [2])])
def test_before_opset_13_rows_go_from_their_axis_to_the_last(attributes: Any, axes: list[int]) -> None:
    x = zeros(2, 3, 4)
    made = found("Softmax", [x], x, opset=11, **attributes)
    assert (made.operator, fields(made)) == ("ACTIVATION_SOFTMAX1", {"Axes": axes})
    assert (made.fields["InputTensor"].shape, made.fields["OutputTensor"].shape) == ((2, 3, 4), (2, 3, 4))
