"""Elements that differ where nothing limits the error: a warning, with --strict a failure, alone a skipped case."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commandline import dmlcheck, json_of
from report_schema import checked_report

# 1e-40 may be flushed to 0, so its reciprocal may be anything; that of infinity is 0.
FILE = """\
operator: DML_OPERATOR_ELEMENT_WISE_RECIP
source: by hand
desc: {InputTensor: {DataType: FLOAT32, Sizes: [2]}, OutputTensor: {DataType: FLOAT32, Sizes: [2]}}
cases:
  - {name: some, inputs: {InputTensor: [1e-40, .inf]}}
  - {name: all, inputs: {InputTensor: [1e-40, -1e-40]}}
  - {name: none, inputs: {InputTensor: [.inf, -.inf]}}
  - {name: own, inputs: {InputTensor: [1e-40, .inf]}, tolerance: {absolute: .inf}}
"""
NAME = "python:judged:zeros"
WHERE = ", where the tolerance allows all that the operator can return"


@pytest.fixture(autouse=True)
def _folder(importable: Path) -> None:
    (importable / "recip.yaml").write_text(FILE.replace("  - {name: own", "  # - {name: own"), encoding="utf-8")


def run(*words: str, name: str = NAME, path: str = "recip.yaml") -> Result:
    return dmlcheck("run", path, "--implementation", name, *words)


def report(*words: str, **options: Any) -> dict[str, Any]:
    run(*words, "--json", "report.json", **options)
    return checked_report("report.json")


def outcomes(found: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Return the name, the outcome and the number of unlimited elements of each case."""
    return [(case["name"], case["outcome"], case["outputs"]["OutputTensor"]["unlimited"]) for case in found["cases"]]


@pytest.mark.slow
def test_elements_without_a_limit_are_no_pass() -> None:
    found = report()
    assert outcomes(found) == [("some", "passed", 1), ("all", "skipped", 2), ("none", "passed", 0)]
    assert found["unlimited"] == 2
    some, every, none = found["cases"]
    assert every["reason"] == "nothing to judge: every element differs where its tolerance has no limit"
    for case, said in ((some, "1 of 2 elements differs"), (every, "2 of 2 elements differ")):
        (diagnostic,) = case["diagnostics"]
        assert (diagnostic["rule"], diagnostic["severity"]) == ("unlimited-tolerance", "warning")
        assert diagnostic["message"] == f"OutputTensor: {said}{WHERE}"
    assert none["diagnostics"] == []


@pytest.mark.slow
def test_with_strict_they_fail_and_the_case_says_how_to_see_it_again() -> None:
    found = report("--strict")
    assert outcomes(found) == [("some", "failed", 1), ("all", "failed", 2), ("none", "passed", 0)]
    some, every, _ = found["cases"]
    assert (some["reason"], every["reason"]) == ("unlimited tolerance", "unlimited tolerance")
    assert some["diagnostics"][0]["severity"] == "error"
    again = f"  again: dmlcheck run --implementation {NAME} --strict recip.yaml::some"
    assert again in run("--strict").stdout.splitlines()


@pytest.mark.slow
def test_equal_elements_need_no_tolerance() -> None:
    assert "unlimited" not in report("--strict", name="python:dmlcheck.implementations.protocol:Reference")
    given = FILE.replace("inputs: {InputTensor: [1e-40, .inf]}}", "inputs: {InputTensor: [1e-40, .inf]}, outputs: {OutputTensor: [.inf, 0]}}")  # fmt: skip # noqa: E501
    Path("given.yaml").write_text(given, encoding="utf-8")
    assert run("--strict", path="given.yaml::some", name="reference").exit_code == 0


@pytest.mark.slow
def test_a_tolerance_of_the_case_takes_the_place_of_the_derived_one() -> None:
    tolerance = FILE.replace("absolute: .inf", "absolute: 1e38").replace("[1e-40, .inf]}, tol", "[1e38, .inf]}, tol")
    Path("own.yaml").write_text(tolerance, encoding="utf-8")
    (case,) = report(path="own.yaml::own")["cases"]
    assert (case["outcome"], case["outputs"]["OutputTensor"]["unlimited"]) == ("passed", 0)


@pytest.mark.slow
def test_the_text_names_the_cases() -> None:
    lines = run().stdout.splitlines()
    at = lines.index("2 cases with an unlimited tolerance:")
    assert lines[at + 1 : at + 3] == [
        f"  recip.yaml::all OutputTensor: 2 of 2 elements differ{WHERE}",
        f"  recip.yaml::some OutputTensor: 1 of 2 elements differs{WHERE}",
    ]
    assert lines[-1].startswith("2 passed, 1 skipped (2 with an unlimited tolerance) in ")


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_other_reports_tell_of_them(strict: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    words = ["--junitxml", "a.xml", "--html", "a.html", "--sarif", "a.sarif", "--json", "a.json", "--shard", "1/1"]
    result = run(*["--strict"] * strict, *words, path="recip.yaml::some")
    level = "error" if strict else "warning"
    said = f"OutputTensor: 1 of 2 elements differs{WHERE}"
    junit = Path("a.xml").read_text(encoding="utf-8")
    assert f'failures="{int(strict)}"' in junit
    assert ('type="unlimited-tolerance"' if strict else f"<system-out>warning: {said}</system-out>") in junit
    (annotation,) = [line for line in result.stdout.splitlines() if line.startswith("::")]
    assert annotation.startswith(f"::{level} file=recip.yaml,line=3,")
    assert annotation.endswith(said)
    (found,) = json_of("a.sarif")["runs"][0]["results"]
    assert (found["ruleId"], found["level"]) == ("unlimited-tolerance", level)
    assert said in Path("a.html").read_text(encoding="utf-8")
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert ("with an unlimited tolerance" in summary) != strict
    merged = dmlcheck("merge", "a.json")
    assert ("(1 with an unlimited tolerance)" in merged.stdout) != strict


WIDE = """\
operator: DML_OPERATOR_{operator}
source: compared with the reference engine
desc: {{InputTensor: {{DataType: FLOAT32, Sizes: [1]}}, OutputTensor: {{DataType: FLOAT32, Sizes: [1]}}}}
inputs: {{InputTensor: [{value}]}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "value", "count"),
    [("ELEMENT_WISE_SIN", "1e30", 1), ("ELEMENT_WISE_COS", "1e30", 1), ("ELEMENT_WISE_SIN", "1e-3", 0)],
)
def test_a_tolerance_as_wide_as_all_results_is_no_limit(operator: str, value: str, count: int) -> None:
    """An angle of 1e30 is known to within 2^76, many turns."""
    Path("wide.yaml").write_text(WIDE.format(operator=operator, value=value), encoding="utf-8")
    (case,) = report(path="wide.yaml")["cases"]
    assert case["outputs"]["OutputTensor"]["unlimited"] == count


NORMALIZED = """\
operator: DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1
source: compared with the reference engine
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [4, 768]}
  OutputTensor: {DataType: FLOAT32, Sizes: [4, 768]}
  Axes: [1]
  NormalizeVariance: 1
  Epsilon: 1e-5
inputs: {InputTensor: {random: {seed: 1, low: 98.3, high: 101.7}}}
"""
TRAINED = """\
operator: DML_OPERATOR_BATCH_NORMALIZATION_TRAINING
source: compared with the reference engine
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [768, 4, 1, 1]}
  ScaleTensor: &one {DataType: FLOAT32, Sizes: [1, 4, 1, 1]}
  BiasTensor: *one
  OutputTensor: {DataType: FLOAT32, Sizes: [768, 4, 1, 1]}
  OutputMeanTensor: *one
  OutputVarianceTensor: *one
  Epsilon: 1e-5
inputs:
  InputTensor: {random: {seed: 1, low: 98.3, high: 101.7}}
  ScaleTensor: {fill: 1}
  BiasTensor: {fill: 0}
"""
OTHERS = """\
import numpy as np

class Normalized:
    name = "normalized"

    def run(self, desc, inputs):
        x = inputs["InputTensor"]
        axis = 0 if "ScaleTensor" in inputs else 1
        mean = x.mean(axis=axis, keepdims=True, dtype=np.float32)
        variance = ((x - mean) ** 2).mean(axis=axis, keepdims=True, dtype=np.float32)
        found = {"OutputTensor": (x - mean) / np.sqrt(variance + np.float32(1e-5))}
        return self.changed(found if axis else {**found, "OutputMeanTensor": mean, "OutputVarianceTensor": variance})

    def changed(self, found):
        return found

class NormalizedToZeros(Normalized):
    def changed(self, found):
        return {**found, "OutputTensor": found["OutputTensor"] * 0}
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", [NORMALIZED, TRAINED])
@pytest.mark.parametrize(("name", "code"), [("Normalized", 0), ("NormalizedToZeros", 1)])
def test_zeros_are_no_normalized_results_however_far_the_mean_is(text: str, name: str, code: int) -> None:
    Path("normalizing.py").write_text(OTHERS, encoding="utf-8")
    Path("far.yaml").write_text(text, encoding="utf-8")
    result = run("--strict", path="far.yaml", name=f"python:normalizing:{name}")
    assert result.exit_code == code, result.stdout
    assert bool(re.search("unlikely-error|output-mismatch", result.stdout)) == bool(code)


ONE_OF = """\
operator: DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR
source: by hand, a difference of 65535 is infinite in FLOAT16
desc:
  InputTensor: {DataType: UINT16, Sizes: [1]}
  ScaleTensor: {DataType: FLOAT16, Sizes: [1]}
  ZeroPointTensor: {DataType: UINT16, Sizes: [1]}
  OutputTensor: {DataType: FLOAT16, Sizes: [1]}
inputs: {InputTensor: [65535], ScaleTensor: [-0.25], ZeroPointTensor: [0]}
outputs: {OutputTensor: [-.inf]}
"""


def test_a_result_that_is_within_one_of_several_bounds_has_a_limit() -> None:
    """The reference gives -16384, which is right as well."""
    Path("one.yaml").write_text(ONE_OF, encoding="utf-8")
    found = report("--strict", path="one.yaml", name="reference")
    assert outcomes(found) == [("one", "passed", 0)]


def test_an_expectation_that_nothing_limits_is_no_pass_either() -> None:
    # The logarithm of 1e-40 is -92.1; where denormals are flushed it is -infinity, so there is no limit.
    Path("log.yaml").write_text(
        "operator: ELEMENT_WISE_LOG\n"
        "source: by hand\n"
        "desc: {InputTensor: {DataType: FLOAT32, Sizes: [1]}, OutputTensor: {DataType: FLOAT32, Sizes: [1]}}\n"
        "inputs: {InputTensor: [1.0e-40]}\n"
        "cases:\n"
        "- {name: wrong, outputs: {OutputTensor: [12345]}}\n"
        "- {name: right, outputs: {OutputTensor: [-92.10341]}}\n",
        encoding="utf-8",
    )
    assert outcomes(report(name="reference", path="log.yaml")) == [("wrong", "skipped", 1), ("right", "passed", 0)]
    assert run("--strict", name="reference", path="log.yaml").exit_code == 1
