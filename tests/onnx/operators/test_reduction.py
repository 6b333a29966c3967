"""ONNX's reductions, and what is grouped along axes, as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import fields, found, zeros

from dmlcheck.onnx.descs.node import Unmapped

X = zeros(2, 3)


@pytest.mark.parametrize(
    ("attributes", "output", "axes", "sizes"),
    [
        ({"axes": [-1]}, zeros(2), [1], (2, 1)),
        ({"axes": [1, -2]}, zeros(1, 1), [1, 0], (1, 1)),
        ({}, zeros(), [0, 1], (1, 1)),
        ({"noop_with_empty_axes": 1}, X, [], (2, 3)),
    ],
)
def test_reduced_dimensions_have_size_1_and_no_axes_mean_all(
    attributes: Any, output: Any, axes: list[int], sizes: tuple[int, ...]
) -> None:
    made = found("ReduceSum", [X], output, **attributes)
    assert (made.operator, fields(made)) == ("REDUCE", {"Function": "SUM", "Axes": axes})
    assert made.fields["OutputTensor"].shape == sizes


def test_what_versions_of_onnx_say_differently_is_refused() -> None:
    with pytest.raises(Unmapped, match="ReduceL2 of no axes"):
        found("ReduceL2", [X], X, noop_with_empty_axes=1)


def test_a_scalar_has_one_dimension() -> None:
    assert found("ReduceMax", [np.array(1, "f4")], np.array(1, "f4")).fields["InputTensor"].shape == (1,)


@pytest.mark.parametrize(("last", "direction"), [(0, "INCREASING"), (1, "DECREASING")])
def test_of_equal_elements_the_last_is_first_from_the_end(last: int, direction: str) -> None:
    made = found("ArgMin", [X], zeros(2, dtype="int64"), axis=1, select_last_index=last)
    assert (made.operator, fields(made)) == ("ARGMIN", {"Axes": [1], "AxisDirection": direction})
    assert made.fields["OutputTensor"].shape == (2, 1)


@pytest.mark.parametrize(("attributes", "axes"), [({}, [1, 2]), ({"axis": 0}, [0, 1, 2]), ({"axis": -1}, [2])])
def test_before_opset_13_rows_go_from_their_axis_to_the_last(attributes: Any, axes: list[int]) -> None:
    x = zeros(2, 3, 4)
    made = found("Softmax", [x], x, opset=11, **attributes)
    assert (made.operator, fields(made)) == ("ACTIVATION_SOFTMAX1", {"Axes": axes})
    assert (made.fields["InputTensor"].shape, made.fields["OutputTensor"].shape) == ((2, 3, 4), (2, 3, 4))


def test_from_opset_13_on_the_axis_is_one() -> None:
    x = zeros(2, 3, 4)
    made = found("Softmax", [x], x, opset=13)
    assert (made.operator, fields(made)) == ("ACTIVATION_SOFTMAX1", {"Axes": [2]})
