"""Errors of one cause: where many results jump in one direction, or share their weights, a sum may be off by all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from valid_descs import convolution, tensor, valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.graphs.carry import carried
from dmlcheck.graphs.records import Step
from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.specs.records import OUTPUT

Array = np.ndarray[Any, Any]
COUNT = 16
X = tensor(1, 1, 1, COUNT)
ONE = tensor(1, 1, 1, 1)


def unary(name: str, **more: Any) -> OperatorDesc:
    return valid(f"DML_OPERATOR_{name}", InputTensor=X, OutputTensor=X, **more)


def total(function: str = "SUM") -> OperatorDesc:
    return valid("DML_OPERATOR_REDUCE", InputTensor=X, OutputTensor=ONE, Function=function, Axes=[3])


def of_chain(descs: Sequence[OperatorDesc], start: Carried | Array, others: Mapping[str, Any] = {}) -> Carried:
    """Return the bound of the last of some operators, each of which reads the one before it, and of `others`."""
    steps = []
    for at, desc in enumerate(descs):
        output = desc.tensors(OUTPUT)[0].label
        names = [part.label for part in desc.tensors() if part.label != output]
        reads = {label: f"t{at}" if label == names[0] else label for label in names}
        steps.append(Step(f"step {at}", desc, reads, {output: f"t{at + 1}"}))
    given = start if isinstance(start, Carried) else np.frombuffer(start.tobytes(), np.uint8)
    return carried(steps, {"t0": given, **others})[f"t{len(descs)}"]


def near(value: float, radius: float = 1e-6) -> Carried:
    """Return numbers that an implementation may have a little larger or smaller."""
    radii = np.full(COUNT, radius)
    return Carried("FLOAT32", np.full(COUNT, value), radii, radii)


def is_within(found: float, bound: Carried) -> bool:
    assert bound.radius is not None
    assert bound.likely is not None
    return bool(abs(found - bound.value[0]) <= min(bound.radius[0], bound.likely[0]))


@pytest.mark.parametrize("name", ["ROUND", "FLOOR", "CEIL"])
def test_all_of_many_roundings_may_go_one_way(name: str) -> None:
    start = near(0.5 if name == "ROUND" else 3.0)
    bound = of_chain([ROUND if name == "ROUND" else unary(f"ELEMENT_WISE_{name}"), total()], start)
    low, high = {"ROUND": (0, 1), "FLOOR": (2, 3), "CEIL": (3, 4)}[name]
    assert is_within(low * COUNT, bound)
    assert is_within(high * COUNT, bound)
    assert not is_within((high + 1) * COUNT, bound)
    assert not is_within((low - 1) * COUNT, bound)


def test_what_comes_between_does_not_make_jumps_independent() -> None:
    twice = unary("ELEMENT_WISE_IDENTITY", ScaleBias={"Scale": 2, "Bias": 1})
    pooled = valid(
        "DML_OPERATOR_AVERAGE_POOLING",
        InputTensor=X,
        OutputTensor=tensor(1, 1, 1, COUNT // 4),
        Strides=[1, 4],
        WindowSize=[1, 4],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        IncludePadding=0,
    )
    mean = valid("DML_OPERATOR_REDUCE", InputTensor=tensor(1, 1, 1, COUNT // 4), OutputTensor=ONE, Function="AVERAGE",
                 Axes=[3])  # fmt: skip
    bound = of_chain([ROUND, twice, pooled, mean], near(0.5))
    assert is_within(1, bound)
    assert is_within(3, bound)
    assert not is_within(3.5, bound)


@pytest.mark.parametrize(
    ("name", "at", "more"),
    [("ACTIVATION_THRESHOLDED_RELU", 2.0, {"Alpha": 2.0}), ("ACTIVATION_SHRINK", 2.0, {"Bias": 0.0, "Threshold": 2.0})],
)
def test_operands_beside_a_threshold_may_all_be_lost_and_others_stay_independent(
    name: str, at: float, more: dict[str, Any]
) -> None:
    assert is_within(0, of_chain([unary(name, **more), total()], near(at)))
    bound, plain = (of_chain([*first, total()], near(5.0, 1e-3)) for first in ([unary(name, **more)], []))
    assert bound.radius is not None
    assert plain.radius is not None
    assert bound.radius[0] < 1.01 * plain.radius[0]


def test_independent_errors_of_a_sum_stay_as_small_as_they_are() -> None:
    bound = of_chain([total()], near(0.25, 1e-3))
    assert bound.shared is None
    assert is_within(COUNT / 4 + 4e-3, bound)
    assert not is_within(COUNT / 4 + 5e-3, bound)


ROUND = unary("ELEMENT_WISE_ROUND", RoundingMode="HALVES_TO_NEAREST_EVEN")
CHANNELS = 9
SMALL = tensor(1, CHANNELS, 2, 1)
LARGE = tensor(1, CHANNELS, 6, 1)
ROWS = np.float32([1, 0] * CHANNELS)  # three times as many between 1 and 0: 1, 1, 2/3, 1/3, 0, 0
INTERPOLATED = valid(
    "DML_OPERATOR_RESAMPLE1",
    InputTensor=SMALL,
    OutputTensor=LARGE,
    InterpolationMode="LINEAR",
    Scales=[1, 1, 3, 1],
    InputPixelOffsets=[0.5, 0.5, 0.5, 0.5],
    OutputPixelOffsets=[-0.5, -0.5, -0.5, -0.5],
)
SUMS = valid(
    "DML_OPERATOR_CUMULATIVE_SUMMATION",
    InputTensor=LARGE,
    OutputTensor=LARGE,
    Axis=1,
    AxisDirection="INCREASING",
    HasExclusiveSum=0,
)


def test_all_channels_of_an_interpolation_have_the_same_error_of_the_weights() -> None:
    bound = of_chain([INTERPOLATED, SUMS], ROWS)
    exact = np.outer(np.arange(1, CHANNELS + 1), [1, 1, 2 / 3, 1 / 3, 0, 0]).reshape(-1)
    assert bound.radius is not None
    assert (np.abs(exact - bound.value) <= bound.radius).all()
    assert bound.radius.max() < 1e-4


def test_errors_of_one_cause_are_carried_through_a_product_and_end_there() -> None:
    weights = np.ones((COUNT, 1), np.float32)
    gemm = valid(
        "DML_OPERATOR_GEMM",
        ATensor=X,
        BTensor=tensor(1, 1, COUNT, 1),
        OutputTensor=ONE,
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=0.0,
    )
    bound = of_chain([ROUND, gemm], near(0.5), {"BTensor": weights.view(np.uint8).reshape(-1)})
    assert is_within(COUNT, bound)
    assert bound.shared is None


def test_a_convolution_adds_up_the_jumps_that_its_window_sees() -> None:
    step = valid("CONVOLUTION", convolution([1, 1, 1, COUNT], [1, 1, 1, COUNT], [1, 1, 1, 1]))
    weights = np.ones(COUNT, np.float32).view(np.uint8)
    bound = of_chain([ROUND, step], near(0.5), {"FilterTensor": weights})
    assert is_within(0, bound)
    assert is_within(COUNT, bound)
    assert bound.shared is None


def test_whole_numbers_jump_too() -> None:
    quantized = valid(
        "DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR",
        InputTensor=X,
        ScaleTensor=X,
        ZeroPointTensor={**X, "DataType": "UINT8"},
        OutputTensor={**X, "DataType": "UINT8"},
    )
    back = valid(
        "DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR",
        InputTensor={**X, "DataType": "UINT8"},
        ScaleTensor=X,
        ZeroPointTensor={**X, "DataType": "UINT8"},
        OutputTensor=X,
    )
    others = {
        "ScaleTensor": np.ones(COUNT, np.float32).view(np.uint8),
        "ZeroPointTensor": np.zeros(COUNT, np.uint8),
    }
    bound = of_chain([quantized, back, total()], near(0.5), others)
    assert is_within(0, bound)
    assert is_within(COUNT, bound)
    assert not is_within(COUNT + 1, bound)
