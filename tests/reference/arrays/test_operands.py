"""The operands of a formula in the numbers that it is computed in."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks, as_balls, as_numbers, widened
from dmlcheck.reference.ball.numbers import Arithmetic, Ball

SINGLE = Arithmetic("FLOAT32", "FLOAT32", 2.0**-24, 2.0**-149)


@pytest.mark.parametrize(
    ("given", "wide"),
    [("float16", "float64"), ("float32", "float64"), ("int8", "int64"), ("uint32", "uint64"), ("bool", "uint64")],
)
def test_elements_are_computed_in_64_bits(given: str, wide: str) -> None:
    assert widened(np.ones(2, given)).dtype == wide
    assert widened(None) is None


def test_blocks_are_widened_one_by_one() -> None:
    x = np.arange(4, dtype=np.float32)
    found = widened(Blocks((4,), [(slice(0, 2),), (slice(2, 4),)], x.__getitem__))
    assert [(part.dtype, part.tolist()) for part in found.parts()] == [("float64", [0, 1]), ("float64", [2, 3])]


def test_other_numbers_are_made_of_wide_ones() -> None:
    assert as_numbers(np.float32([1, 2]), lambda x: (x.dtype.name, x.tolist())) == ("float64", [1, 2])


def test_floats_are_tracked_unless_the_formula_rounds_nothing() -> None:
    x = np.ones(2, np.float32)
    assert isinstance(as_balls(x, SINGLE), Ball)
    assert as_balls(x, SINGLE, is_exact=True) is x
    assert as_balls(np.ones(2, np.int8), SINGLE).dtype == np.int64


def test_each_tensor_of_a_list_is_an_operand() -> None:
    x = [np.ones(2, np.float32), np.ones(2, np.int8)]
    assert [part.dtype for part in as_numbers(x, None)] == [np.float64, np.int64]
    floats, integers = as_balls(x, SINGLE)
    assert isinstance(floats, Ball)
    assert integers.dtype == np.int64
    assert as_balls(x, SINGLE, is_exact=True)[0] is x[0]
