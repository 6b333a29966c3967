"""Errors that the bound allows and roundings alone hardly make: a warning, and with --strict a failure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commandline import dmlcheck
from report_schema import checked_report

COUNT = 100_000
FILE = f"""\
operator: DML_OPERATOR_REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {{DataType: FLOAT32, Sizes: [1, {COUNT}]}}
  OutputTensor: {{DataType: FLOAT32, Sizes: [1, 1]}}
  Axes: [1]
cases:
  - {{name: long, inputs: {{InputTensor: {{random: {{seed: 7, low: 0, high: 0.5}}}}}}}}
  - {{name: short, desc: {{InputTensor: {{DataType: FLOAT32, Sizes: [1, 2]}}}}, inputs: {{InputTensor: [[1, 2]]}}}}
"""
MODULE = """\
import numpy as np

class Sums:
    name = "adding"
    dtype = np.float16

    def run(self, desc, inputs):
        x = inputs["InputTensor"].astype(self.dtype)
        while x.shape[1] > 1:
            x = np.pad(x, ((0, 0), (0, x.shape[1] % 2)))
            x = x[:, ::2] + x[:, 1::2]
        return {"OutputTensor": x.astype(np.float32)}

class SumsInFloat32(Sums):
    dtype = np.float32

class OneByOne(Sums):
    def run(self, desc, inputs):
        x = np.add.accumulate(inputs["InputTensor"].astype(np.float16), axis=1, dtype=np.float16)
        return {"OutputTensor": x[:, -1:].astype(np.float32)}
"""
SAID = re.compile(
    r"OutputTensor: 1 of 1 element is within the tolerance, but up to (\d+(?:\.\d+)?) times the likely error$"
)
NAME = "python:adding:Sums"


@pytest.fixture(autouse=True)
def _folder(importable: Path) -> None:
    (importable / "adding.py").write_text(MODULE, encoding="utf-8")
    (importable / "sums.yaml").write_text(FILE, encoding="utf-8")


def run(*words: str, name: str = NAME) -> Result:
    return dmlcheck("run", "sums.yaml", "--implementation", name, *words)


def report(*words: str, name: str = NAME, path: str = "report.json") -> dict[str, Any]:
    run(*words, "--json", path, name=name)
    return checked_report(path)


def said(text: str) -> float:
    """Return how many times the likely error a message names."""
    found = SAID.match(text)
    assert found, text
    return float(found[1])


@pytest.mark.slow
def test_a_long_sum_that_is_kept_in_float16_passes_with_a_warning() -> None:
    result = run("-v")
    assert result.exit_code == 0
    _, _, *lines = result.stdout.splitlines()  # below what ran
    assert lines[0] == "PASSED sums.yaml::long"
    assert said(lines[1].removeprefix("  warning[unlikely-error]: ")) > 1
    assert lines[2] == "PASSED sums.yaml::short"
    start = lines.index("1 case within the tolerance, and beyond the likely error:")
    assert said(lines[start + 1].removeprefix("  sums.yaml::long ")) > 1
    assert lines[-1].startswith("2 passed (1 beyond the likely error) in ")


@pytest.mark.slow
def test_a_long_sum_in_float32_is_likely() -> None:
    """In pairs the roundings are 17 one after the other."""
    result = run(name="python:adding:SumsInFloat32")
    assert (result.exit_code, "likely" in result.stdout) == (0, False)
    assert run("--strict", name="python:adding:SumsInFloat32").exit_code == 0


@pytest.mark.slow
def test_a_long_sum_in_float16_is_likely_where_an_implementation_may_have_it_so() -> None:
    result = run("--strict", "--accumulate", "float16")
    assert (result.exit_code, "likely" in result.stdout) == (0, False)


@pytest.mark.slow
def test_a_strict_run_fails_and_says_how_to_see_it_again() -> None:
    result = run("--strict")
    assert result.exit_code == 1
    _, _, *lines = result.stdout.splitlines()
    assert lines[0] == "FAILED sums.yaml::long   unlikely-error"
    place, _, message = lines[1].partition(" error[unlikely-error]: ")
    assert place == "  sums.yaml:6:17:"  # the output's desc, as the case gives no values for it
    assert said(message) > 1
    assert f"  again: dmlcheck run --implementation {NAME} --strict sums.yaml::long" in lines
    assert lines[-1].startswith("1 passed, 1 failed in ")


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_the_json_report_has_the_share_of_the_likely_error(strict: bool) -> None:
    found = report(*["--strict"] * strict)
    long, short = found["cases"]
    assert (found["strict"], found.get("unlikely")) == (strict, None if strict else 1)
    assert long["outcome"] == ("failed" if strict else "passed")
    assert long["reason"] == ("unlikely error" if strict else None)
    (diagnostic,) = long["diagnostics"]
    assert diagnostic["rule"] == "unlikely-error"
    assert diagnostic["severity"] == ("error" if strict else "warning")
    output = long["outputs"]["OutputTensor"]
    assert output["likely_share"] == pytest.approx(said(diagnostic["message"]), rel=0.01)
    assert (output["mismatches"], output["max_share"] < 1) == (0, True)
    assert (short["diagnostics"], "likely_share" in short["outputs"]["OutputTensor"]) == ([], False)


@pytest.mark.slow
def test_an_output_beyond_the_bound_is_wrong_and_not_unlikely() -> None:
    """Terms that are added one by one stay at 1024, where the next one is at most half a unit."""
    found = report("--strict", name="python:adding:OneByOne")["cases"][0]
    assert found["outputs"]["OutputTensor"]["worst"]["actual"] <= 1024
    assert [diagnostic["rule"] for diagnostic in found["diagnostics"]] == ["output-mismatch"]
    assert "likely_share" not in found["outputs"]["OutputTensor"]
