"""A failed case as people read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import WRONG, dmlcheck, write
from results import MISMATCH, case, failed

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.failure import (
    again,
    causes,
    encodable,
    errors_text,
    failure_lines,
    failure_text,
    problems_of,
    reason_text,
    repository_path,
    rules_text,
    short_line,
)
from dmlcheck.reports.layout import Style
from dmlcheck.reports.records import Earlier, RunInfo
from dmlcheck.running.results import CaseResult, Drift, Together
from dmlcheck.running.settings import Settings
from dmlcheck.specs.records import Deviation

DRIFTED = failed(outcome="passed", diagnostics=(), drift=(Drift("OutputTensor", 1.0, 5.0, is_failure=True),))


def test_a_failure_is_told_with_its_place_elements_desc_inputs_source_and_command() -> None:
    assert failure_text(failed(), lambda _: "dmlcheck run it").split("\n") == [
        "FAILED cases/sum.yaml::sum   output-mismatch",
        f"  cases/sum.yaml:10:29: error[output-mismatch]: {MISMATCH.message}",
        "    10 |   outputs: {OutputTensor: [[21]]}",
        "       |                             ^^",
        "  tolerance of OutputTensor: exact",
        "    [0]  expected 21 (0x1.5p+4)  got 22 (0x1.6p+4)  off by 1: 5 ULP, 2.5 times the tolerance",
        "  desc: DML_OPERATOR_REDUCE {Function: SUM, Axes: [0]}",
        "  InputTensor: [1, 20]",
        "  source: a page",
        "  again: dmlcheck run it",
    ]


def test_what_directml_is_known_to_get_wrong_of_such_a_desc_is_told() -> None:
    known = (Deviation("Wrong for P = 2.", "before 1.9.0", "a page"), Deviation("Slow.", "all", "an issue"))
    lines = failure_text(failed(known=known), None).split("\n")
    assert lines[-3:-1] == [
        "  known of DirectML (before 1.9.0): Wrong for P = 2. (a page)",
        "  known of DirectML (all): Slow. (an issue)",
    ]


def test_the_head_is_coloured_where_there_is_colour() -> None:
    lines = list(failure_lines(failed(), lambda _: "", style=Style(colour=True)))
    assert lines[0] == "\x1b[31mFAILED\x1b[0m \x1b[1mcases/sum.yaml::sum\x1b[0m   output-mismatch"
    assert lines[-1] == ""


def test_each_rule_is_named_once_and_drift_among_them() -> None:
    found = (MISMATCH, Diagnostic("timeout", "slow"), MISMATCH)
    result = failed(diagnostics=found, drift=DRIFTED.drift)
    assert rules_text(result) == "output-mismatch, timeout, accuracy-drift"
    assert [cause.rule for cause in causes(result)] == [
        "output-mismatch",
        "timeout",
        "output-mismatch",
        "accuracy-drift",
    ]


def test_the_reason_of_a_failure_is_its_first_error() -> None:
    warning = Diagnostic("unlikely-error", "unlikely", severity="warning")
    assert reason_text(failed(diagnostics=(warning, MISMATCH))) == MISMATCH.message
    assert reason_text(DRIFTED) == "OutputTensor: 5 ULP, and was 1 ULP"
    assert reason_text(CaseResult(case(), "error", "the process ended")) == "the process ended"
    long = Diagnostic("timeout", "x" * 1000 + "\nmore")
    assert reason_text(failed(diagnostics=(long, MISMATCH))) == "x" * 1000 + "\nmore (and 1 more)"
    assert errors_text((long, MISMATCH), 40) == "x" * 24 + "... (and 1 more)"
    assert errors_text((Diagnostic("timeout", "slow\nmore"),), 40) == "slow"


def test_a_failure_in_a_line_has_its_id_and_its_reason() -> None:
    assert short_line(failed()) == f"FAILED cases/sum.yaml::sum - {MISMATCH.message}"
    assert short_line(DRIFTED, Style(colour=True)).startswith("\x1b[31mDRIFTED\x1b[0m cases/sum.yaml::sum - Out")
    assert len(short_line(failed(diagnostics=(Diagnostic("timeout", "x" * 1000),)))) < 350


# ---- what reports for other programs show of a result


def test_a_failure_without_an_error_is_shown_by_its_reason_at_its_case() -> None:
    (problem,) = problems_of(CaseResult(case(), "error", "the process ended"))
    assert (problem.rule, problem.message, problem.where) == ("error", "the process ended", "cases/sum.yaml:8")
    (problem,) = problems_of(CaseResult(case(), "failed"))
    assert problem.message == "the case ended as failed"


def test_in_a_workflow_paths_start_at_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert repository_path("./a//b.yaml") == "a/b.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert repository_path("a.yaml") == "here/a.yaml"
    assert repository_path("../../elsewhere.yaml") == "../../elsewhere.yaml"
    assert [repository_path(name) for name in ("", "-")] == ["", "-"]


def test_what_no_encoding_can_carry_is_replaced() -> None:
    assert encodable("a\udc80b") == "a\ufffdb"


# ---- the command that runs a case again


@pytest.mark.slow
def test_the_command_at_the_end_of_a_failure_runs_that_case_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("a folder/it's.yaml", WRONG)
    first = dmlcheck("run", "a folder").stdout
    (again,) = (line.partition("again: ")[2] for line in first.splitlines() if "again: " in line)
    words = again.split("dmlcheck ", 1)[1]
    if os.name == "nt":
        repeated = subprocess.run(f"{sys.executable} -m dmlcheck {words}", capture_output=True, check=False)
    else:
        command = f"{sys.executable} -m dmlcheck {words}"
        repeated = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert repeated.returncode == 1
    failure, table, _ = first.partition("\noperator ")
    assert table
    assert repeated.stdout.decode().replace("\r\n", "\n").partition("\noperator ")[0] == failure


INFO = RunInfo("reference")


@pytest.mark.skipif(sys.platform == "win32", reason="the shell there has other quotes")
@pytest.mark.parametrize(
    ("info", "result", "command"),
    [
        (INFO, failed(), "dmlcheck run cases/sum.yaml::sum"),
        (INFO, failed("it's", "a b.yaml"), """dmlcheck run 'a b.yaml::it'"'"'s'"""),
        (INFO, failed("x", "-f.yaml"), "dmlcheck run -- -f.yaml::x"),
        (INFO, failed(is_malformed=True), "dmlcheck run cases/sum.yaml"),
        (
            INFO._replace(implementation="command:./it", settings=Settings(precision=Precision("FLOAT16", "BFLOAT16"))),
            failed(),
            (
                "dmlcheck run --implementation command:./it --accumulate float16 --input-precision bfloat16"
                " cases/sum.yaml::sum"
            ),
        ),
        (
            INFO._replace(settings=Settings(precision=Precision(algorithms=("winograd",)))),
            failed(),
            "dmlcheck run --algorithms winograd cases/sum.yaml::sum",
        ),
        (
            INFO._replace(options=("--timeout", "3", "--expectations", "a b.yaml", "--fail-on-skipped")),
            failed(),
            "dmlcheck run --timeout 3 --expectations 'a b.yaml' --fail-on-skipped cases/sum.yaml::sum",
        ),
        (
            INFO._replace(settings=Settings(directml_version="1.8.0")),
            failed(),
            "dmlcheck run --directml-version 1.8.0 cases/sum.yaml::sum",
        ),
        (INFO._replace(compared_to=Earlier("old.json")), failed(), "dmlcheck run cases/sum.yaml::sum"),
        (
            INFO._replace(compared_to=Earlier("old.json", max_drift=0.5)),
            failed(drift=(Drift("OutputTensor", 1.0, 5.0, is_failure=True),)),
            "dmlcheck run --compare-to old.json --max-drift 0.5 cases/sum.yaml::sum",
        ),
        (
            INFO._replace(compared_to=Earlier("old.json")),
            failed(drift=(Drift("OutputTensor", 1.0, 5.0, is_failure=False),)),
            "dmlcheck run --compare-to old.json cases/sum.yaml::sum",
        ),
    ],
)
def test_options_that_matter_are_given_and_names_quoted(info: RunInfo, result: CaseResult, command: str) -> None:
    assert again(info, result) == command


def test_a_model_of_a_folder_runs_again_with_the_inputs_beside_it() -> None:
    found = failed("a..b", "found/graph-1/model.onnx", together=Together(("a", "b"), ("Abs", "Add")))
    command = "dmlcheck run --inputs found/graph-1/inputs.npz --bisect found/graph-1/model.onnx"
    assert again(INFO, found) == command
    assert again(INFO._replace(model="judged"), found) == "dmlcheck run --bisect found/graph-1/model.onnx"
