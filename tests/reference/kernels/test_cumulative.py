"""Running sums and products against fractions, what is undefined, and the bounds of any order."""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from grouped import blocks_of, bound, built, computed, marks

from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds

Array = np.ndarray[Any, Any]

INF, NAN = float("inf"), float("nan")
FLOATS = {"FLOAT32": np.float32, "FLOAT16": np.float16}
SUM, PRODUCT = "CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT"
EXCLUSIVE = {SUM: "HasExclusiveSum", PRODUCT: "HasExclusiveProduct"}
UFUNCS = {SUM: np.add, PRODUCT: np.multiply}


def fields(operator: str, axis: int = 0, *, is_exclusive: bool = False, is_decreasing: bool = False) -> dict[str, Any]:
    direction = "DECREASING" if is_decreasing else "INCREASING"
    return {"Axis": axis, "AxisDirection": direction, EXCLUSIVE[operator]: is_exclusive}


def in_blocks(ufunc: np.ufunc, x: Array, size: int) -> Array:
    """Return what a parallel scan gives: blocks of their own, and what all blocks before have."""
    found, before = [], x.dtype.type(ufunc.identity)
    for start in range(0, x.size, size):
        part = ufunc.accumulate(x[start : start + size], dtype=x.dtype)
        found.append(ufunc(before, part, dtype=x.dtype))
        before = found[-1][-1]
    return np.concatenate(found)


@pytest.mark.parametrize("operator", [SUM, PRODUCT])
@pytest.mark.parametrize(("data_type", "accumulate"), [("FLOAT32", "FLOAT32"), ("FLOAT16", "FLOAT16")])
@pytest.mark.parametrize("is_exclusive", [False, True])
def test_any_order_of_association_is_within_the_bound(
    operator: str, data_type: str, accumulate: str, is_exclusive: bool
) -> None:
    generator, dtype = np.random.default_rng(6), FLOATS[data_type]
    x = generator.normal(size=200) if operator == SUM else generator.uniform(0.8, 1.25, 200)
    tensor = x.astype(dtype)
    allowed = bound(operator, tensor, accumulate=accumulate, **fields(operator, is_exclusive=is_exclusive))
    reach = allowed.radius + np.spacing(np.abs(allowed.value).astype(dtype)).astype(np.float64)
    for size in (1, 2, 7, 32, 200):
        found = in_blocks(UFUNCS[operator], tensor, size).astype(np.float64)
        found = np.concatenate([[UFUNCS[operator].identity], found[:-1]]) if is_exclusive else found
        assert (np.abs(found - allowed.value) <= reach).all()
    assert not allowed.undefined.any()
    if data_type == "FLOAT32":  # a term too many or too few
        assert (np.abs(np.roll(allowed.value, 1) - allowed.value) > reach)[1:].all()


def test_the_bound_counts_the_additions_and_the_multiplications_so_far() -> None:
    ones = np.ones(5, np.float32)
    u = 2.0**-24
    assert bound(SUM, ones, **fields(SUM)).radius.tolist() == [0, *((k + 1) * u * (k + 1) for k in range(1, 5))]
    assert bound(SUM, ones, **fields(SUM, is_exclusive=True)).radius.tolist() == [
        *(0, 0), *((k + 1) * u * (k + 1) for k in range(1, 4)),
    ]  # fmt: skip
    found = bound(PRODUCT, ones, **fields(PRODUCT)).radius
    assert np.allclose(found, [k * u for k in range(5)], rtol=1e-6)


@pytest.mark.parametrize("operator", [SUM, PRODUCT])
@pytest.mark.parametrize("is_exclusive", [False, True])
@pytest.mark.parametrize("is_decreasing", [False, True])
def test_lines_of_more_than_a_block_go_on_where_the_block_before_ended(
    operator: str, is_exclusive: bool, is_decreasing: bool
) -> None:
    generator, how = np.random.default_rng(9), {"is_exclusive": is_exclusive, "is_decreasing": is_decreasing}
    x = generator.uniform(0.5, 2, (70, 3)).astype(np.float32)
    x[40, 1] = np.nan
    for axis, tensor in ((0, x), (1, x.T.copy())):
        right = computed(operator, tensor, **fields(operator, axis, **how))
        with blocks_of(16):
            assert np.array_equal(computed(operator, tensor, **fields(operator, axis, **how)), right, equal_nan=True)
            allowed = bound(operator, tensor, **fields(operator, axis, **how))
        assert np.array_equal(allowed.value.astype(np.float32), right.reshape(-1), equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("operator", [SUM, PRODUCT])
def test_a_long_line_takes_little_memory(operator: str) -> None:
    desc, inputs = built(operator, np.ones(1 << 22, np.float32), **fields(operator, is_decreasing=True))
    asked = {"OutputTensor": np.ones(1 << 22, bool)}
    kept = {"values": 4 << 22, "bounds": 0}
    for measured, own in kept.items():
        tracemalloc.start()
        try:
            if measured == "values":
                assert engine.run(desc, inputs)["OutputTensor"].size == 1 << 22
            else:
                assert sum(at.size for _, at, _ in bounds(desc, inputs, asked)) == 1 << 22
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak - own < 64 << 20, measured


# ---- what the order decides


def associations(ufunc: np.ufunc, numbers: Array) -> list[Any]:
    """Return what a type gives for some numbers, for every way to put them in parentheses."""
    if numbers.size == 1:
        return [numbers[0]]
    pairs = [
        (left, right)
        for cut in range(1, numbers.size)
        for left in associations(ufunc, numbers[:cut])
        for right in associations(ufunc, numbers[cut:])
    ]
    return [ufunc(left, right) for left, right in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("operator", [SUM, PRODUCT])
def test_defined_results_overflow_in_every_order_or_in_none(operator: str) -> None:
    generator = np.random.default_rng(8)
    values = [0, 1, -2, 3e4, -4e4, 6e4, INF, -INF, NAN] if operator == SUM else [0, 3, 300, -0.5, 1e-3, 40, INF, NAN]
    chances = [0.13] * 6 + [0.22 / (len(values) - 6)] * (len(values) - 6)
    needless = count = 0
    for _ in range(300):
        tensor = generator.choice(values, 5, p=chances).astype(np.float16)
        is_undefined = marks(operator, tensor, **fields(operator))
        found = computed(operator, tensor, **fields(operator))
        for last in range(5):
            with np.errstate(all="ignore"):
                given = {str(each) for each in associations(UFUNCS[operator], tensor[: last + 1])}
            special = {"inf", "-inf", "nan"} & given
            if is_undefined[last]:
                count += 1
                needless += given <= {str(found[last])} or (operator == SUM and not special)
            else:
                assert not special or given == {str(found[last])}, (tensor, last)
    assert count > 50
    assert needless <= count / 2  # a run over an infinity or a 0 counts as one over 1


@pytest.mark.parametrize("operator", [SUM, PRODUCT])
def test_marks_move_with_the_results(operator: str) -> None:
    numbers = [6e4, 6e4, -6e4, 1] if operator == SUM else [300, 300, 0.1, 1]
    tensor = np.array(numbers, np.float16)
    found = partial(marks, operator)
    assert found(tensor, **fields(operator)).tolist() == [False, False, True, True]
    assert found(tensor, **fields(operator, is_exclusive=True)).tolist() == [False, False, False, True]
    back = tensor[::-1].copy()
    assert found(back, **fields(operator, is_decreasing=True)).tolist() == [True, True, False, False]
    down = fields(operator, is_decreasing=True, is_exclusive=True)
    assert found(back, **down).tolist() == [True, False, False, False]
