"""What the tensors of a node show, whatever is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from whole_models import node

from dmlcheck.models.node_tensors import deadly, largest_halves, not_finite
from dmlcheck.running.results import NotFinite

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
