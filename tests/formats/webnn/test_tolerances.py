"""Tolerances of the W3C's tests: those that a file states, and those that its utilities give an operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.formats.webnn.graph import GraphTest, Operand, WebnnOperator, tolerance_of
from dmlcheck.formats.webnn.suite import Stated
from dmlcheck.graphs.tensors import TensorRef


def zeros(*shape: int, kind: Any = np.float32) -> TensorRef:
    return TensorRef.of(np.zeros(shape, kind))


def of_operators(*operators: WebnnOperator, kind: Any = np.float32, **inputs: TensorRef) -> GraphTest:
    return GraphTest("t", inputs, operators, {"y": zeros(1, kind=kind)})


def called(name: str, *given: Any, **options: Any) -> WebnnOperator:
    return WebnnOperator(name, tuple(Operand(one) if isinstance(one, str) else one for one in given), options, ("y",))


X = called("abs", "x")


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (Stated("ULP", {"float32": 2}), {"ulp": 2}),
        (Stated("ULP", 0), "exact"),
        (Stated("ATOL", 1 / 1024), {"absolute": 1 / 1024}),
        (Stated("ULP", {"float16": 2}), None),
        (Stated("RTOL", 1), None),
        (Stated("ULP", -1), None),
        (Stated("ULP", float("nan")), None),
    ],
)
def test_what_a_file_states_comes_first(stated: Stated, expected: Any) -> None:
    assert tolerance_of(of_operators(called("add", "x", "x")), stated) == expected


@pytest.mark.parametrize(
    ("operator", "ulp"),
    [
        # The formulas of webnn/resources/utils.js, worked out by hand for these shapes.
        (called("add", "x", "x"), 1),
        (called("sigmoid", "x"), 34),
        (called("relu", "x"), 0),
        (called("gemm", "m", "m"), 8),  # a row of 4: products and sums
        (called("gemm", "m", "m", aTranspose=True), 6),
        (called("gemm", "m", "m", alpha=2, c="m"), 10),
        (called("gemm", "m", "m", alpha=2, c="m", beta=3), 11),
        (called("gemm", "m", "m", c="m", beta=0), 8),
        (called("matmul", "m", "m"), 8),
        (called("conv2d", "i", "f"), 48),  # 3 x 2 of 4 channels
        (called("conv2d", "i", "f", groups=2), 24),
        (called("conv2d", "i", "f", inputLayout="nhwc"), 72),  # whose channels are 6
        (called("conv2d", "i", "f", filterLayout="hwio"), 2 * 7 * 4 * 4),
        (called("convTranspose2d", "i", "f", filterLayout="ohwi"), 2 * 4 * 3 * 4),
        (called("averagePool2d", "i"), 32),  # 5 x 6
        (called("averagePool2d", "i", layout="nhwc"), 22),  # 4 x 5
        (called("l2Pool2d", "i", windowDimensions=[2, 2]), 6),
        (called("maxPool2d", "i"), 0),
        (called("softmax", "m", 0), 12),
        (called("softmax", "m"), 15),
        (called("reduceSum", "m"), 12),
        (called("reduceMean", "m", axes=[1]), 6),
        (called("reduceL2", "m", axes=[-1]), 10),
        (called("reduceLogSumExp", "m", axes=[0]), 24),
        (called("reduceSumSquare", "m", axes=[]), 2),
        (called("resample2d", "i", mode="linear"), 84),
        (called("resample2d", "i"), 0),
        (called("cumulativeSum", "m", 1), 3),
        (called("exp", "x"), None),  # which its file states
        (called("gemm", "x"), None),
        (called("reduceSum", "m", axes="all"), None),
        (called("conv2d", "i", "f", filterLayout="chwn"), None),
    ],
)
def test_the_utilities_give_an_operator_its_tolerance(operator: WebnnOperator, ulp: int | None) -> None:
    inputs = {"x": zeros(), "m": zeros(3, 4), "i": zeros(1, 4, 5, 6), "f": zeros(7, 4, 3, 2)}
    expected = None if ulp is None else {"ulp": ulp} if ulp else "exact"
    assert tolerance_of(of_operators(operator, **inputs), None) == expected


def test_several_operators_have_the_sum() -> None:
    assert tolerance_of(of_operators(called("add", "x", "x"), called("elu", "y"), x=zeros()), None) == {"ulp": 19}
    assert tolerance_of(of_operators(called("add", "x", "x"), called("exp", "y"), x=zeros()), None) is None


def test_types_have_tolerances_of_their_own() -> None:
    assert tolerance_of(of_operators(called("sigmoid", "x"), kind=np.float16), None) == {"ulp": 10}
    assert tolerance_of(of_operators(called("gather", "x", "x"), kind=np.int32), None) == "exact"
    assert tolerance_of(of_operators(called("add", "x", "x"), kind=np.int32), None) is None
