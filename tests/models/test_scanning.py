"""Slices and joined outputs of the turns of a Scan, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from whole_models import node, tensor

from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.models.scanning import changed, scanning
from dmlcheck.onnx.descs.node import Unmapped

helper = pytest.importorskip("onnx.helper")
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def body(inputs: int = 2, outputs: int = 2) -> Any:
    names = [[f"{side}{number}" for number in range(count)] for side, count in (("i", inputs), ("o", outputs))]
    return helper.make_graph([], "body", *([tensor(name, [2]) for name in each] for each in names))


def scan(**attributes: Any) -> Any:
    return scanning(node("Scan", "s x", "t y", num_scan_inputs=1, **attributes), 17, body())


@pytest.mark.parametrize(
    ("axis", "direction", "slices"),
    [
        (0, 0, [[0, 1, 2], [3, 4, 5]]),
        (0, 1, [[3, 4, 5], [0, 1, 2]]),
        (1, 0, [[0, 3], [1, 4], [2, 5]]),
        (-1, 1, [[2, 5], [1, 4], [0, 3]]),
    ],
)
def test_an_input_is_read_slice_by_slice(axis: int, direction: int, slices: list[list[float]]) -> None:
    way, given = scan(scan_input_axes=[axis], scan_input_directions=[direction]), [np.zeros(2), X]
    assert way.turns(given) == len(slices)
    assert [way.slices(given, number)[0].tolist() for number in range(len(slices))] == slices
    held = [None, X.reshape(-1).view(np.uint8)]
    assert [way.held_slices(held, given, number)[0].view("f4").tolist() for number in range(len(slices))] == slices


def test_errors_go_with_their_elements() -> None:
    held = Carried("FLOAT32", X.reshape(-1), X.reshape(-1) / 10, None, 7)
    found = changed(held, X, np.transpose)
    assert isinstance(found, Carried)
    assert found.value.tolist() == [0, 3, 1, 4, 2, 5]
    assert found.radius is not None
    assert found.radius.tolist() == (found.value / 10).tolist()
    assert (found.likely, found.terms) == (None, 7)
    assert changed(None, X, np.transpose) is None


@pytest.mark.parametrize(
    ("made", "opset", "reason"),
    [
        (node("Scan", "s x", "t y", num_scan_inputs=1), 8, "of batches"),
        (node("Scan", "s x", "t y", num_scan_inputs=3), 17, "a Scan of 3 of 2 inputs"),
        (node("Scan", "s x", "t", num_scan_inputs=1), 17, "with 1 outputs, whose body has 2 inputs and 2 outputs"),
        (node("Scan", "s x", "t y", num_scan_inputs=1, scan_input_axes=[0, 1]), 17, "are not for 1 tensors"),
    ],
)
def test_attributes_that_do_not_go_together_are_told(made: Any, opset: int, reason: str) -> None:
    with pytest.raises(Unmapped, match=reason):
        scanning(made, opset, body())


def test_inputs_of_other_lengths_are_told() -> None:
    way = scanning(node("Scan", "a b", "y", num_scan_inputs=2), 17, body(2, 1))
    with pytest.raises(Unmapped, match=r"the sizes \[2, 3\] along their axes"):
        way.turns([np.zeros(2), np.zeros(3)])
