"""One wrong output: what agrees with all of it, and inputs that a function changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.comparison.wrong_output import WrongOutput, changed_inputs

NEGATION = valid("ELEMENT_WISE_NEGATE", InputTensor=tensor(4), OutputTensor=tensor(4))
GIVEN = np.array([1, 2, 3, 4], np.float32)


def of(actual: list[float], wrong: list[bool]) -> WrongOutput:
    """Return an output of NEGATE that should be -1, -2, -3, -4."""
    desc = NEGATION
    tensor = desc.parts["OutputTensor"][0].tensor
    found = np.array(actual, np.float32)
    limit = limit_for(desc, None)
    return WrongOutput(desc, {"InputTensor": GIVEN}, "OutputTensor", tensor, -GIVEN, found, limit, np.array(wrong))


WRONG = [False, False, True, True]


@pytest.mark.parametrize(
    ("predicted", "explains"),
    [
        ([-1, -2, 3, 4], True),
        ([-1, -2, 3.125, 4.125], True),  # the errors are 6 and 8: by 1/32 another order of operations may differ
        ([-1, -2, 3.5, 4.5], False),
        ([1, -2, 3, 4], False),  # what is right would be wrong
        ([-1, -2, 3, -4], False),
    ],
)
def test_a_prediction_explains_an_output_where_it_agrees_with_what_is_wrong_and_with_what_is_right(
    predicted: list[float], explains: bool
) -> None:
    assert of([-1, -2, 3, 4], WRONG).explained_by(np.array(predicted, np.float32)) is explains


def test_one_element_that_is_near_proves_nothing_and_one_that_is_equal_does() -> None:
    wrong = of([-1, -2, -3, 4], [False, False, False, True])
    assert not wrong.explained_by(np.array([-1, -2, -3, 4.0625], np.float32))
    assert wrong.explained_by(np.array([-1, -2, -3, 4], np.float32))


def test_elements_that_are_not_known_have_no_say() -> None:
    known = np.array([True, True, True, False])
    assert of([-1, -2, 3, 4], WRONG).explained_by(np.array([-1, -2, 3, 99], np.float32), known)


def test_an_output_is_computed_again_from_other_inputs() -> None:
    wrong = of([-1, -2, 3, 4], WRONG)
    assert wrong.recomputed({"InputTensor": 2 * GIVEN}).tolist() == [-2, -4, -6, -8]
    assert wrong.recomputed().tolist() == [-1, -2, -3, -4]


def test_an_output_is_right_for_what_it_is_within_the_tolerance_of() -> None:
    wrong = of([-2, -4, -6, -8], WRONG)
    assert wrong.is_right_for(-2 * GIVEN, wrong.desc, {"InputTensor": 2 * GIVEN})
    assert not wrong.is_right_for(-GIVEN, wrong.desc, {"InputTensor": GIVEN})


def test_inputs_that_nothing_changes_are_the_same_ones() -> None:
    inputs: dict[str, Any] = {"InputTensor": GIVEN}
    assert changed_inputs(NEGATION, inputs, lambda _, values: values + 0) is inputs
    assert changed_inputs(NEGATION, inputs, lambda _, values: -values)["InputTensor"].tolist() == [-1, -2, -3, -4]


def test_an_input_that_holds_something_is_asked_of_floats() -> None:
    assert of([-1, -2, 3, 4], WRONG).has_input(lambda values: values > 3)
    assert not of([-1, -2, 3, 4], WRONG).has_input(np.isnan)
