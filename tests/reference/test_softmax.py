"""The softmax family against mpmath, bit for bit, whole and in blocks; and ADD1 with every activation that it fuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from reference.test_pointwise import ROWS, rounded_to_odd

import dmlcheck
from dmlcheck.reference.kernels import _blocks, softmax

Array = np.ndarray[Any, Any]

DIGITS = mpmath.workprec(1000)  # bits: two FLOAT32 may be 277 apart
TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}
NEXT_TO_NOTHING = mpf(2) ** -800  # for what is above 0 and beyond so many bits


def rounded(values: list[Any], data_type: str) -> Array:
    """Round numbers of mpmath's once."""
    with np.errstate(all="ignore"):
        return np.array([rounded_to_odd(mpf(value)) for value in values]).astype(TYPES[data_type])


def differing(found: Array, right: Array) -> list[Any]:
    wrong = ~((found == right) | (np.isnan(found) & np.isnan(right)))
    return list(zip(np.flatnonzero(wrong).tolist(), found[wrong].tolist(), right[wrong].tolist(), strict=True))


# ---- softmax


def power(x: Any) -> Any:
    return mpmath.exp(x) if x > -(10**6) else mpf(2) ** -(10**6)


def right_softmax(row: list[float], is_log: bool) -> list[Any]:
    """Return the results of a group of numbers and -infinity, whose largest element is finite."""
    largest = max(row)
    finite = [mpf(x) - mpf(largest) for x in row if x > -math.inf]
    finite.remove(0)
    others = mpmath.fsum(power(x) for x in finite)
    if not is_log:
        return [power(mpf(x) - mpf(largest)) / (1 + others) if x > -math.inf else 0 for x in row]
    less = mpmath.log1p(others) if others > NEXT_TO_NOTHING or not finite else NEXT_TO_NOTHING
    return [(mpf(x) - mpf(largest) if x < largest else 0) - less if x > -math.inf else x for x in row]


def groups(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[Array]:
    """Return the places of the elements of each group."""
    places = np.arange(math.prod(shape)).reshape(shape)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    return list(places.transpose(*kept, *axes).reshape(-1, math.prod(shape[axis] for axis in axes)))


def right(tensor: Array, axes: tuple[int, ...], data_type: str, is_log: bool) -> Array:
    flat, results = tensor.reshape(-1), np.empty(tensor.size, tensor.dtype)
    with DIGITS:
        for group in groups(tensor.shape, axes):
            results[group] = rounded(right_softmax(flat[group].tolist(), is_log), data_type)
    return results


def computed(operator: str, tensor: Array, data_type: str, **fields: Any) -> Array:
    desc = {"DataType": data_type, "Sizes": list(tensor.shape)}
    given = {"InputTensor": desc, "OutputTensor": desc, **fields}
    return dmlcheck.evaluate(f"DML_OPERATOR_{operator}", given, {"InputTensor": tensor})["OutputTensor"].reshape(-1)


def elements(generator: np.random.Generator, shape: tuple[int, ...], data_type: str) -> Array:
    """Return elements of one scale or of all, with equal ones, and -infinity here and there."""
    limit = float(np.finfo(TYPES[data_type]).max)
    scale = generator.choice([2.0**-12, 0.1, 1, 10, 100, 1000, limit / 2**20, limit / 8])
    values = generator.normal(size=shape) * scale
    if generator.random() < 0.3:
        values *= 2.0 ** -generator.integers(0, 30, shape)
    if generator.random() < 0.3:
        values = np.rint(values)
    flat = np.clip(values, -limit, limit).reshape(-1).astype(TYPES[data_type])
    if generator.random() < 0.3:
        flat[generator.random(flat.size) < 0.3] = flat.max()
    if generator.random() < 0.2:
        flat[1:][generator.random(flat.size - 1) < 0.2] = -math.inf
    return flat.reshape(shape)


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((40, 2), (1,)),
    ((20, 5), (1,)),
    ((3, 33), (1,)),
    ((7, 3, 2), (0, 2)),
    ((2, 3, 2, 2), (3, 1)),
    ((3, 2, 3), (2, 0, 1)),
    ((4, 3), ()),
    ((1, 1, 2, 1, 1, 3, 2, 1), (6, 2, 0)),
    ((200,), (0,)),
]


def has_finite_groups(tensor: Array, axes: tuple[int, ...]) -> bool:
    return all(tensor.reshape(-1)[group].max() > -math.inf for group in groups(tensor.shape, axes))


def tensors(data_type: str, seed: int, rounds: int) -> Iterator[tuple[Array, tuple[int, ...]]]:
    generator = np.random.default_rng(seed)
    for (shape, axes), _ in product(SHAPES, range(rounds)):
        tensor = elements(generator, shape, data_type)
        if has_finite_groups(tensor, axes):
            yield tensor, axes


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(("operator", "is_log"), [("ACTIVATION_SOFTMAX1", False), ("ACTIVATION_LOG_SOFTMAX1", True)])
def test_the_results_of_groups_are_the_mathematical_ones_rounded_once(
    operator: str, is_log: bool, data_type: str
) -> None:
    count = 0
    for tensor, axes in tensors(data_type, 23, 8):
        found = computed(operator, tensor, data_type, Axes=list(axes))
        assert differing(found, right(tensor, axes, data_type, is_log)) == [], (tensor, axes)
        count += len(groups(tensor.shape, axes))
    assert count > 400


@pytest.mark.parametrize("shape", [(9,), (4, 6), (1, 1, 4, 6), (1, 1, 1, 1, 1, 5, 3), (1, 1, 1, 7)])
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(("operator", "is_log"), [("ACTIVATION_SOFTMAX", False), ("ACTIVATION_LOG_SOFTMAX", True)])
def test_without_axes_the_rows_are_those_of_the_last_dimension(
    operator: str, is_log: bool, data_type: str, shape: tuple[int, ...]
) -> None:
    tensor = np.linspace(-7, 9, math.prod(shape)).reshape(shape).astype(TYPES[data_type])
    found = computed(operator, tensor, data_type)
    assert differing(found, right(tensor, (len(shape) - 1,), data_type, is_log)) == []


@pytest.mark.parametrize(("data_type", "digits"), [("FLOAT32", 24), ("FLOAT16", 11)])
def test_beside_a_halfway_point_the_curve_decides(data_type: str, digits: int) -> None:
    # 1 / (1 + exp(-x)) = 1/2 + x/4 - x^3/48, and 1/2 + x/4 is halfway between two numbers of the type.
    x = np.array([sign * count * 2.0 ** (1 - digits) for count in range(1, 256, 2) for sign in (1, -1)])
    tensor = np.stack([np.zeros(x.size), x], axis=1).astype(TYPES[data_type])
    found = computed("ACTIVATION_SOFTMAX", tensor, data_type)
    assert differing(found, right(tensor, (1,), data_type, False)) == []


@pytest.mark.parametrize(("data_type", "digits"), [("FLOAT32", 24), ("FLOAT16", 11)])
@pytest.mark.parametrize("others", [[], [-math.inf], [-math.inf, 0.0]])
def test_a_difference_halfway_between_two_numbers_goes_by_what_is_taken_off(
    data_type: str, digits: int, others: list[float]
) -> None:
    # 2^digits + 1, 3, ... are halfway; the logarithm of a sum of more than one power is above 0, however small.
    rows = [[largest, -(2.0**digits), *others] for largest in (1.0, 3.0, 5.0, 7.0)]
    tensor = np.array(rows, TYPES[data_type])
    found = computed("ACTIVATION_LOG_SOFTMAX", tensor, data_type)
    assert differing(found, right(tensor, (1,), data_type, True)) == []


@contextmanager
def blocks_of(count: int) -> Iterator[None]:
    """Cut tensors into blocks of so many elements; longer rows come in chunks, and are not rounded exactly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "BLOCK", count)
        patch.setattr(softmax, "BLOCK", count)
        patch.setattr(softmax, "MAX_EXACT_TERMS", count)
        yield


@pytest.mark.parametrize("block", [1, 2, 3, 7])
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("operator", ["ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1"])
def test_in_chunks_the_results_are_off_by_next_to_nothing(operator: str, data_type: str, block: int) -> None:
    for tensor, axes in tensors(data_type, 29, 4):
        whole = computed(operator, tensor, data_type, Axes=list(axes))
        with blocks_of(block):
            cut = computed(operator, tensor, data_type, Axes=list(axes))
        steps = (
            np.nextafter(whole, np.array(math.inf, whole.dtype)),
            np.nextafter(whole, np.array(-math.inf, whole.dtype)),
        )
        assert ((cut == whole) | (cut == steps[0]) | (cut == steps[1])).all()
        assert (cut == whole).mean() > 0.9


@pytest.mark.parametrize("block", [1, 3, 1 << 17])
@pytest.mark.parametrize("operator", ["ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX"])
def test_rows_of_infinity_alone_are_left_open_and_rows_of_nan_are_nan(operator: str, block: int) -> None:
    inf, nan = math.inf, math.nan
    rows = [[0, 1], [inf, 1], [-inf, inf], [-inf, -inf], [-inf, 1], [nan, 1], [inf, nan], [-inf, nan]]
    tensor = np.array(rows, np.float32)
    with blocks_of(block), np.errstate(all="ignore"):
        result = softmax.KERNELS[operator](tensor)
        is_open = np.zeros(tensor.shape, bool)
        for index, wide in result.tiles():
            is_open[index] = wide.unspecified.reshape(is_open[index].shape)
        found = computed(operator, tensor, "FLOAT32").reshape(tensor.shape)
    assert is_open.all(axis=1).tolist() == is_open.any(axis=1).tolist()
    assert is_open.all(axis=1).tolist() == [False, True, True, True, False, False, False, False]
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True, True, False, True, True, True]


@pytest.mark.parametrize("operator", ["ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX"])
def test_what_float64_leaves_in_doubt_is_little(operator: str) -> None:
    tensor = np.random.default_rng(31).normal(size=(4, 1000)).astype(np.float32)
    tensor[1, ::3], tensor[2, ::3] = -math.inf, -1000
    with np.errstate(all="ignore"):
        for _, wide in softmax.KERNELS[operator](tensor).tiles():
            finite = np.isfinite(wide.value)
            assert wide.error is not None
            assert (wide.error[finite] <= 2.0**-45 * np.abs(wide.value[finite])).all()
            assert (wide.error[~finite] == 0).all()
            assert (wide.error[finite & (wide.value != 0)] > 0).all()
            assert finite.mean() > 0.9


def test_a_logarithm_of_1_is_no_negative_zero_and_one_of_just_below_is() -> None:
    tensor = np.array([[5, -math.inf], [5, -1000]], np.float32)
    found = computed("ACTIVATION_LOG_SOFTMAX", tensor, "FLOAT32")
    assert (found[[0, 2]] == 0).all()
    assert np.signbit(found[[0, 2]]).tolist() == [False, True]


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(("operator", "is_log"), [("ACTIVATION_SOFTMAX1", False), ("ACTIVATION_LOG_SOFTMAX1", True)])
def test_what_settles_a_doubt_is_right_itself(
    operator: str, is_log: bool, data_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(softmax, "U", 2.0**-20)  # which leaves nearly everything in doubt
    for tensor, axes in tensors(data_type, 41, 2):
        found = computed(operator, tensor, data_type, Axes=list(axes))
        assert differing(found, right(tensor, axes, data_type, is_log)) == [], (tensor, axes)


# ---- ADD1

FUSED: list[tuple[str, dict[str, Any], Callable[[Any], Any]]] = [
    ("ACTIVATION_IDENTITY", {}, lambda x: x),
    ("ACTIVATION_RELU", {}, lambda x: max(x, mpf(0))),
    ("ACTIVATION_GELU", {}, lambda x: x - x * max(mpmath.erfc(x / mpmath.sqrt(2)) / 2, NEXT_TO_NOTHING)),
    *(row for row in ROWS if row[0].startswith("ACTIVATION_") and row[0][11:] not in ("GELU", "HARD_SWISH", "SWISH")),
    ("ACTIVATION_LINEAR", {"Alpha": 1, "Beta": -1}, lambda x: x - 1),
    ("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 1}, lambda x: x if x > 1 else mpf(0)),
    ("ACTIVATION_LINEAR", {"Alpha": 0.25, "Beta": 0}, lambda x: x / 4),
    ("ACTIVATION_SHRINK", {"Bias": 1, "Threshold": 0.5}, lambda x: x - mpmath.sign(x) if abs(x) > 0.5 else mpf(0)),
    ("ACTIVATION_HARD_SIGMOID", {"Alpha": 0.5, "Beta": 0.5}, lambda x: min(max(x / 2 + 0.5, mpf(0)), mpf(1))),
]


def pairs(data_type: str) -> tuple[Array, Array]:
    """Return summands of one scale, of all and near 0; that cancel, leave little beside 1, end halfway or overflow."""
    generator = np.random.default_rng(37)
    digits, count = {"FLOAT32": 24, "FLOAT16": 11}[data_type], 50
    largest = {"FLOAT32": 120, "FLOAT16": 13}[data_type]
    plain = generator.normal(size=(2, count)) * 3
    wide = generator.normal(size=(2, count)) * 2.0 ** generator.integers(-largest, largest, (2, count))
    almost = plain[0] * (-1 + 2.0 ** -generator.integers(1, digits, count))
    unit, little = generator.choice([1.0, -1.0], count), generator.normal(size=count)
    little *= 2.0 ** -generator.integers(1, 2 * digits, count)
    powers = generator.integers(-min(largest, 13 if digits == 11 else 60), min(largest, 9), count)
    halfway = unit * (1 + generator.integers(0, 8, count) * 2.0 ** (1 - digits)) * 2.0**powers
    half = generator.choice([1.0, -1.0], count) * 2.0 ** (powers - digits)
    most = np.full(4, float(np.finfo(TYPES[data_type]).max)) * [1, 1, -1, -1]
    tiny = generator.normal(size=(2, count)) * 2.0 ** {"FLOAT32": -27, "FLOAT16": -10}[data_type]
    first = np.concatenate([plain[0], wide[0], tiny[0], plain[0], unit, halfway, most])
    second = np.concatenate([plain[1], wide[1], tiny[1], almost, little, half, most * [1, -0.5, 1, 0.25]])
    return first.astype(TYPES[data_type]), second.astype(TYPES[data_type])


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(
    ("operator", "attributes", "function"), FUSED, ids=["-".join((row[0], *row[1])) for row in FUSED]
)
def test_a_fused_activation_is_given_the_sum_before_it_is_rounded(
    operator: str, attributes: dict[str, Any], function: Callable[[Any], Any], data_type: str
) -> None:
    a, b = pairs(data_type)
    tensor = {"DataType": data_type, "Sizes": [a.size]}
    desc = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor}
    desc["FusedActivation"] = {"Type": operator, **attributes}
    found = dmlcheck.evaluate("DML_OPERATOR_ELEMENT_WISE_ADD1", desc, {"ATensor": a, "BTensor": b})["OutputTensor"]
    with DIGITS:
        sums = [mpf(x) + mpf(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        assert differing(found, rounded([function(x) for x in sums], data_type)) == []


@pytest.mark.parametrize("data_type", TYPES)
def test_a_sum_is_rounded_once(data_type: str) -> None:
    a, b = pairs(data_type)
    tensor = {"DataType": data_type, "Sizes": [a.size]}
    desc = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor}
    found = dmlcheck.evaluate("DML_OPERATOR_ELEMENT_WISE_ADD1", desc, {"ATensor": a, "BTensor": b})["OutputTensor"]
    with DIGITS:
        sums = [mpf(x) + mpf(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert differing(found, rounded(sums, data_type)) == []


def test_every_activation_that_can_be_fused_is_computed() -> None:
    from dmlcheck.specs.load import load_spec

    listed = next(row for row in load_spec("DML_OPERATOR_ELEMENT_WISE_ADD1").constraints if row.id == "C4").args
    assert {row[0] for row in FUSED} == set(listed["FusedActivation"])
