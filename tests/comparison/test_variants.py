"""Faults that are tried on the reference engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.comparison import known_faults
from dmlcheck.comparison.known_faults import likely_cause
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.comparison.variants import explaining, variants
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine

RANDOM = np.random.default_rng(11)


def gemm(**fields: Any) -> OperatorDesc:
    names = ("ATensor", "BTensor", "CTensor", "OutputTensor")
    tensors = {name: tensor(1, 1, 9, 9) for name in names}
    attributes = {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 1.5, "Beta": 0.5}
    return valid("GEMM", **{**tensors, **attributes, **fields})


MATRICES = {name: RANDOM.standard_normal((1, 1, 9, 9)).astype(np.float32) for name in ("ATensor", "BTensor", "CTensor")}


def wrong_output(desc: OperatorDesc, inputs: dict[str, Any], actual: np.ndarray) -> WrongOutput:
    """Return an output that is not what the engine computes, every different element marked."""
    label = "OutputTensor"
    expected = engine.run(desc, inputs)[label]
    tensor = desc.parts[label][0].tensor
    return WrongOutput(desc, inputs, label, tensor, expected, actual, limit_for(desc, None), expected != actual)


def causes(desc: OperatorDesc, inputs: dict[str, Any], actual: np.ndarray) -> list[str]:
    return list(explaining(wrong_output(desc, inputs, actual), end=math.inf))


def product(a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: float = 1.5, beta: float = 0.5) -> np.ndarray:
    """Alpha * A @ B + Beta * C, in float64 and without the engine."""
    found: np.ndarray = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * c.astype(np.float64)
    return found.astype(np.float32)


A, B, C = MATRICES.values()
BT = B.swapaxes(-1, -2)


@pytest.mark.parametrize(
    ("actual", "words"),
    [
        (product(A, B, C), "TransB were NONE"),
        (product(A, BT, C, alpha=1), "Alpha were 1"),
        (product(A, BT, C, 0.5, 1.5), "Alpha and Beta were exchanged"),
        (product(A.swapaxes(-1, -2), B, C), "TransA and TransB were exchanged"),
        (product(A, BT, 0 * C), "CTensor were left out"),
        (product(A[..., :-1], BT[..., :-1, :], C), "the last term of each sum were left out"),
        (product(A.astype(np.float16), BT.astype(np.float16), C.astype(np.float16)), "inputs were rounded to FLOAT16"),
    ],
)
def test_a_fault_of_gemm_is_found_by_trying(actual: np.ndarray, words: str) -> None:
    assert words in causes(gemm(), MATRICES, actual)


@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_what_is_wrong_in_another_way_is_explained_by_nothing(noise: float) -> None:
    right = product(A, BT, C)
    assert causes(gemm(), MATRICES, right + RANDOM.normal(0, noise, right.shape).astype(np.float32)) == []


def test_one_wrong_element_is_not_enough() -> None:
    right = product(A, BT, C)
    actual = right.copy()
    actual[..., 0, 0] = product(A, BT, C, alpha=1.5000001)[..., 0, 0] * np.float32(1 + 2e-6)
    assert causes(gemm(), MATRICES, actual) == []


def identity(data_type: str, *sizes: int) -> OperatorDesc:
    return valid(
        "ELEMENT_WISE_IDENTITY",
        InputTensor=tensor(*sizes, data_type=data_type),
        OutputTensor=tensor(*sizes, data_type=data_type),
    )


def test_64_bit_integers_through_fewer_bits_are_found() -> None:
    x = np.array([2**40 + 3, -(2**33) - 1, 5, 2**31, -7], np.int64)
    desc = identity("INT64", 5)
    halves = np.array([3, -1, 5, -(2**31), -7], np.int64)  # the low halves, as INT32
    assert causes(desc, {"InputTensor": x}, halves) == ["64-bit integers went through 32 bits"]
    # FLOAT32 has 24 bits: 2^40 + 3 becomes 2^40, and -2^33 - 1 becomes -2^33.
    rounded = np.array([2**40, -(2**33), 5, 2**31, -7], np.int64)
    assert causes(desc, {"InputTensor": x}, rounded) == []  # off by 3 and 1 only: chance may do that
    y = np.array([2**60 + 2**30, 2**55 + 2**28, -(2**62) + 2**33, 1], np.int64)
    rounded = np.array([2**60, 2**55, -(2**62), 1], np.int64)
    assert causes(identity("INT64", 4), {"InputTensor": y}, rounded) == ["64-bit integers went through FLOAT32"]


def test_integers_that_are_limited_or_read_as_signed_are_found() -> None:
    x = np.array([250, 100, 200, 7], np.uint8)
    both = {name: tensor(4, data_type="UINT8") for name in ("ATensor", "BTensor", "OutputTensor")}
    add = valid("ELEMENT_WISE_ADD", **both)
    # 500, 200, 400 and 14: 255 where they wrap
    assert causes(add, {"ATensor": x, "BTensor": x}, np.array([255, 200, 255, 14], np.uint8)) == [
        "integers were limited to their type instead of wrapping"
    ]
    largest = valid("ELEMENT_WISE_MAX", **both)
    y = np.array([3, 200, 100, 250], np.uint8)
    # 250 is -6, 200 is -56: the largest of signed ones
    assert "unsigned integers were read as signed" in causes(
        largest, {"ATensor": x, "BTensor": y}, np.array([3, 100, 100, 7], np.uint8)
    )


def test_halves_that_are_rounded_away_from_zero_are_found() -> None:
    x = np.arange(0.5, 64, 2).astype(np.float32)
    one = {"DataType": "FLOAT32", "Sizes": [32], "Strides": [0]}
    zero = {"DataType": "UINT8", "Sizes": [32], "Strides": [0]}
    desc = valid(
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        InputTensor=tensor(32),
        ScaleTensor=one,
        ZeroPointTensor=zero,
        OutputTensor=tensor(32, data_type="UINT8"),
    )
    inputs = {"InputTensor": x, "ScaleTensor": np.ones(32, np.float32), "ZeroPointTensor": np.zeros(32, np.uint8)}
    assert causes(desc, inputs, np.arange(1, 65, 2, dtype=np.uint8)) == ["halves were rounded away from zero"]


def test_the_likely_cause_says_as_if() -> None:
    desc = gemm()
    actual = product(A, B, C)
    assert likely_cause(wrong_output(desc, MATRICES, actual)) == "likely cause: the result is as if TransB were NONE"


def test_no_fault_is_tried_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_faults, "SECONDS", 0.0)
    assert likely_cause(wrong_output(gemm(), MATRICES, product(A, B, C))) is None


def test_every_attribute_optional_tensor_and_nested_operator_is_tried() -> None:
    desc = gemm(FusedActivation={"Type": "ACTIVATION_RELU"})
    words = [variant.words for variant in variants(desc, MATRICES)]
    assert len(words) == len(set(words))
    for said in ("TransA were TRANSPOSE", "Beta were 1", "FusedActivation were left out", "sums were made in FLOAT16"):
        assert said in words


@pytest.mark.parametrize(("indices", "is_named"), [([1, 2, 3], True), ([2, 2, 2], False), ([2], False)])
def test_a_single_index_does_not_tell_from_where_it_was_counted(indices: list[int], is_named: bool) -> None:
    """Another mistake may have led to the element before it: nothing says that the count is to blame."""
    number = len(indices)
    of_indices = tensor(1, 1, 1, number, data_type="UINT32")
    desc = valid(
        "GATHER", InputTensor=tensor(1, 1, 4, 8), IndicesTensor=of_indices, OutputTensor=tensor(1, 1, number, 8),
        Axis=2, IndexDimensions=1,
    )  # fmt: skip
    rows = RANDOM.standard_normal((1, 1, 4, 8)).astype(np.float32)
    inputs = {"InputTensor": rows, "IndicesTensor": np.array(indices, np.uint32).reshape(1, 1, 1, number)}
    found = causes(desc, inputs, rows[:, :, [index - 1 for index in indices]])
    assert ("indices were counted from 1" in found) is is_named
