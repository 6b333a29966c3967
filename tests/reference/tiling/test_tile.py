"""What a formula gives for a tile."""

from __future__ import annotations

import numpy as np

from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.tiling.request import parts_of


def test_results_come_whole_or_in_the_parts_that_a_formula_yields() -> None:
    whole = {"output": np.ones(3)}
    assert list(parts_of(whole)) == [whole]
    numbers = Ball(np.ones(3))
    assert list(parts_of(numbers)) == [numbers]
    assert list(parts_of({"output": number} for number in range(2))) == [{"output": 0}, {"output": 1}]
