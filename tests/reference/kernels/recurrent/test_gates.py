"""The gates of recurrent networks: their weights, and their sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.kernels.recurrent import gates
from dmlcheck.reference.kernels.recurrent.gates import Gate, gates_of, step_inputs, summed, summed_with_share, without

Array = np.ndarray[Any, Any]
NAN = math.nan
X, H, C = np.array([[2.0]]), np.array([[3.0, 5.0]]), np.array([[1.0, -1.0]])


def gate(**more: Any) -> Gate:
    """Return a gate of one input and two hidden elements."""
    w, r = np.array([[10.0, 20.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    given = {"input": w, "hidden": r, "input_bias": None, "hidden_bias": None, "cell": None, "new_cell": None}
    return Gate(**{**given, **more})


def test_the_weights_of_gates_are_one_after_another_and_transposed() -> None:
    """Of four gates with two hidden elements, the third begins at row 4, and at element 4 of each bias."""
    weight, recurrence = np.arange(8.0).reshape(8, 1), np.arange(16.0).reshape(8, 2)
    found = gates_of(4, weight, recurrence, np.arange(16.0), np.arange(6.0))
    third = found[2]
    assert third.input.tolist() == [[4, 5]]
    assert third.hidden.tolist() == [[8, 10], [9, 11]]
    assert (third.input_bias.tolist(), third.hidden_bias.tolist()) == ([4, 5], [12, 13])
    assert [None if each.cell is None else each.cell.tolist() for each in found] == [[0, 1], [2, 3], [4, 5], None]
    assert gates_of(4, weight, recurrence, None, None)[1][2:6] == (None,) * 4
    assert [each.largest for each in found] == [math.sqrt(1240)] * 4  # of the squares of 0 to 15


def test_a_sum_has_all_terms_that_there_are() -> None:
    assert summed(gate(), step_inputs(X, H)).value.tolist() == [[23, 50]]
    whole = gate(input_bias=np.array([100.0, 200]), hidden_bias=np.array([0.5, 0.25]), cell=np.array([7.0, 9]))
    assert summed(whole, step_inputs(X, H)).value.tolist() == [[123.5, 250.25]]
    assert summed(whole, step_inputs(X, H, C)).value.tolist() == [[130.5, 241.25]]


def test_weights_of_the_cell_are_for_the_state_before_or_the_new_one() -> None:
    gated = gate(cell=np.array([7.0, 9]), new_cell=np.array([2.0, 3]))
    assert summed(gated, step_inputs(X, H), C).value.tolist() == [[25, 47]]


def test_products_of_states_may_be_left_out_but_not_their_bias() -> None:
    whole = gate(hidden_bias=np.array([0.5, 0.25]), cell=np.array([7.0, 9]), new_cell=np.array([7.0, 9]))
    assert summed(without([whole], hidden=True, cell=False)[0], step_inputs(X, H, C)).value.tolist() == [[27.5, 31.25]]
    (left,) = without([whole], hidden=True, cell=True)
    assert summed(left, step_inputs(X, H, C)).value.tolist() == [[20.5, 40.25]]
    assert summed(left, step_inputs(X, H), C).value.tolist() == [[27.5, 31.25]]
    assert summed_with_share(left, step_inputs(X, H), 2.0, "FLOAT32").value.tolist() == [[21, 40.5]]
    assert summed_with_share(left._replace(hidden_bias=None), step_inputs(X, H), 2.0, "FLOAT32").value.tolist() == [
        [20, 40]
    ]


def test_a_share_multiplies_what_is_of_the_hidden_state_with_its_bias() -> None:
    biased = gate(input_bias=np.array([100.0, 200]), hidden_bias=np.array([0.5, 0.25]))
    assert summed_with_share(biased, step_inputs(X, H), np.array([[2.0, 0.0]]), "FLOAT32").value.tolist() == [
        [127, 240]
    ]


def test_the_terms_of_a_sum_may_be_added_up_in_any_order() -> None:
    """20 + 1 + 3 and 40 + 1 + 10, four terms each with the 0 of R, have a rounding of all sizes for each term."""
    x, h, bias = (Ball(each, 0.0, Arithmetic()) for each in (X, H, np.array([1.0, 1.0])))
    found = summed(gate(input_bias=bias), step_inputs(x, h)).value
    assert found.terms == 4
    assert found.radius[0] == pytest.approx([4 * 24 * 2.0**-24, 4 * 51 * 2.0**-24], rel=0.01)


@pytest.mark.parametrize(
    ("largest", "state", "expected"),
    [(2e37, None, True), (2.2e37, None, False), (1.9e37, C, True), (2e37, C, False), (NAN, None, False)],
)
def test_sums_of_small_numbers_are_known_not_to_overflow(
    largest: float, state: Any, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The norms are 2, sqrt(34) twice, sqrt(2) and 1 for each bias: 15.7 of them, or 17.1, are at most 3.403e38."""
    asked = []
    monkeypatch.setattr(gates, "products_depend_on_order", lambda *given: asked.append(given[2]))
    whole = gate(cell=np.ones(2), largest=largest)
    summed(whole, step_inputs(X, H, state))
    assert (asked[0] <= 3.403e38) is expected


def test_a_sum_that_overflows_in_one_order_alone_is_undefined() -> None:
    """3e38 + 3e38 - 4e38 is 2e38, or infinite; 0.75e38 + 0.75e38 - 3e38 is -1.5e38 in any order."""
    h = np.array([[3e38, 3e38, -2e38]])
    wide = gate(input=np.zeros((1, 3)), hidden=np.array([[1.0, 1.0, 0.25], [1.0, 1.0, 0.25], [2.0, 3.0, 1.5]]))
    found = summed(wide, step_inputs(X, h))
    assert found.value == pytest.approx(np.array([[2e38, 0, -1.5e38]]), abs=1e23)
    assert found.where.tolist() == [[True, True, False]]
    assert summed_with_share(wide, step_inputs(X, h), np.array([[1.0, 1.0, 1.0]]), "FLOAT32").where.tolist() == [
        [True, True, False]
    ]


def test_beside_nan_nothing_is_known_of_the_sizes_of_weights() -> None:
    found = gates_of(1, np.ones((1, 1)), np.array([[NAN]]), None, None)
    assert math.isnan(found[0].largest)


def test_a_share_of_a_sum_that_overflows_alone_is_undefined() -> None:
    """A quarter of 4e38 is 1e38, or infinite if 4e38 is so first; three times 4e38 is infinite either way."""
    wide = gate(input=np.array([[0.0, 0.0]]), hidden=np.array([[2.0, 2.0], [2.0, 2.0]]))
    with np.errstate(over="ignore"):
        found = summed_with_share(wide, step_inputs(X, np.array([[1e38, 1e38]])), np.array([[0.25, 3.0]]), "FLOAT32")
    assert found.value == pytest.approx(np.array([[1e38, 1.2e39]]))
    assert found.where.tolist() == [[True, False]]
