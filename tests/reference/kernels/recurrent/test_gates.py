"""The gates of recurrent networks: their weights, and their sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.reference.kernels.recurrent import gates
from dmlcheck.reference.kernels.recurrent.gates import Gate, RecurrentStep, gates_of
from dmlcheck.reference.results import PartlyUndefined

Array = np.ndarray[Any, Any]
NAN = math.nan
X, H, C = np.array([[2.0]]), np.array([[3.0, 5.0]]), np.array([[1.0, -1.0]])


def gate(**more: Any) -> Gate:
    """Return a gate of one input and two hidden elements."""
    w, r = np.array([[10.0, 20.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    given = {"input": w, "hidden": r, "input_bias": None, "hidden_bias": None, "cell": None, "new_cell": None}
    return Gate(**{**given, **more})


def step(x: Any = X, h: Any = H, c: Any = None) -> RecurrentStep:
    return RecurrentStep("FLOAT32", x, h, c)


def times(factor: float) -> Nested:
    return Nested(lambda x: x * factor, "FLOAT32")


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
    assert step().sum(gate()).tolist() == [[23, 50]]
    whole = gate(input_bias=np.array([100.0, 200]), hidden_bias=np.array([0.5, 0.25]), cell=np.array([7.0, 9]))
    assert step().sum(whole).tolist() == [[123.5, 250.25]]
    assert step(c=C).sum(whole).tolist() == [[130.5, 241.25]]


def test_weights_of_the_cell_are_for_the_state_before_or_the_new_one() -> None:
    gated = gate(cell=np.array([7.0, 9]), new_cell=np.array([2.0, 3]))
    assert step().sum(gated, new_c=C).tolist() == [[25, 47]]


def test_products_of_states_may_be_left_out_but_not_their_bias() -> None:
    whole = gate(hidden_bias=np.array([0.5, 0.25]), cell=np.array([7.0, 9]), new_cell=np.array([7.0, 9]))
    assert step(c=C).sum(whole.without(hidden=True, cell=False)).tolist() == [[27.5, 31.25]]
    left = whole.without(hidden=True, cell=True)
    assert step(c=C).sum(left).tolist() == [[20.5, 40.25]]
    assert step().sum(left, new_c=C).tolist() == [[27.5, 31.25]]
    assert step().sum_with_share(left, 2.0).tolist() == [[21, 40.5]]
    assert step().sum_with_share(left._replace(hidden_bias=None), 2.0).tolist() == [[20, 40]]


def test_a_share_multiplies_what_is_of_the_hidden_state_with_its_bias() -> None:
    biased = gate(input_bias=np.array([100.0, 200]), hidden_bias=np.array([0.5, 0.25]))
    assert step().sum_with_share(biased, np.array([[2.0, 0.0]])).tolist() == [[127, 240]]


def test_a_reset_multiplies_the_hidden_state_and_is_lost_for_the_whole_sequence() -> None:
    """The bias is not reset: 2 * 10 + 0.5 + 2 * 3, and 2 * 20 + 0.25 + 2 * 0 * 5."""
    own = step()
    assert own.sum_with_reset(gate(hidden_bias=np.array([0.5, 0.25])), np.array([[2.0, 0.0]])).tolist() == [
        [26.5, 40.25]
    ]
    assert not np.any(own.undefined)
    two = step(np.array([[2.0], [2.0]]), np.array([[3.0, 5.0], [3.0, 1e38]]))
    with np.errstate(over="ignore"):
        two.sum_with_reset(gate(hidden=np.zeros((2, 2))), np.array([[2.0, 0.0], [2.0, 4.0]]))
    assert two.undefined.tolist() == [[False, False], [True, True]]


def test_the_terms_of_a_sum_may_be_added_up_in_any_order() -> None:
    """20 + 1 + 3 and 40 + 1 + 10, four terms each with the 0 of R, have a rounding of all sizes for each term."""
    x, h, bias = (Ball(each, 0.0, Arithmetic()) for each in (X, H, np.array([1.0, 1.0])))
    found = step(x, h).sum(gate(input_bias=bias))
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
    monkeypatch.setattr(gates, "products_depend_on_order", lambda *given: asked.append(given[2]) or np.False_)
    whole = gate(cell=np.ones(2), largest=largest)
    step(c=state).sum(whole)
    assert (asked[0] <= 3.403e38) is expected


def test_a_sum_that_overflows_in_one_order_alone_is_undefined() -> None:
    """3e38 + 3e38 - 4e38 is 2e38, or infinite; 0.75e38 + 0.75e38 - 3e38 is -1.5e38 in any order."""
    h = np.array([[3e38, 3e38, -2e38]])
    wide = gate(input=np.zeros((1, 3)), hidden=np.array([[1.0, 1.0, 0.25], [1.0, 1.0, 0.25], [2.0, 3.0, 1.5]]))
    own = step(h=h)
    assert own.sum(wide) == pytest.approx(np.array([[2e38, 0, -1.5e38]]), abs=1e23)
    assert own.undefined.tolist() == [[True, True, False]]
    own = step(h=h)
    own.sum_with_share(wide, np.array([[1.0, 1.0, 1.0]]))
    assert own.undefined.tolist() == [[True, True, False]]


def test_beside_nan_nothing_is_known_of_the_sizes_of_weights() -> None:
    found = gates_of(1, np.ones((1, 1)), np.array([[NAN]]), None, None)
    assert math.isnan(found[0].largest)


def test_a_share_of_a_sum_that_overflows_alone_is_undefined() -> None:
    """A quarter of 4e38 is 1e38, or infinite if 4e38 is so first; three times 4e38 is infinite either way."""
    wide = gate(input=np.array([[0.0, 0.0]]), hidden=np.array([[2.0, 2.0], [2.0, 2.0]]))
    own = step(h=np.array([[1e38, 1e38]]))
    with np.errstate(over="ignore"):
        found = own.sum_with_share(wide, np.array([[0.25, 3.0]]))
    assert found == pytest.approx(np.array([[1e38, 1.2e39]]))
    assert own.undefined.tolist() == [[True, False]]


# ---- activations


def test_results_of_an_activation_are_undefined_where_the_operator_or_anything_before_is() -> None:
    own = step()
    own.defined(PartlyUndefined(X, np.array([True, False, False])))
    f = own.function(Nested(lambda x: PartlyUndefined(2 * x, x < 0), "FLOAT32"))
    value, mark = own.result(f(np.array([1.0, -1.0, 2.0])))
    assert (value.tolist(), mark.tolist()) == ([2, -2, 4], [True, True, False])


@pytest.mark.parametrize(
    ("limit", "values", "marks"),
    [
        (2.0, [4, -2, -4], [False, False, True]),
        (-2.0, [-4, -4, -4], [False, False, False]),
        (NAN, [6, -2, NAN], [False, False, False]),
    ],
)
def test_numbers_are_clipped_as_directml_does(limit: float, values: list[float], marks: list[bool]) -> None:
    """NaN is the limit below, numbers are the limit if that is negative, and as they are if it is NaN."""
    own = step()
    value = own.function(times(2), limit)(np.array([3.0, -1.0, NAN]))
    assert np.array_equal(value, values, equal_nan=True)
    assert np.broadcast_to(own.undefined, 3).tolist() == marks


def test_results_that_overflow_within_a_step_are_undefined() -> None:
    """4e38 is beyond FLOAT32; infinity as the result of infinity is not on the way to anything else."""
    x = np.array([1.0, 2e38, np.inf])
    for is_last, marks in ((False, [False, True, False]), (True, [False] * 3)):
        own = step()
        with np.errstate(over="ignore"):
            value = own.function(times(2), is_last=is_last)(x)
        assert (value.tolist(), np.broadcast_to(own.undefined, 3).tolist()) == ([2, 4e38, np.inf], marks)
    own = step()
    assert own.function(times(2), 1.5)(x).tolist() == [2, 3, 3]
    assert not np.any(own.undefined)
