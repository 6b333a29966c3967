"""Steps on the way that overflow or that are in FLOAT16, and what only looks like it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from valid_descs import valid

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.known_faults import in_float16, overflow
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds

Array = np.ndarray[Any, Any]
X = np.random.default_rng(7).uniform(-3, 3, (4, 32))


def wrong_softmax(x: Array, actual: Array) -> WrongOutput:
    """Return a wrong result of ACTIVATION_SOFTMAX1 along the last axis."""
    tensor = {"DataType": "FLOAT16" if x.dtype == np.float16 else "FLOAT32", "Sizes": list(x.shape)}
    fields = {"InputTensor": tensor, "OutputTensor": tensor, "Axes": [x.ndim - 1]}
    desc = valid("ACTIVATION_SOFTMAX1", fields)
    inputs, limit = {"InputTensor": x}, limit_for(desc, None)
    wanted = desc.tensors()[-1].tensor, engine.run(desc, inputs)["OutputTensor"]
    compared = compare(
        {"OutputTensor": wanted},
        {"OutputTensor": actual},
        limit,
        lambda asked, *, is_likely=False: bounds(desc, inputs, asked, is_likely=is_likely),
    )
    mask = compared["OutputTensor"].refused
    assert mask is not None
    return WrongOutput(desc, inputs, "OutputTensor", *wanted, actual, limit, mask)


def naive(x: Array) -> Array:
    with np.errstate(all="ignore"):
        powers = np.exp(x)
        return np.asarray(powers / np.add.reduce(powers, axis=-1, keepdims=True, dtype=x.dtype))


@pytest.mark.parametrize(("dtype", "high", "name"), [(np.float32, 100, "FLOAT32"), (np.float16, 20, "FLOAT16")])
def test_an_exponential_that_overflows_is_named_with_its_type(dtype: Any, high: float, name: str) -> None:
    x = (X + high).astype(dtype)
    words = f"exp overflows {name} on the way: is the largest element taken out of the exponents?"
    assert overflow(wrong_softmax(x, naive(x))) == words


def test_nan_where_nothing_overflows_is_no_overflow() -> None:
    x = X.astype(np.float32)
    assert overflow(wrong_softmax(x, np.full_like(x, np.nan))) is None


def test_nan_of_some_elements_only_is_no_overflow_of_all() -> None:
    x = (X + 100).astype(np.float32)
    actual = naive(x)
    actual[0] = 0.5
    assert overflow(wrong_softmax(x, actual)) is None


def test_steps_in_float16_are_told_from_a_factor_and_from_noise() -> None:
    x = X.astype(np.float16)
    right = wrong_softmax(x, np.zeros_like(x)).expected.astype(np.float64)
    assert (
        in_float16(wrong_softmax(x, naive(x))) == "the errors are as large as those of intermediate results in FLOAT16"
    )
    assert in_float16(wrong_softmax(x, (right * 1.003).astype(np.float16))) is None
    noise = np.random.default_rng(1).choice([0.997, 1.003], x.shape)
    assert in_float16(wrong_softmax(x, (right * noise).astype(np.float16))) is None


def test_float32_results_have_no_steps_in_float16() -> None:
    x = X.astype(np.float32)
    assert in_float16(wrong_softmax(x, naive(x.astype(np.float16)).astype(np.float32))) is None
