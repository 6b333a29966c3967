"""`run --algorithms winograd`: errors as large as those of such algorithms, and what reports say."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from commandline import dmlcheck, json_of

FILE = """\
operator: CONVOLUTION
source: compared with the reference engine
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 2, 16, 16]}
  FilterTensor: {DataType: FLOAT32, Sizes: [2, 2, 3, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 2, 14, 14]}
  Mode: CROSS_CORRELATION
  Direction: FORWARD
  Strides: [1, 1]
  Dilations: [1, 1]
  StartPadding: [0, 0]
  EndPadding: [0, 0]
  OutputPadding: [0, 0]
  GroupCount: 1
inputs:
  InputTensor: {random: {seed: 1, low: -1, high: 1}}
  FilterTensor: {random: {seed: 2, low: -1, high: 1}}
"""
# Each result is off by 20 u * sum(max|x| * sum|w|) of its channels: more than roundings of the 18 products give.
MODULE = """\
import numpy as np

class Off:
    name = "off"

    def run(self, desc, inputs):
        x, w = (inputs[name].astype(np.float64) for name in ("InputTensor", "FilterTensor"))
        seen = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
        sums = np.einsum("nchwab,kcab->nkhw", seen, w)
        lost = 20 * 2.0**-24 * np.abs(x).max() * np.abs(w).sum(axis=(1, 2, 3))
        return {"OutputTensor": (sums + lost[:, None, None]).astype(np.float32)}
"""


@pytest.fixture(autouse=True)
def _folder(importable: Path) -> None:
    (importable / "off_by_some.py").write_text(MODULE, encoding="utf-8")
    (importable / "convolution.yaml").write_text(FILE, encoding="utf-8")


run = partial(dmlcheck, "run", "convolution.yaml", "--implementation", "python:off_by_some:Off")


@pytest.mark.slow
def test_errors_of_winograds_size_fail_and_are_named() -> None:
    result = run("--json", "report.json")
    assert result.exit_code == 1, result.output
    assert "which `--algorithms winograd` allows" in result.output
    assert "algorithms" not in json_of("report.json")


@pytest.mark.slow
def test_they_pass_where_they_are_allowed_and_reports_say_so() -> None:
    result = run("--algorithms", "winograd", "--strict", "--json", "report.json")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[1].endswith("sums in FLOAT32, winograd allowed")
    assert json_of("report.json")["algorithms"] == ["winograd"]
