"""The faults that are planted in the engine, and that the shipped cases notice them."""

from __future__ import annotations

import re
from functools import cache

import drawn_descs
import faults
import faults_page
import numpy as np
import planted
import pytest
from planted import Fault, faults_of

from dmlcheck.drawing.values import STYLES, drawn_values
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate

# Operators whose cases are read and computed in a second or two: every kind of fault matters to one of them.
SAMPLE = (
    "ACTIVATION_HARDMAX1",
    "ACTIVATION_RELU",
    "ARGMAX",
    "BATCH_NORMALIZATION",
    "CONVOLUTION_INTEGER",
    "DEPTH_TO_SPACE1",
    "ELEMENT_WISE_QUANTIZE_LINEAR",
    "ELEMENT_WISE_SIN",
    "GATHER_ND1",
    "GEMM",
    "LP_NORMALIZATION",
    "MEAN_VARIANCE_NORMALIZATION2",
    "ONE_HOT",
    "PADDING1",
    "REDUCE",
    "TOP_K1",
    "VALUE_SCALE_2D",
)


@cache
def kinds() -> dict[str, Fault]:
    return {fault.kind: fault for operator in operator_names() for fault in faults_of(operator).values()}


@pytest.mark.slow
@pytest.mark.parametrize("short", SAMPLE)
def test_the_shipped_cases_notice_the_faults_of_an_operator(short: str) -> None:
    pairs = faults.measured(f"DML_OPERATOR_{short}", count=12)
    assert [pair.fault for pair in pairs if pair.is_missed and (pair.fault, short) not in faults_page.REASONS] == []
    assert sum(pair.matters for pair in pairs) > 12


@pytest.mark.slow
def test_the_shipped_cases_notice_the_faults_of_a_recurrence() -> None:
    """Those that no other operator has, and some of the sums over its long sequences."""
    own = ("absent:HiddenInitTensor", "absent:SequenceLengthsTensor", "ignored:ActivationDescs", "ignored:Direction")
    pairs = faults.measured("DML_OPERATOR_RNN", (*own, "inputs-tf32", "sums-float16", "lost-term"), count=12)
    assert [pair.is_missed for pair in pairs] == [False] * 7
    assert all(pair.matters for pair in pairs)


@pytest.mark.slow
def test_a_fault_that_no_case_notices_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "shipped", lambda _: iter(()))
    pairs = faults.measured("DML_OPERATOR_GEMM", ("inputs-tf32", "ignored:TransB", "next-index"), count=12)
    assert {pair.fault: (pair.matters, pair.is_missed) for pair in pairs} == {
        "inputs-tf32": (True, True),
        "ignored:TransB": (True, True),
        "next-index": (False, False),
    }


def test_there_are_many_kinds_of_faults_and_each_says_where_it_happens() -> None:
    assert len(kinds()) >= 40
    assert all(len(fault.where) > 15 for fault in kinds().values())


def test_the_page_lists_every_kind_of_fault_and_every_reason() -> None:
    text = faults_page.PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert {name for name, *_ in rows} == set(kinds())
    mattering, noticed = (sum(int(row[at]) for row in rows) for at in (2, 3))
    assert f"{noticed:,} of {mattering:,} pairs that matter are noticed" in text
    listed = re.findall(r"^\| `([^`]+)` \| ([A-Z0-9_]+) \| (.+?) \|$", text, re.MULTILINE)
    assert len(listed) == mattering - noticed
    assert {(fault, operator): reason for fault, operator, reason in listed}.items() <= faults_page.REASONS.items()
    assert noticed / mattering > 0.97


def test_none_of_the_faults_that_must_be_noticed_has_a_reason() -> None:
    always = ("tail-", "first-", "ignored:", "turned:", "exchanged:", "absent:", "int64-")
    assert [fault for fault, _ in faults_page.REASONS if fault.startswith(always)] == []


def test_drawn_values_have_the_style_that_is_asked_for() -> None:
    desc = drawn_descs.drawn("DML_OPERATOR_ACTIVATION_RELU", np.random.default_rng(3), drawn_descs.LARGE)
    assert desc is not None
    found = {style: drawn_values(desc, np.random.default_rng(1), style) for style in STYLES}
    assert all(values is not None for values in found.values())
    offset = found["1000"]
    assert offset is not None
    assert offset["InputTensor"].astype(np.float64).mean() > 900


def test_the_engine_is_as_before_after_a_fault_of_sums() -> None:
    tensors = {"InputTensor": [1, 4097], "OutputTensor": [1, 1]}
    raw = {name: {"DataType": "FLOAT32", "Sizes": sizes} for name, sizes in tensors.items()}
    desc, _ = validate("DML_OPERATOR_REDUCE", {**raw, "Function": "SUM", "Axes": [1]}, NEWEST_LEVEL)
    assert desc is not None
    inputs = {"InputTensor": np.ones((1, 4097), np.float32)}
    narrowed = faults_of("DML_OPERATOR_REDUCE")["sums-float16"].act(desc, inputs)
    assert narrowed is not None
    assert narrowed["OutputTensor"].item() == 2048  # 2048 + 1 is even there, and stays 2048
    assert planted.right(desc, inputs)["OutputTensor"].item() == 4097
