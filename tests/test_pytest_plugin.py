"""`pytest --dmlcheck`: cases as tests, in one process and under pytest-xdist, in pytest's own reports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from commandline import DESC, json_of
from misbehaving import CRASH, HANG

HERE = Path(__file__).parent
MISMATCH = "OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance"
FILE = """\
operator: DML_OPERATOR_REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
  Axes: [0]
inputs: {InputTensor: [1, 2, 3]}
cases:
- {name: right, outputs: {OutputTensor: [6]}}
- {name: wrong, outputs: {OutputTensor: [7]}}
- {name: nothing}
- {name: illegal, desc: {Axes: [1]}, outputs: {OutputTensor: [6]}}
- {name: malformed, output: 3}
- {name: many, matrix: {N: [5, 6, 7]}, outputs: {OutputTensor: ["${N}"]}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "sum.yaml").write_text(FILE, encoding="utf-8")
    (tmp_path / "cases" / "broken.yaml").write_text("operator: [\n", encoding="utf-8")
    (tmp_path / "cases" / "report.json").write_text('{"schema": "dmlcheck-report/1", "cases": []}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALONE = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]  # what has no part in these tests


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in this process, or in one of its own where pytest-xdist starts others."""
    if "-n" in words and words[words.index("-n") + 1] != "0":
        command = [sys.executable, "-m", "pytest", *ALONE, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    command = [*ALONE, "-p", "no:unraisableexception", "-p", "no:threadexception", *words]
    with warnings.catch_warnings(), redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
        warnings.resetwarnings()  # here they are errors
        code = int(pytest.main(command))
    return subprocess.CompletedProcess(command, code, output.getvalue(), errors.getvalue())


def known(*entries: str) -> None:
    """Write a file of known results."""
    Path("known.yaml").write_text("\n".join(entries), encoding="utf-8")


def counts(words: str) -> str:
    return words.splitlines()[-1].partition(" in ")[0].strip("= ")


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_every_case_is_a_test(processes: str) -> None:
    result = run("--dmlcheck", "cases", "-n", processes, "--junitxml", "r.xml")
    assert (result.returncode, counts(result.stdout)) == (1, "6 failed, 2 passed, 1 skipped")
    cases = {case.get("name"): case for case in ET.parse("r.xml").iter("testcase")}  # noqa: S314 - our own file
    assert cases.keys() == {
        "file", "right", "wrong", "nothing", "illegal", "malformed", "many[N=5]", "many[N=6]", "many[N=7]",
    }  # fmt: skip
    failure = cases["wrong"].find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance;")
    assert "expected 7 (0x1.cp+2)  got 6 (0x1.8p+2)" in (failure.text or "")
    assert "again: dmlcheck run cases/sum.yaml::wrong" in (failure.text or "")
    assert cases["nothing"].find("skipped") is not None
    assert cases["right"].find("failure") is None


@pytest.mark.slow
def test_a_failure_shows_the_line_and_no_traceback() -> None:
    result = run("--dmlcheck", "cases/sum.yaml")
    assert "error[axis-out-of-range]: Axes[0] is 1" in result.stdout
    assert "error[unknown-key]: a case has no key output" in result.stdout
    assert "runtest" not in result.stdout


@pytest.mark.slow
def test_no_line_begins_with_what_a_name_says() -> None:
    """The log of a GitHub workflow would take it for a command."""
    text = FILE.replace("name: wrong", 'name: "a\\n::error::b\\e[31m"').replace(
        "source: by hand", 'source: "a\\n::error::c"'
    )
    Path("cases/sum.yaml").write_text(text, encoding="utf-8")
    done = run("--dmlcheck", "cases", "-v", "--color=no")
    assert r"sum.yaml::a\n::error::b\x1b[31m" in done.stdout
    assert "\x1b" not in done.stdout
    assert [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")] == []


@pytest.mark.slow
def test_one_case_may_be_asked_for() -> None:
    assert counts(run("--dmlcheck", "cases/sum.yaml::right").stdout) == "1 passed"
    assert counts(run("--dmlcheck", "cases", "-k", "many and 6").stdout) == "1 passed, 8 deselected"


@pytest.mark.slow
def test_nothing_is_collected_unasked() -> None:
    assert run("cases").returncode == 5


@pytest.mark.slow
def test_an_implementation_and_its_level_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    words = ["--dmlcheck", "cases/sum.yaml::right", "--dmlcheck-implementation", "python:misbehaving:Misbehaving"]
    assert counts(run(*words).stdout) == "1 passed"
    assert counts(run(*words, "--dmlcheck-feature-level", "1_0").stdout) == "1 skipped"
    words = [
        "--dmlcheck",
        "cases/sum.yaml::wrong",
        *words[2:],
        "--dmlcheck-accumulate",
        "float16",
        "--dmlcheck-inputs",
        "tf32",
    ]
    options = "--implementation python:misbehaving:Misbehaving --accumulate float16 --input-precision tf32"
    again = f"dmlcheck run {options} cases/sum.yaml::wrong"
    assert f"  again: {again}\n" in run(*words).stdout


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_summary_has_the_mismatch_and_the_id_once(processes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = run("--dmlcheck", "cases", "-n", processes).stdout.splitlines()
    found = dict(line.removeprefix("FAILED ").split(" - ") for line in lines if " - " in line and "FAILED" in line)
    wrong = {f"cases/sum.yaml::{name}": MISMATCH for name in ("wrong", "many[N=5]", "many[N=7]")}
    assert {name: reason.partition("; worst")[0] for name, reason in found.items()} == {
        "cases/broken.yaml::file": "did not find expected node content while parsing a flow node",
        "cases/sum.yaml::illegal": "Axes[0] is 1, and InputTensor has dimensions 0 to 0",
        "cases/sum.yaml::malformed": "a case has no key output",
        **wrong,
    }


@pytest.mark.slow
def test_expected_failures_are_xfailed_and_expected_skips_are_skips() -> None:
    known(
        "- {cases: '*::wrong', expect: failed, reason: a bug}",
        "- {cases: '*::nothing', expect: skipped, reason: no outputs}",
        "- {cases: '*::right', expect: failed, reason: fixed}",
    )
    result = run("--dmlcheck", "cases/sum.yaml", "--dmlcheck-expectations", "known.yaml", "-rxs")
    assert counts(result.stdout) == "5 failed, 1 passed, 1 skipped, 1 xfailed"
    assert "XFAIL cases/sum.yaml::wrong - a bug" in result.stdout
    assert "expected failed, and passes: fixed" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_an_expectation_of_no_case_fails_unless_single_cases_are_asked_for(processes: str) -> None:
    known("- {cases: '*::nobody', expect: failed, reason: gone}")
    words = ["--dmlcheck", "--dmlcheck-expectations", "known.yaml", "-n", processes]
    whole = run("cases/sum.yaml", *words).stdout
    assert "FAILED known.yaml::expectations - no case of this run has an id like *::nobody" in whole
    assert counts(run("cases/sum.yaml::right", *words).stdout) == "1 passed"


def test_a_file_of_expectations_is_no_case_file() -> None:
    known("- {cases: '*::wrong', expect: failed, reason: a bug}")
    found = run(".", "--dmlcheck", "--dmlcheck-expectations", "known.yaml", "--collect-only", "-q").stdout
    assert ("known.yaml" in found, "cases/sum.yaml::wrong" in found) == (False, True)


def test_expectations_that_are_wrong_are_refused_with_their_place() -> None:
    known("- {cases: '*::wrong', expect: failed}")
    result = run("--dmlcheck", "cases", "--dmlcheck-expectations", "known.yaml")
    assert (result.returncode, "known.yaml:1:3: error[missing-key]" in result.stderr) == (4, True)


@pytest.mark.slow
def test_a_case_that_outlives_its_time_fails_and_the_others_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    cases = "\n".join(
        f"- {{name: c{first}, inputs: {{InputTensor: [{first}, 0, 0]}}, outputs: {{OutputTensor: [{first}]}}}}"
        for first in (1, HANG, CRASH, 2)
    )
    (folder / "cases" / "sum.yaml").write_text(FILE.partition("inputs")[0] + f"cases:\n{cases}\n", encoding="utf-8")
    implementation = ["--dmlcheck-implementation", "python:misbehaving:Misbehaving"]
    result = run("--dmlcheck", "cases/sum.yaml", *implementation, "--dmlcheck-timeout", "3")
    assert counts(result.stdout) == "2 failed, 2 passed"
    assert re.search(r"error\[timeout\]: .*\b3 s", result.stdout)
    assert "error[implementation-error]" in result.stdout


@pytest.mark.slow
def test_what_may_be_accumulated_in_can_be_chosen(folder: Path) -> None:
    text = FILE.replace("FLOAT32", "FLOAT16").partition("cases:")[0]
    text = text.replace("[1, 2, 3]", "[2048, 1, 1]") + "cases:\n- {name: sum, outputs: {OutputTensor: [2046]}}\n"
    (folder / "cases" / "sum.yaml").write_text(text, encoding="utf-8")
    words = ["--dmlcheck", "cases/sum.yaml"]
    assert counts(run(*words).stdout) == "1 failed"
    assert counts(run(*words, "--dmlcheck-accumulate", "float16").stdout) == "1 passed"


TENSOR = "{DataType: FLOAT32, Sizes: [1, 1, 1, 1]}"
CUT = f"""\
operator: DML_OPERATOR_GEMM
source: 0.3 without the bits that TF32 does not have
desc: {{ATensor: {TENSOR}, BTensor: {TENSOR}, OutputTensor: {TENSOR}, TransA: NONE, TransB: NONE, Alpha: 1, Beta: 0}}
inputs: {{ATensor: [0.3], BTensor: [1]}}
outputs: {{OutputTensor: [0.2998046875]}}
"""
UNLIKELY = """\
operator: DML_OPERATOR_REDUCE
source: the sum of 0 to 1999, and 100
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [2000]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
  Axes: [0]
inputs: {InputTensor: {sequence: {start: 0, step: 1}}}
outputs: {OutputTensor: [1999100]}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words", "counted"),
    [
        (CUT, [], "1 failed"),
        (CUT, ["--dmlcheck-inputs", "tf32"], "1 passed, 1 warning"),  # of what the case expects
        (UNLIKELY, [], "1 passed, 1 warning"),
        (UNLIKELY, ["--dmlcheck-strict"], "1 failed"),
    ],
)
def test_inputs_and_strictness_can_be_chosen(folder: Path, text: str, words: list[str], counted: str) -> None:
    (folder / "cases" / "sum.yaml").write_text(text, encoding="utf-8")
    assert counts(run("--dmlcheck", "cases/sum.yaml", *words).stdout) == counted


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["--dmlcheck-implementation", "nobody"],
        ["--dmlcheck-feature-level", "9_9"],
        ["--dmlcheck-timeout", "-1"],
        ["--dmlcheck-timeout", "nan"],
        ["--dmlcheck-accumulate", "float8"],
        ["--dmlcheck-expected-within", "-1"],
        ["--dmlcheck-expected-within", "nan"],
        ["--dmlcheck-inputs", "float16"],
        ["--dmlcheck-expectations", "nowhere.yaml"],
        ["--dmlcheck-shard", "3/2"],
        ["--dmlcheck-shard", "half"],
    ],
)
def test_options_that_mean_nothing_are_refused(words: list[str]) -> None:
    result = run("--dmlcheck", "cases", *words)
    assert (result.returncode, words[1] in result.stderr) == (4, True)


OFF = """\
operator: DML_OPERATOR_ELEMENT_WISE_RECIP
desc: {InputTensor: &one {DataType: FLOAT32, Sizes: [1]}, OutputTensor: *one}
inputs: {InputTensor: [3]}
outputs: {OutputTensor: [0.33334]}
tolerance: {absolute: 0.01}
"""


@pytest.mark.slow
def test_an_inaccurate_expectation_is_a_warning_and_with_strict_a_failure() -> None:
    Path("off.yaml").write_text(OFF, encoding="utf-8")
    said = "inaccurate-expectation: OutputTensor[0] is expected to be 0.33334"
    warned = run("--dmlcheck", "off.yaml")
    assert (warned.returncode, counts(warned.stdout)) == (0, "1 passed, 1 warning")
    assert f"off.yaml:4:26: {said}" in warned.stdout
    near = run("--dmlcheck", "off.yaml", "--dmlcheck-strict", "--dmlcheck-expected-within", "300")
    assert (near.returncode, counts(near.stdout)) == (0, "1 passed")
    failed = run("--dmlcheck", "off.yaml", "--dmlcheck-strict", "--dmlcheck-expected-within", "3")
    assert (failed.returncode, counts(failed.stdout)) == (1, "1 failed")
    assert "again: dmlcheck run --strict --expected-within 3 off.yaml::off" in failed.stdout


@pytest.mark.slow
def test_the_plugin_costs_nothing_where_it_is_not_used() -> None:
    script = "import sys, dmlcheck.pytest_plugin; assert not {'numpy', 'yaml', 'click', 'rich'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.slow
def test_failures_that_are_known_of_a_version_of_directml_are_xfailed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    text = FILE.replace("FLOAT32", "FLOAT16").partition("cases:")[0]
    text += "cases:\n- {name: sum, outputs: {OutputTensor: [7]}}\n"
    (folder / "cases" / "sum.yaml").write_text(text, encoding="utf-8")
    words = ["--dmlcheck", "cases/sum.yaml", "--dmlcheck-implementation", "python:misbehaving:DirectMLLike"]
    assert counts(run(*words).stdout) == "1 failed"
    for options in ((), ("--dmlcheck-timeout", "60")):
        result = run(*words, "--dmlcheck-directml-version", "1.8.0", "-rx", *options)
        assert counts(result.stdout) == "1 xfailed"
        assert "XFAIL cases/sum.yaml::sum - FLOAT16 SUM and AVERAGE can overflow" in result.stdout
    refused = run(*words[:2], "--dmlcheck-directml-version", "1.8.0")
    said = "--dmlcheck-directml-version 1.8.0: reference is not DirectML; judge DirectML with"
    assert (refused.returncode, said in refused.stderr) == (4, True)
    wrong = run(*words, "--dmlcheck-directml-version", "eight")
    assert (wrong.returncode, "eight is not a version of DirectML; write 1.8.0" in wrong.stderr) == (4, True)


NEGATIVE = (
    DESC
    + """\
cases:
- {name: plain}
- {name: axis, desc: {Axes: [1]}, invalid: [axis-out-of-range]}
- {name: random, inputs: {InputTensor: {random: {seed: 1, low: 1, high: 2}}}}
"""
)


VAIN = "dmlcheck: 0 cases computed, 2 descs checked: nothing was checked on python:judged:unable"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "processes", "code", "outcomes", "line"),
    [
        ("reference", "0", 0, "2 passed, 1 skipped", "dmlcheck: 0 cases computed, 2 descs checked"),
        ("python:judged:refusing", "0", 1, "1 failed, 2 passed", "dmlcheck: 2 cases computed, 1 desc checked"),
        ("python:judged:unable", "0", 5, "2 passed, 1 skipped", VAIN),
        ("python:judged:unable", "2", 5, "2 passed, 1 skipped", VAIN),
    ],
)
def test_a_session_in_which_an_implementation_computes_nothing_is_not_green(
    monkeypatch: pytest.MonkeyPatch, name: str, processes: str, code: int, outcomes: str, line: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    Path("cases/broken.yaml").unlink()
    Path("cases/sum.yaml").write_text(NEGATIVE, encoding="utf-8")
    result = run("--dmlcheck", "cases", "-n", processes, "--dmlcheck-implementation", name)
    assert (result.returncode, counts(result.stdout)) == (code, outcomes), result.stdout
    assert line in result.stdout.splitlines()


# ---- shards and the JSON report


def reported(name: str) -> dict[str, Any]:
    """Return a report without what differs from run to run."""
    report = dict(json_of(name))
    for case in report["cases"]:
        del case["seconds"]
    return report


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_json_report_has_the_cases_as_run_reports_them(processes: str) -> None:
    known("- {cases: '*::wrong', expect: failed, reason: a known bug}")
    words = ["--dmlcheck-json", "pytest.json", "--dmlcheck-expectations", "known.yaml", "-n", processes]
    assert run("--dmlcheck", "cases", *words).returncode == 1
    command = ["run", "cases", "--json", "run.json", "--expectations", "known.yaml"]
    subprocess.run([sys.executable, "-m", "dmlcheck", *command], capture_output=True, check=False, timeout=60)
    ours, wanted = reported("pytest.json"), reported("run.json")
    assert ours["cases"] == wanted["cases"]
    assert len(ours["cases"]) == 9
    for key in ("schema", "tool", "implementation", "implementation_version", "feature_level", "strict", "accuracy"):
        assert ours[key] == wanted[key]
    assert {**ours["summary"], "seconds": 0} == {**wanted["summary"], "seconds": 0}
    assert ours["summary"]["xfailed"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_each_case_is_in_one_shard_and_merge_makes_them_one_run(processes: str) -> None:
    found = []
    for number in ("1", "2"):
        words = ["--dmlcheck-shard", f"{number}/2", "--dmlcheck-json", f"{number}.json", "-n", processes]
        assert run("--dmlcheck", "cases", *words).returncode == 1
        found.append([case["id"] for case in reported(f"{number}.json")["cases"]])
    assert min(map(len, found)) >= 1
    assert not set(found[0]) & set(found[1])
    command = [sys.executable, "-m", "dmlcheck", "merge", "2.json", "1.json", "--json", "all.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stderr
    assert run("--dmlcheck", "cases", "--dmlcheck-json", "whole.json").returncode == 1
    assert [case["id"] for case in reported("all.json")["cases"]] == [
        case["id"] for case in reported("whole.json")["cases"]
    ]
    shards = {tuple(sorted(ids)) for ids in found}
    subprocess.run(
        [sys.executable, "-m", "dmlcheck", "run", "cases", "--shard", "1/2", "--json", "of_run.json"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert tuple(sorted(case["id"] for case in reported("of_run.json")["cases"])) in shards


def test_a_session_that_stops_says_what_did_not_run_and_is_no_shard() -> None:
    words = ["--dmlcheck-shard", "1/1", "--dmlcheck-json", "r.json", "-x"]
    assert run("--dmlcheck", "cases/sum.yaml", *words).returncode == 1
    report = reported("r.json")
    assert [case["outcome"] for case in report["cases"]] == ["passed", "failed"]
    assert (report["not_run"], report["digest"]) == (6, None)


@pytest.mark.slow
def test_other_tests_and_the_check_of_known_results_are_in_every_shard_and_no_report() -> None:
    Path("test_plain.py").write_text("def test_plain():\n    pass\n", encoding="utf-8")
    known("- {cases: '*::nowhere', expect: failed, reason: a known bug}")
    words = [
        "--dmlcheck-expectations",
        "known.yaml",
        "--dmlcheck-json",
        "r.json",
        "test_plain.py",
        "cases/sum.yaml",
        "-v",
    ]
    for number in ("1", "2"):
        text = run("--dmlcheck", "--dmlcheck-shard", f"{number}/2", *words).stdout
        assert "test_plain.py::test_plain PASSED" in text
        assert "known.yaml::expectations FAILED" in text
        assert all(case["id"].startswith("cases/sum.yaml::") for case in reported("r.json")["cases"])


@pytest.mark.slow
def test_selected_cases_alone_are_reported_and_nothing_where_they_are_only_listed() -> None:
    assert run("--dmlcheck", "cases/sum.yaml", "-k", "right", "--dmlcheck-json", "r.json").returncode == 0
    assert [case["name"] for case in reported("r.json")["cases"]] == ["right"]
    run("--dmlcheck", "cases/sum.yaml", "--collect-only", "--dmlcheck-json", "listed.json")
    assert not Path("listed.json").exists()


@pytest.mark.slow
def test_a_report_takes_the_place_of_no_other_file() -> None:
    before = Path("cases/sum.yaml").read_text(encoding="utf-8")
    result = run("--dmlcheck", "cases", "--dmlcheck-json", "cases/sum.yaml")
    assert (result.returncode, "cases/sum.yaml is there, and is no earlier report" in result.stderr) == (4, True)
    assert Path("cases/sum.yaml").read_text(encoding="utf-8") == before
    result = run("--dmlcheck", "cases", "--dmlcheck-json", "nowhere/r.json")
    assert (result.returncode, "--dmlcheck-json nowhere/r.json: No such file" in result.stderr) == (4, True)
