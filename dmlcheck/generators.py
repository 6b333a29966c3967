"""Generated values: sequences and random numbers, the same on every platform and NumPy version."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmlcheck.floats import NUMPY_TYPES
from dmlcheck.header import DATA_TYPES

_BLOCK = 1 << 20


def sequence(data_type: str, count: int, start: Any, step: Any) -> NDArray[Any]:
    """Return start + i * step: integers exactly, floats computed in float64 and rounded to the data type."""
    dtype = NUMPY_TYPES[data_type]
    values = np.empty(count, dtype=dtype)
    for begin in range(0, count, _BLOCK):
        index = np.arange(begin, min(count, begin + _BLOCK))
        with np.errstate(over="ignore"):
            if DATA_TYPES[data_type].kind == "float":
                values[begin : begin + _BLOCK] = (start + index * float(step)).astype(dtype)
            else:
                wide = np.uint64(start % 2**64) + index.astype(np.uint64) * np.uint64(step % 2**64)
                values[begin : begin + _BLOCK] = wide.astype(dtype)
    return values


def random(data_type: str, count: int, seed: int, low: Any, high: Any) -> NDArray[Any]:
    """Return random numbers: floats evenly from low to high, integers from low to high inclusive."""
    dtype = NUMPY_TYPES[data_type]
    values = np.empty(count, dtype=dtype)
    for begin in range(0, count, _BLOCK):
        bits = random_bits(seed, begin, min(count, begin + _BLOCK))
        if DATA_TYPES[data_type].kind == "float":
            unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
            values[begin : begin + _BLOCK] = (low + unit * (float(high) - float(low))).astype(dtype)
        else:
            span = int(high) - int(low) + 1
            offset = bits % np.uint64(span) if span < 2**64 else bits
            values[begin : begin + _BLOCK] = (offset + np.uint64(int(low) % 2**64)).astype(dtype)
    return values


def random_bits(seed: int, begin: int, end: int) -> NDArray[np.uint64]:
    """Return numbers `begin` to `end` of the stream of 64-bit numbers that a seed stands for: SplitMix64, by position.

    Only integer arithmetic modulo 2^64 goes into it.
    Source: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
    """
    index = np.arange(begin + 1, end + 1, dtype=np.uint64)
    state = np.uint64(seed % 2**64) + index * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
