"""The tensors of the nodes of a model, node after node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_models import Runtime, one_input, perceptron, runtime
from whole_models import node, save

from dmlcheck.formats.find import Target
from dmlcheck.implementations import Failure
from dmlcheck.models.cases import Loaded, ModelRequest, loaded
from dmlcheck.models.node_values import (
    array_of,
    by_node,
    deadly,
    largest_halves,
    not_finite,
    of_whole,
    recorded_tensors,
    run_node,
)
from dmlcheck.models.node_verdict import Unjudged
from dmlcheck.running.results import NotFinite

pytestmark = pytest.mark.usefixtures("folder")

__all__ = ["runtime"]


def read(made: Any) -> Loaded:
    found = loaded(Target(save(made), "m.onnx"), ModelRequest({"batch": 3}), Runtime())
    assert isinstance(found, Loaded)
    return found


def begun(_: Any) -> None:
    pass


def test_nodes_that_nobody_asks_for_have_no_tensors() -> None:
    for values in (by_node, of_whole):
        more = () if values is by_node else (2**30,)
        given = values(read(perceptron()), ("bias",), Runtime(), *more, begun)  # type: ignore[operator, arg-type]
        assert {node.case.name: bool(each.tensors) for node, each in given} == {
            "up": values is by_node,
            "bias": True,
            "relu": False,
            "down": False,
            "softmax": False,
        }


def test_a_tensor_that_nothing_gives_is_named() -> None:
    model = read(one_input([node("Relu", "x", "y", "relu")], [2]))
    found = run_node(model.nodes[0], model, {}, Runtime())
    assert found.skipped == Unjudged("missing-tensor", "it reads x, which nothing gives")


def test_recorded_tensors_may_be_unreadable() -> None:
    def broken(_: str) -> Any:
        raise Failure("cannot be read for x: it is cut short")

    model = read(perceptron())
    found = recorded_tensors(model.nodes[0], model, broken).skipped
    assert found == Unjudged("missing-tensor", "the recorded file cannot be read for x: it is cut short")


@pytest.mark.parametrize("dtype", [object, np.complex64])
def test_elements_that_directml_does_not_have_are_no_array(dtype: Any) -> None:
    model = read(one_input([node("Neg", "x", "y")], [2]))
    found = array_of("x", {"x": np.ones(2, dtype)}, model)
    reason = f"x has elements of {np.dtype(dtype)}, which DirectML does not have"
    assert found == Unjudged("not-mapped", reason, is_for_good=True)


# ---- what the tensors of a node show, whatever is right


FINITE, ODD = np.array([1.0, 2.0], np.float32), np.array([np.nan, np.inf, -np.inf, 1], np.float32)


def test_nan_and_infinities_come_about_of_finite_inputs() -> None:
    made = node("Own", "x", "y z")
    assert not_finite(made, [FINITE], [ODD, FINITE]) == (NotFinite("y", 1, 2),)
    assert not_finite(made, [FINITE, None, np.array([3])], [FINITE, None]) == ()
    assert not_finite(made, [ODD], [ODD, FINITE]) == ()


def test_halves_close_to_overflow_are_found() -> None:
    made = node("Own", "x", "a b c d")
    halves = [np.array([-16376, 1], np.float16), np.array([16360], np.float16), np.array([np.inf, 2], np.float16)]
    assert largest_halves(made, [*halves, np.array([1e6], np.float32)]) == {"a": 16376.0}


@pytest.mark.parametrize(
    ("above", "below", "is_deadly"),
    [
        (np.array([1]), np.array([0]), True),
        (np.array([-(2**63)]), np.array([-1]), True),
        (np.array([1]), np.array([-1]), False),
        (np.array([1.0]), np.array([0.0]), False),
    ],
)
def test_a_division_may_be_deadly(above: Any, below: Any, is_deadly: bool) -> None:
    arrays = {"a": above, "b": below}
    assert bool(deadly(node("Div", "a b", "y"), arrays)) is is_deadly
    assert deadly(node("Add", "a b", "y"), arrays) is None
    assert deadly(node("Div", "a c", "y"), arrays) is None
