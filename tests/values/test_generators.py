"""Generated values: the same numbers everywhere, in range, exact or rounded once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dmlcheck.values.generators import random, random_bits, sequence

BINARY = {"FLOAT16": (11, -14, 15), "FLOAT32": (24, -126, 127), "FLOAT64": (53, -1022, 1023)}
LIMITS = {
    "INT4": (-8, 7),
    "INT8": (-128, 127),
    "INT16": (-(2**15), 2**15 - 1),
    "INT32": (-(2**31), 2**31 - 1),
    "INT64": (-(2**63), 2**63 - 1),
    "UINT4": (0, 15),
    "UINT8": (0, 255),
    "UINT16": (0, 2**16 - 1),
    "UINT32": (0, 2**32 - 1),
    "UINT64": (0, 2**64 - 1),
}
DTYPES = {
    "FLOAT16": "f2", "FLOAT32": "f4", "FLOAT64": "f8",
    "INT4": "i1", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8",
    "UINT4": "u1", "UINT8": "u1", "UINT16": "u2", "UINT32": "u4", "UINT64": "u8",
}  # fmt: skip


def splitmix64(seed: int) -> Iterator[int]:
    """Yield SplitMix64's numbers as its authors wrote it: a state that grows, and a mixer."""
    mask = 0xFFFFFFFFFFFFFFFF
    state = seed & mask
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def nearest(value: Fraction, data_type: str) -> Fraction:
    """Round a rational number to nearest even in an IEEE format."""
    precision, least, most = BINARY[data_type]
    size = abs(value)
    exponent = max(least, size.numerator.bit_length() - size.denominator.bit_length() - 1)
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - precision + 1)
    rounded = round(size / unit) * unit  # round() of a Fraction goes to even
    assert rounded < Fraction(2) ** (most + 1)
    return -rounded if value < 0 else rounded


def floats(data_type: str, limit: float) -> st.SearchStrategy[float]:
    return st.floats(
        -limit, limit, width={"FLOAT16": 16, "FLOAT32": 32, "FLOAT64": 64}[data_type], allow_subnormal=False
    )


# ---- random bits


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B]),
        (
            1234567,
            [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821],
        ),
    ],
)
def test_the_stream_of_a_seed_is_the_published_one_of_splitmix64(seed: int, expected: list[int]) -> None:
    assert list(islice(splitmix64(seed), 5)) == expected
    assert random_bits(seed, 0, 5).tolist() == expected


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70), st.integers(0, 50), st.integers(0, 20))
@example(2**64 - 1, 0, 5)
@example(-(2**63), 3, 5)
def test_any_part_of_any_seeds_stream_is_that_of_splitmix64(seed: int, begin: int, count: int) -> None:
    assert random_bits(seed, begin, begin + count).tolist() == list(islice(splitmix64(seed), begin, begin + count))


def test_a_stream_is_reached_at_any_position_without_what_precedes_it() -> None:
    far = 2**40
    # The state of SplitMix64 is a multiple of its constant, so a far part is the start of another seed's stream.
    assert random_bits(5, far, far + 3).tolist() == list(islice(splitmix64(5 + far * 0x9E3779B97F4A7C15), 3))


def test_seeds_that_differ_by_2_to_the_64th_are_one_seed() -> None:
    assert random("UINT32", 9, -1, 0, 1000).tolist() == random("UINT32", 9, 2**64 - 1, 0, 1000).tolist()
    assert random("FLOAT32", 9, 7, 0, 1).tolist() == random("FLOAT32", 9, 7 + 2**200, 0, 1).tolist()


# ---- random integers


@pytest.mark.parametrize(
    ("data_type", "seed", "low", "high", "expected"),
    [
        # The first number of seed 0 is 0xE220A8397B1DCDAF: its low byte is 0xAF, 175; then 0xF4, 0x4F, 0xEC, 0x9B.
        ("UINT8", 0, 0, 255, [0xAF, 0xF4, 0x4F, 0xEC, 0x9B]),
        ("INT8", 0, -128, 127, [47, 116, -49, 108, 27]),
        ("UINT4", 0, 0, 15, [15, 4, 15, 12, 11]),
        ("INT4", 0, -8, 7, [7, -4, 7, 4, 3]),
        ("UINT64", 0, 0, 2**64 - 1, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]),
        # The last decimal digits of seed 1234567's numbers.
        ("INT32", 1234567, 0, 9, [7, 3, 3, 1, 1]),
        ("INT64", 1234567, -5, 4, [2, -2, -2, -4, -4]),
        ("UINT16", 1234567, 1, 100, [18, 74, 24, 32, 22]),
    ],
)
def test_random_integers_are_the_streams_remainders(
    data_type: str, seed: int, low: int, high: int, expected: list[int]
) -> None:
    assert random(data_type, len(expected), seed, low, high).tolist() == expected


def test_random_integers_over_all_64_bits_are_the_stream_itself() -> None:
    stream = list(islice(splitmix64(3), 20))
    assert random("UINT64", 20, 3, 0, 2**64 - 1).tolist() == stream
    assert random("INT64", 20, 3, -(2**63), 2**63 - 1).tolist() == [number - 2**63 for number in stream]


@settings(deadline=None)
@given(st.sampled_from(sorted(LIMITS)), st.integers(-(2**65), 2**65), st.data())
def test_random_integers_agree_with_plain_python_and_keep_their_range(
    data_type: str, seed: int, data: st.DataObject
) -> None:
    low = data.draw(st.integers(*LIMITS[data_type]), label="low")
    high = data.draw(st.integers(low, LIMITS[data_type][1]), label="high")
    found = random(data_type, 12, seed, low, high)
    assert found.dtype == np.dtype(DTYPES[data_type])
    assert found.tolist() == [low + number % (high - low + 1) for number in islice(splitmix64(seed), 12)]
    assert all(low <= number <= high for number in found.tolist())


@pytest.mark.parametrize("data_type", [*LIMITS, *BINARY])
def test_random_numbers_between_a_number_and_itself_are_that_number(data_type: str) -> None:
    for number in {0, 3, LIMITS.get(data_type, (-3, 0))[0], LIMITS.get(data_type, (0, 65504))[1]}:
        assert random(data_type, 4, 99, number, number).tolist() == [number] * 4


def test_every_integer_of_a_small_range_comes_up() -> None:
    assert set(random("INT8", 200, 1, -2, 2).tolist()) == {-2, -1, 0, 1, 2}


# ---- random floats


@pytest.mark.parametrize(
    ("data_type", "seed", "low", "high", "expected"),
    [
        # The top 53 bits of seed 0's numbers: 0xE220A8397B1DCDAF without its last 11 bits is 0x1C4415072F63B9.
        ("FLOAT64", 0, 0, 1, [0x1C4415072F63B9 / 2**53, 0xDCF13CD54372C / 2**53, 0xD88BA3100128 / 2**53]),
        ("FLOAT64", 0, -1, 1, [0x1C4415072F63B9 / 2**52 - 1]),
        ("FLOAT32", 0, 0, 1, [0xE220A8 / 2**24]),
        ("FLOAT16", 0, 0, 1, [0x711 / 2**11]),
        ("FLOAT16", 0, 0, 2, [0x711 / 2**10]),
    ],
)
def test_random_floats_are_the_streams_top_bits(
    data_type: str, seed: int, low: float, high: float, expected: list[float]
) -> None:
    assert random(data_type, len(expected), seed, low, high).tolist() == expected


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(sorted(BINARY)), st.integers(-(2**65), 2**65), st.data())
def test_random_floats_agree_with_plain_python_and_keep_their_range(
    data_type: str, seed: int, data: st.DataObject
) -> None:
    limit = 65504.0 if data_type == "FLOAT16" else 1e30 if data_type == "FLOAT32" else 1e300
    limit = float(np.float32(limit)) if data_type == "FLOAT32" else limit
    low, high = sorted(data.draw(st.tuples(floats(data_type, limit), floats(data_type, limit)), label="bounds"))
    found = random(data_type, 12, seed, low, high)
    assert found.dtype == np.dtype(DTYPES[data_type])
    for number, bits in zip(found.tolist(), islice(splitmix64(seed), 12), strict=True):
        assert low <= number <= high
        wide = low + (bits >> 11) / 2**53 * (high - low)
        assert Fraction(number) == nearest(Fraction(wide), data_type)


@pytest.mark.parametrize("largest", [1.7976931348623157e308, 1e308])
def test_random_floats_over_all_of_float64_stay_finite_and_in_range(largest: float) -> None:
    found = random("FLOAT64", 1000, 7, -largest, largest)
    assert np.isfinite(found).all()
    assert (np.abs(found) <= largest).all()
    assert found.min() < 0 < found.max()


def test_random_floats_over_binades_are_divided_by_the_power_that_the_streams_low_bits_say() -> None:
    # The first number of seed 0 is 0xE220A8397B1DCDAF: its top 53 bits are the float, and 0x5AF, its low 11, is 1455.
    first = float(random("FLOAT64", 1, 0, 0, 1)[0])
    assert first == (0xE220A8397B1DCDAF >> 11) / 2**53
    assert random("FLOAT64", 1, 0, 0, 1, 20)[0] == first / 2 ** (1455 % 21)
    assert random("FLOAT64", 1, 0, 0, 1, 1023)[0] == first / 2 ** (1455 % 1024)


def test_random_floats_over_binades_have_all_their_magnitudes() -> None:
    found = random("FLOAT32", 4096, 3, 1, 1, 9)
    assert sorted(set(found.tolist())) == [2.0**-k for k in range(9, -1, -1)]


def test_random_floats_spread_over_their_range() -> None:
    found = random("FLOAT32", 4096, 11, -1, 1)
    # A mean of 4096 numbers of variance 1/3 strays by more than 0.05 once in 10^7.
    assert abs(float(found.mean(dtype=np.float64))) < 0.05
    assert found.min() < -0.99
    assert found.max() > 0.99


# ---- sequences


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(sorted(LIMITS)), st.integers(1, 40), st.data())
def test_a_sequence_of_integers_is_exact(data_type: str, count: int, data: st.DataObject) -> None:
    least, most = LIMITS[data_type]
    start = data.draw(st.integers(least, most), label="start")
    gaps = max(1, count - 1)
    step = data.draw(st.integers(-((start - least) // gaps), (most - start) // gaps), label="step")
    found = sequence(data_type, count, start, step)
    assert found.dtype == np.dtype(DTYPES[data_type])
    assert found.tolist() == [start + index * step for index in range(count)]


@pytest.mark.parametrize(
    ("data_type", "start", "step", "expected"),
    [
        ("INT64", 2**53, 1, [2**53, 2**53 + 1, 2**53 + 2]),
        ("INT64", -(2**63), 2**62, [-(2**63), -(2**62), 0]),
        ("UINT64", 2**64 - 1, -1, [2**64 - 1, 2**64 - 2, 2**64 - 3]),
        ("UINT64", 0, 2**63 - 1, [0, 2**63 - 1, 2**64 - 2]),
        ("FLOAT32", 1, 0.5, [1.0, 1.5, 2.0]),
        ("FLOAT16", 2047, 1, [2047.0, 2048.0, 2048.0]),
        ("FLOAT64", 0, -0.25, [0.0, -0.25, -0.5]),
    ],
)
def test_a_sequence_steps_from_its_start(data_type: str, start: float, step: float, expected: list[Any]) -> None:
    assert sequence(data_type, 3, start, step).tolist() == expected


@pytest.mark.parametrize(
    ("data_type", "start", "step", "expected"),
    [
        # 1 + (2^-24 + 2^-60): float64 drops the 2^-60, and what is left is halfway between two FLOAT32.
        ("FLOAT32", 1, 2**-24 + 2**-60, [1.0, 1 + 2**-23]),
        ("FLOAT16", 1, 2**-11 + 2**-60, [1.0, 1 + 2**-10]),
        # 2^60 + 2^36 + 1: float64 drops the 1, as above.
        ("FLOAT32", 2**60 + 2**36 + 1, 0, [2.0**60 + 2.0**37] * 2),
        # Just above halfway between two FLOAT64.
        ("FLOAT64", 1.0, 2**-53 + 2**-100, [1.0, 1 + 2**-52]),
    ],
)
def test_a_sequence_of_floats_is_rounded_once(data_type: str, start: float, step: float, expected: list[float]) -> None:
    assert sequence(data_type, 2, start, step).tolist() == expected


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(["FLOAT16", "FLOAT32"]), st.floats(-1000, 1000), st.floats(-10, 10), st.integers(1, 30))
def test_a_sequence_of_narrow_floats_agrees_with_fractions(
    data_type: str, start: float, step: float, count: int
) -> None:
    check_sequence(data_type, start, step, count)


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(-1000, 1000), st.floats(-10, 10), st.integers(1, 30))
@example(0.1, 0.1, 30)
def test_a_sequence_of_float64_agrees_with_fractions(start: float, step: float, count: int) -> None:
    check_sequence("FLOAT64", start, step, count)


def check_sequence(data_type: str, start: float, step: float, count: int) -> None:
    found = sequence(data_type, count, start, step)
    expected = [nearest(Fraction(start) + index * Fraction(step), data_type) for index in range(count)]
    assert [Fraction(number) for number in found.tolist()] == expected


def test_a_sequence_longer_than_one_block_goes_on_where_it_was() -> None:
    count = 2**20 + 3
    assert sequence("INT32", count, 10, 2)[-4:].tolist() == [10 + 2 * index for index in range(count - 4, count)]
    assert sequence("FLOAT64", count, 0, 0.5)[-4:].tolist() == [index / 2 for index in range(count - 4, count)]


@pytest.mark.slow
def test_random_numbers_longer_than_one_block_go_on_where_they_were() -> None:
    count = 2**20 + 3
    expected = list(islice(splitmix64(4), count - 4, count))
    assert random("UINT64", count, 4, 0, 2**64 - 1)[-4:].tolist() == expected


def test_a_shorter_tensor_holds_the_start_of_a_longer_one() -> None:
    assert random("FLOAT32", 10, 8, -1, 1).tolist() == random("FLOAT32", 100, 8, -1, 1)[:10].tolist()
