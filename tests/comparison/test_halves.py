"""FLOAT16 as DirectML computes it: intermediate results in FLOAT16, and conversions that cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.bounds import arithmetic_of
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import CaseResult

Array = Any


def cut(x: Array) -> Array:
    """Return numbers rounded to FLOAT16 toward 0, in FLOAT32; too large ones become its largest number."""
    near = np.clip(x, -65504, 65504).astype(np.float16)
    is_larger = np.abs(near.astype(np.float64)) > np.abs(x)
    return np.where(is_larger, np.nextafter(near, np.float16(0)), near).astype(np.float32)


def softmax(x: Array) -> Array:
    powers = cut(np.exp(x - x.max(axis=-1, keepdims=True)))
    return cut(powers / cut(powers.sum(axis=-1, keepdims=True, dtype=np.float32)))


def without_the_last(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return cut(powers / powers[..., :-1].sum(axis=-1, keepdims=True))


def without_the_largest(x: Array) -> Array:
    powers = np.exp(x)
    return cut(powers / (1 + powers.sum(axis=-1, keepdims=True)))


class Made:
    name = "made"
    device = ""
    version = ""

    def __init__(self, compute: Callable[..., Array], *, is_directml: bool) -> None:
        self.compute, self.is_directml = compute, is_directml

    def run(self, _: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        found = self.compute(*(x.astype(np.float32) for x in inputs.values()))
        return {"OutputTensor": found.astype(np.float16)}


def tensor(*sizes: int) -> dict[str, Any]:
    return {"DataType": "FLOAT16", "Sizes": list(sizes)}


def result(operator: str, desc: dict[str, Any], made: Made, *inputs: Array) -> CaseResult:
    names = ("ATensor", "BTensor") if operator == "GEMM" else ("InputTensor",)
    given = {name: values.astype(np.float16).tolist() for name, values in zip(names, inputs, strict=True)}
    return run_case(Case("it", "it", "it.yaml", operator, None, desc, given), Run(made))


@pytest.mark.parametrize(
    ("compute", "is_directml", "outcome"),
    [
        (softmax, True, "passed"),
        (softmax, False, "failed"),
        (without_the_last, True, "failed"),
        (without_the_largest, True, "failed"),
        (lambda x: softmax(x[..., ::-1]), True, "failed"),
        (lambda x: softmax(x) + 0.004, True, "failed"),
    ],
)
def test_values_in_float16_are_right_for_directml_alone_and_faults_stay_wrong(
    compute: Callable[..., Array], is_directml: bool, outcome: str
) -> None:
    x = np.random.default_rng(5).uniform(-3, 3, (4, 50))
    desc = {"InputTensor": tensor(4, 50), "OutputTensor": tensor(4, 50), "Axes": [1]}
    found = result("ACTIVATION_SOFTMAX1", desc, Made(compute, is_directml=is_directml), x)
    assert found.outcome == outcome, found.outputs
    told = found.outputs["OutputTensor"].decided_by
    assert ("as DirectML does: the exponentials, their sum" in told) == is_directml


GEMM = {"ATensor": tensor(1, 1, 40, 64), "BTensor": tensor(1, 1, 64, 40), "OutputTensor": tensor(1, 1, 40, 40)}
GEMM |= {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}


@pytest.mark.parametrize(
    ("largest", "is_directml", "outcome"),
    [(65504, True, "passed"), (65504, False, "failed"), (65472, True, "failed"), (-65504, True, "failed")],
)
def test_the_largest_number_stands_for_an_overflow_of_directml(largest: float, is_directml: bool, outcome: str) -> None:
    a, b = np.full((1, 1, 40, 64), 100), np.full((1, 1, 64, 40), 100)
    made = Made(lambda x, y: np.full_like(np.matmul(x, y), largest), is_directml=is_directml)
    assert result("GEMM", GEMM, made, a, b).outcome == outcome
    a[..., 0] = 0
    b = np.where(np.arange(64)[:, None] == 1, np.inf, b)  # an infinity of the inputs is not cut off
    assert result("GEMM", GEMM, made, a, b).outcome == "failed"


@pytest.mark.parametrize(
    ("data_type", "fields", "keeps"),
    [
        ("FLOAT16", {}, False),
        ("FLOAT16", {"FusedActivation": {"Type": "ACTIVATION_RELU"}}, True),
        ("FLOAT32", {"FusedActivation": {"Type": "ACTIVATION_RELU"}}, False),
    ],
)
def test_a_sum_is_kept_in_float16_for_a_further_step(data_type: str, fields: dict[str, Any], keeps: bool) -> None:
    typed = {name: {**value, "DataType": data_type} for name, value in GEMM.items() if isinstance(value, dict)}
    desc = read_desc("GEMM", {**GEMM, **typed, **fields}).desc
    assert desc is not None
    assert (desc.half is not None) == keeps
    own = arithmetic_of(desc, "FLOAT32", is_directml=True)
    assert (own.data_type, own.computed_in) == (("FLOAT16", "FLOAT32") if keeps else ("FLOAT32", ""))
    assert (own.unit_roundoff, own.stored) == ((2.0**-10, "stored") if keeps else (2.0**-24, ""))
    assert arithmetic_of(desc, "FLOAT16", is_directml=True) == arithmetic_of(desc, "FLOAT16")
