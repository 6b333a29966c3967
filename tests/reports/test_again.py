"""The command that runs a case again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import WRONG, dmlcheck, write
from results import failed

from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.again import again
from dmlcheck.reports.records import Earlier, RunInfo
from dmlcheck.running.results import CaseResult, Drift, Together
from dmlcheck.running.settings import Settings


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
