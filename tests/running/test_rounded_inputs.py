"""`run --inputs`: matrix units that round their inputs, accepted where the run says so, and else named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commandline import dmlcheck
from report_schema import checked_report

FILE = """\
operator: DML_OPERATOR_GEMM
source: by hand
desc: {TransA: NONE, TransB: NONE, Alpha: 1, Beta: 0}
cases:
  - name: product
    desc:
      ATensor: {DataType: FLOAT32, Sizes: [1, 1, 8, 64]}
      BTensor: {DataType: FLOAT32, Sizes: [1, 1, 64, 8]}
      OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 8, 8]}
    inputs:
      ATensor: {random: {seed: 1, low: -1, high: 1}}
      BTensor: {random: {seed: 2, low: -1, high: 1}}
  - name: long
    desc:
      ATensor: {DataType: FLOAT32, Sizes: [1, 1, 3, 40000]}
      BTensor: {DataType: FLOAT32, Sizes: [1, 1, 40000, 3]}
      OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 3, 3]}
    inputs:
      ATensor: {random: {seed: 3, low: -1, high: 1}}
      BTensor: {random: {seed: 4, low: -1, high: 1}}
  - name: whole
    desc:
      ATensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
      BTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 1]}
      OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1]}
    inputs: {ATensor: [[[[1, 2]]]], BTensor: [[[[3], [4]]]]}
    outputs: {OutputTensor: [[[[11]]]]}
"""
MODULE = """\
import numpy as np

class Tf32:
    name = "tensor cores"
    bits = 11

    def run(self, desc, inputs):
        drop = 24 - self.bits
        a, b = (
            ((inputs[name].view(np.uint32) + (1 << drop >> 1) >> drop) << drop).astype(np.uint32).view(np.float32)
            for name in ("ATensor", "BTensor")
        )
        return {"OutputTensor": a @ b}

class Bfloat16(Tf32):
    bits = 8

class LastRow(Tf32):
    bits = 24

    def run(self, desc, inputs):
        found = super().run(desc, inputs)["OutputTensor"]
        found[..., -1, :] *= 0.99
        return {"OutputTensor": found}
"""


@pytest.fixture(autouse=True)
def _folder(importable: Path) -> None:
    (importable / "units.py").write_text(MODULE, encoding="utf-8")
    (importable / "products.yaml").write_text(FILE, encoding="utf-8")


def run(*words: str, unit: str = "Tf32") -> Result:
    return dmlcheck("run", "products.yaml", "--implementation", f"python:units:{unit}", *words)


def report(*words: str, unit: str = "Tf32", path: str = "report.json") -> dict[str, Any]:
    run(*words, "--json", path, unit=unit)
    return checked_report(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "inputs", "failed"),
    [
        ("Tf32", "float32", 2),
        ("Tf32", "tf32", 0),
        ("Tf32", "BFLOAT16", 0),
        ("Bfloat16", "float32", 2),
        ("Bfloat16", "tf32", 2),
        ("Bfloat16", "bfloat16", 0),
        ("LastRow", "tf32", 3),
    ],
)
def test_a_run_accepts_the_inputs_that_it_names(unit: str, inputs: str, failed: int) -> None:
    scope = run("--strict", "--input-precision", inputs, "--json", "report.json", unit=unit).output.split("\n")[1]
    found = checked_report("report.json")
    assert (found["inputs"], found["summary"]["failed"]) == (inputs.lower(), failed)
    told = "" if inputs == "float32" else f", inputs in {inputs.upper()}"
    assert scope == f"3 cases at the feature levels of their files; tolerances assume sums in FLOAT32{told}"


@pytest.mark.slow
def test_failures_and_unlikely_errors_name_the_inputs_that_explain_them() -> None:
    """The long sum is inside the bound, which lets all of 40,000 roundings be the worst; its elements are few."""
    product, long, whole = report()["cases"]
    assert [case["outcome"] for case in (product, long, whole)] == ["failed", "passed", "passed"]
    assert [case.get("consistent_with") for case in (product, long, whole)] == ["tf32", "tf32", None]
    for case, rule in ((product, "output-mismatch"), (long, "unlikely-error")):
        (found,) = case["diagnostics"]
        assert found["rule"] == rule
        assert found["message"].endswith("; consistent with TF32 inputs")
        assert found["help"].endswith("matrix units that round their inputs to TF32, run with `--input-precision tf32`")


@pytest.mark.slow
def test_the_end_of_a_run_counts_those_that_one_type_explains() -> None:
    line = "1 failure and 1 unlikely error are consistent with TF32 inputs: `--input-precision tf32` allows that"
    assert run().output.split("\n")[-3] == line
    assert run("-q", "-k", "not long", unit="Bfloat16").output.split("\n")[-3] == (
        "1 failure is consistent with BFLOAT16 inputs: `--input-precision bfloat16` allows that"
    )
    assert report()["consistent_with"] == {"tf32": {"failures": 1, "warnings": 1}}
    assert "consistent_with" not in report(unit="LastRow")
    assert "consistent with" not in run(unit="LastRow").output


@pytest.mark.slow
def test_the_command_that_runs_a_case_again_has_the_inputs() -> None:
    words = "--implementation python:units:Bfloat16 --input-precision tf32 products.yaml::product"
    assert f"  again: dmlcheck run {words}\n" in run("--input-precision", "tf32", unit="Bfloat16").output


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--strict",)])
def test_merged_shards_tell_the_same_as_the_whole(words: tuple[str, ...]) -> None:
    whole = report(*words)
    for index in (1, 2):
        run(*words, "--shard", f"{index}/2", "--json", f"{index}.json")
    merged = dmlcheck("merge", "1.json", "2.json", "--json", "merged.json")
    assert (merged.exit_code, "(1 beyond the likely error)" in merged.stdout) == (1, not words)
    found = checked_report("merged.json")
    for part in (found["summary"], whole["summary"], *found["cases"], *whole["cases"]):
        part["seconds"] = 0
    assert found == whole


@pytest.mark.slow
def test_a_report_with_other_inputs_is_nothing_to_compare_with() -> None:
    report("--input-precision", "tf32")
    result = run("--compare-to", "report.json")
    assert result.exit_code == 2
    assert "a report with --input-precision tf32; this run has float32" in result.output
