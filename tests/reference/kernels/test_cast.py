"""CAST: every pair of types against fractions, which neighbours are right, and what is undefined."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from grouped import bound, computed, marks
from judged import case_of, giving, result_of

from dmlcheck.values.number_formats import round_exact

Array = np.ndarray[Any, Any]

FLOATS = ("FLOAT64", "FLOAT32", "FLOAT16")
INTEGERS = ("INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8")
PAIRS = list(product((*FLOATS, *INTEGERS), repeat=2))
INF, NAN = float("inf"), float("nan")


def some(data_type: str) -> Array:
    """Return numbers of all sizes: random bits of floats, integers of every number of bits."""
    generator, dtype = np.random.default_rng(7), np.dtype(data_type.lower())
    if dtype.kind == "f":
        numbers = generator.integers(0, 2 ** (8 * dtype.itemsize), 300, f"u{dtype.itemsize}").view(dtype)
        sizes = 10.0 ** generator.integers(-3, 5 if dtype.itemsize == 2 else 12, 300)
        ordinary = generator.uniform(-6, 6, 300) * sizes
        return np.concatenate([numbers, ordinary.astype(dtype), np.array([0, -0.0, 0.5, 65504, INF, -INF, NAN], dtype)])
    about = np.iinfo(dtype)
    bits = generator.integers(0, 8 * dtype.itemsize, 400)
    signs = generator.choice([1, -1], 400) if about.min else np.ones(400, int)
    limits = [about.min, about.max, about.max - 1, 0, 1]
    sized = [
        int(sign) * (int(generator.integers(2**63)) >> int(63 - bit)) for bit, sign in zip(bits, signs, strict=True)
    ]
    return np.array([*limits, *sized], dtype)


def to_integer(x: float, data_type: str, *, is_float: bool) -> int | None:
    """Return a number as an integer type has it, None where it is undefined."""
    about = np.iinfo(data_type.lower())
    if is_float and not math.isfinite(x):
        return None
    whole = math.trunc(Fraction(x))
    if about.min <= whole <= about.max:
        return whole
    return None if is_float or about.bits < 32 else int((whole - about.min) % 2**about.bits + about.min)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_pair_of_types(source: str, target: str) -> None:
    tensor = some(source)
    found, is_undefined = computed("CAST", tensor, target), marks("CAST", tensor, target)
    for x, value, mark in zip(tensor.tolist(), found.tolist(), is_undefined.tolist(), strict=True):
        if target in INTEGERS:
            right = to_integer(x, target, is_float=source in FLOATS)
            assert (right is None) == mark, x
            assert mark or value == right, x
        else:
            right = round_exact(Fraction(x), target) if math.isfinite(x) else x
            assert str(value) == str(right) or value == right, x
    assert target in INTEGERS or not is_undefined.any()


def neighbours(x: float, target: str) -> set[float]:
    """Return the floats of a type on both sides of a number, or the number alone."""
    near = np.dtype(target.lower()).type(round_exact(Fraction(x), target))
    if np.isfinite(near) and Fraction(float(near)) == Fraction(x):
        return {float(near)}
    is_above = (math.isinf(near) and near > 0) or (math.isfinite(near) and Fraction(float(near)) > Fraction(x))
    with np.errstate(all="ignore"):
        return {float(near), float(np.nextafter(near, near.dtype.type(-INF if is_above else INF)))}


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[1] in FLOATS])
def test_either_neighbour_is_right_and_no_other_number(source: str, target: str) -> None:
    tensor = some(source)
    tensor = tensor[np.isfinite(tensor)] if source in FLOATS else tensor
    allowed = bound("CAST", tensor, target)
    assert not allowed.is_rounded
    sides = [allowed.value, *(other.value for other in allowed.others)]
    for place, x in enumerate(tensor.tolist()):
        right = neighbours(x, target)
        if 0 < abs(x) < 2.0**-126 and "FLOAT32" in (source, target):
            right |= {0.0}
        assert {float(side[place]) for side in sides} == right, x


def test_exact_conversions_have_one_right_result() -> None:
    for source, target in [("FLOAT16", "FLOAT32"), ("FLOAT32", "FLOAT64"), ("INT16", "FLOAT32"), ("UINT32", "FLOAT64")]:
        numbers = np.array([1, 2, 3, 1000], source.lower())
        assert bound("CAST", numbers, target).others == (), (source, target)


@pytest.mark.parametrize("number", [2**63 - 1, 2**63 - 512, 2**63 - 2**38, 2**53 + 1, 2**24 + 1, -(2**63) + 1])
def test_64_bit_integers_are_beside_two_floats(number: int) -> None:
    allowed = bound("CAST", np.array([number], np.int64), "FLOAT32")
    found = {float(side.value[0]) for side in (allowed, *allowed.others)}
    assert found == neighbours(number, "FLOAT32")
    assert len(found) == 2


def test_beyond_the_largest_number_infinity_and_that_are_right() -> None:
    for tensor in (np.array([1e39, -1e39]), np.array([1e300, -1e300])):
        allowed = bound("CAST", tensor, "FLOAT32")
        largest = float(np.finfo(np.float32).max)
        assert [side.value.tolist() for side in (allowed, *allowed.others)] == [[INF, -INF], [largest, -largest]]


@pytest.mark.parametrize(
    ("source", "target", "given", "outcome"),
    [
        ("INT32", "UINT16", [65534, 4464, 61072], "passed"),  # a device with 16-bit operations
        ("INT32", "UINT16", [65535, 65535, 65535], "passed"),  # one without, as below
        ("INT32", "UINT16", [65534, 4464, 61073], "failed"),
        ("INT32", "INT16", [-2, 4464, -4464], "passed"),
        ("INT32", "INT16", [-2, 32767, -32768], "passed"),
        ("INT32", "INT16", [-2, 32767, 0], "failed"),
        ("INT8", "UINT16", [65535, 112, 65535], "passed"),
        ("INT8", "UINT16", [65534, 112, 65424], "failed"),
    ],
)
def test_devices_wrap_integers_in_16_bits_or_limit_them(
    source: str, target: str, given: list[int], outcome: str
) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30."""
    desc = {
        name: {"DataType": kind, "Sizes": [3]} for name, kind in (("InputTensor", source), ("OutputTensor", target))
    }
    inputs = {"InputTensor": [-2, 112, -112] if source == "INT8" else [-2, 70000, -70000]}
    assert result_of(case_of("CAST", desc, inputs), giving(given, is_directml=True)).outcome == outcome


def test_integers_wrap_in_32_and_64_bits_only() -> None:
    numbers = np.array([2**32 + 5, -1, -(2**31) - 1], np.int64)
    assert computed("CAST", numbers, "UINT32").tolist() == [5, 2**32 - 1, 2**31 - 1]
    assert computed("CAST", numbers, "INT32").tolist() == [5, -1, 2**31 - 1]
    assert not marks("CAST", numbers, "UINT32").any()
    assert computed("CAST", numbers, "UINT64").tolist() == [2**32 + 5, 2**64 - 1, 2**64 - 2**31 - 1]
    assert marks("CAST", numbers, "INT16").tolist() == [True, False, True]
    assert marks("CAST", np.array([2**64 - 1], np.uint64), "INT8").tolist() == [True]
