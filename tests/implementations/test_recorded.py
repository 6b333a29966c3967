"""Outputs that were recorded elsewhere: the way there by the script of the export, and all that goes wrong with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck, json_of
from standin_dxdispatch import installed

from dmlcheck.formats.dxdispatch import exporter
from dmlcheck.formats.dxdispatch.form import MODEL
from dmlcheck.implementations import Failure, Unavailable, make
from dmlcheck.implementations.dxdispatch import RecordedTensors

# Results by hand.
CASES = """\
operator: REDUCE
desc: {InputTensor: {DataType: INT32, Sizes: [2, 2]}, OutputTensor: {DataType: INT32, Sizes: [2, 1]}, Axes: [1]}
inputs: {InputTensor: [[1, 2], [3, -4]]}
cases:
  - {name: sum, desc: {Function: SUM}, outputs: {OutputTensor: [[3], [-1]]}}
  - {name: max, desc: {Function: MAX}, outputs: {OutputTensor: [[2], [3]]}}
  - {name: wrong-axis, desc: {Function: MAX, Axes: [2]}, invalid: [REDUCE/C2]}
"""


def carry_out(folder: Path, exe: str, *options: str, script: str = "") -> subprocess.CompletedProcess[str]:
    """Run the models of an export with its own script, from another folder."""
    if sys.platform == "win32":
        words = ["cmd", "/d", "/c", str(folder / (script or "run.cmd")), exe, *options]
    else:
        words = ["/bin/sh", str(folder / (script or "run.sh")), exe, *options]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder.parent)


def judged(words: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the results of the cases, by name, with their reports' head under ""."""
    result = dmlcheck("run", "a.yaml", "--implementation", "recorded:moved/here", "--json", "report.json", *words)
    assert result.exit_code in (0, 1), result.output
    report = json_of("report.json")
    return {"": report, **{case["name"]: case for case in report["cases"]}}


def message(case: Any) -> str:
    (diagnostic,) = case["diagnostics"]
    return str(diagnostic["message"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export the cases, carry out the models, and return the folder with both."""
    place = tmp_path_factory.mktemp("made here")
    (place / "a.yaml").write_text(CASES, encoding="utf-8")
    result = dmlcheck("export", "--to", "dxdispatch", str(place / "a.yaml"), "-o", str(place / "out"))
    assert (result.exit_code, "2 cases exported to 2 models" in result.stdout) == (0, True), result.output
    ended = carry_out(place / "out", installed(place / "Program Files (x86)"))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    return place


@pytest.fixture(autouse=True)
def recorded(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bring what was recorded to another folder, in which the test is then run."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(made / "a.yaml", tmp_path)
    shutil.copytree(made / "out", tmp_path / "moved" / "here")
    return tmp_path / "moved" / "here"


def model(recorded: Path, name: str) -> Path:
    """Return the folder of a case's model."""
    entries = json_of(recorded / "manifest.json")["entries"]
    (folder,) = [entry["folder"] for entry in entries if any(case.endswith(f"::{name}") for case in entry["cases"])]
    return recorded / str(folder)


@pytest.mark.slow
def test_what_was_recorded_is_judged_anywhere() -> None:
    cases = judged()
    assert [cases[name]["outcome"] for name in ("sum", "max", "wrong-axis")] == ["passed"] * 3
    assert cases[""]["implementation_version"] == "0.17.0"
    assert cases[""]["device"] == "Stand-in Adapter"


@pytest.mark.slow
def test_a_wrong_output_fails(recorded: Path) -> None:
    path = model(recorded, "sum") / "outputs" / "OutputTensor.npy"
    path.write_bytes(path.read_bytes()[:-4] + b"\1\0\0\0")
    cases = judged()
    assert (cases["sum"]["outcome"], cases["max"]["outcome"]) == ("failed", "passed")
    assert "1 of 2 elements is outside the tolerance" in message(cases["sum"])


CHANGES = (
    ("-4]]", "-5]]"),
    ("Function: SUM", "Function: L1"),
    ("Sizes: [2, 2]", "Sizes: [2, 2], Strides: [3, 1]"),
)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_case_that_is_not_the_one_of_the_export_is_an_error(change: tuple[str, str]) -> None:
    Path("a.yaml").write_text(CASES.replace(*change), encoding="utf-8")
    case = judged()["sum"]
    assert case["outcome"] == "error"
    assert "the case is new or has changed since the export" in message(case)


@pytest.mark.slow
def test_other_expectations_of_the_same_case_need_no_other_export() -> None:
    Path("a.yaml").write_text(CASES.replace("[[3], [-1]]", "[[3], [0]]").replace("name: sum", "name: total"), "utf-8")
    assert judged()["total"]["outcome"] == "failed"


@pytest.mark.slow
def test_a_model_that_the_executable_failed_on_is_the_cases_error_with_the_end_of_the_log(recorded: Path) -> None:
    place = model(recorded, "sum")
    (place / "exit-code.txt").write_bytes(b"-2147024809\r\n")  # as cmd.exe writes it
    (place / "printed.txt").write_bytes(b"first\r\n" * 500 + b"ERROR creating dispatchable 'operator': \xff\r\n")
    cases = judged()
    assert (cases["sum"]["outcome"], cases["max"]["outcome"]) == ("error", "passed")
    begins = f"recorded has a run in {place.name} that ended with exit code 0x80070057; it printed\nfirst\n"
    assert message(cases["sum"]).startswith(begins)
    assert message(cases["sum"]).endswith("ERROR creating dispatchable 'operator': \N{REPLACEMENT CHARACTER}")
    assert message(cases["sum"]).count("first") < 20


@pytest.mark.slow
def test_a_model_that_was_not_reached_is_an_error(recorded: Path) -> None:
    place = model(recorded, "sum")
    shutil.rmtree(place / "outputs")
    (place / "exit-code.txt").unlink()
    assert re.search(r"has no outputs in reduce-\w+: run.cmd, or run.sh, did not get to it", message(judged()["sum"]))


def _without(path: Path) -> None:
    path.unlink()


def _short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def _other_type(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"<i4", b"<u4"))


def _other_shape(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"(2,)", b"(1,)"))


def _pickled(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"'<i4'", b"'|O' "))


def _rubbish(path: Path) -> None:
    path.write_bytes(b"\0" * 100)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [_without, _short, _other_type, _other_shape, _pickled, _rubbish, _folder])
def test_a_file_that_is_not_the_output_is_an_error_of_its_case_only(recorded: Path, spoil: Any) -> None:
    spoil(model(recorded, "sum") / "outputs" / "OutputTensor.npy")
    cases = judged()
    assert (cases["sum"]["outcome"], cases["max"]["outcome"]) == ("error", "passed")
    assert "OutputTensor" in message(cases["sum"])
    assert "it printed\nRunning on 'Stand-in Adapter'" in message(cases["sum"])


@pytest.mark.slow
def test_an_exit_code_that_is_none_is_said(recorded: Path) -> None:
    (model(recorded, "sum") / "exit-code.txt").write_text("ECHO is off.", encoding="utf-8")
    assert "exit-code.txt: 'ECHO is off.' is none" in message(judged()["sum"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links take a right on Windows")
def test_nothing_outside_of_the_folder_is_read(recorded: Path, made: Path) -> None:
    place = model(recorded, "sum")
    shutil.rmtree(place)
    place.symlink_to(model(made / "out", "sum"))
    assert "lies outside" in message(judged()["sum"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "manifest", "problem"),
    [
        ("nowhere", None, "nowhere is no export: No such file or directory; `dmlcheck export --to dxdispatch"),
        ("bad", "{", "bad is no export: "),
        ("bad", "[]", "manifest.json is not of the schema dmlcheck-export/1"),
        ("bad", "[" * 100_000, "bad is no export: "),
        ("bad", '{"schema": "dmlcheck-export/2"}', "manifest.json is not of the schema dmlcheck-export/1"),
        ("bad", '{"schema": "dmlcheck-export/1", "format": "onnx", "entries": []}', "bad is no export to dxdispatch"),
        ("bad", '{"schema": "dmlcheck-export/1", "format": "dxdispatch", "entries": 1}', "no export to dxdispatch"),
    ],
)
def test_what_is_no_export_is_wrong_usage(name: str, manifest: str | None, problem: str) -> None:
    if manifest is not None:
        Path(name).mkdir()
        Path(name, "manifest.json").write_text(manifest, encoding="utf-8")
    result = dmlcheck("run", "a.yaml", "--implementation", f"recorded:{name}")
    assert (result.exit_code, problem in " ".join(result.output.split())) == (2, True), result.output


@pytest.mark.slow
def test_entries_that_dmlcheck_did_not_write_are_no_recordings(recorded: Path) -> None:
    manifest = json_of(recorded / "manifest.json")
    for entry, folder in zip(manifest["entries"], ("../../elsewhere", "a\0b"), strict=True):
        entry["folder"] = folder
    manifest["entries"] += [None, 1, {}, {"digest": [], "folder": {}}]
    (recorded / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert "the case is new" in message(judged()["sum"])


def test_an_export_that_was_not_run_says_what_to_do(recorded: Path) -> None:
    for name in ("sum", "max"):
        shutil.rmtree(model(recorded, name) / "outputs")
        (model(recorded, name) / "exit-code.txt").unlink()
    result = dmlcheck("run", "a.yaml", "--implementation", "recorded:moved/here")
    assert result.exit_code == 2
    assert "moved/here has no outputs: run.cmd, or run.sh, in it runs its models" in " ".join(result.output.split())


# ---- the scripts


@pytest.mark.slow
def test_the_script_names_the_models_that_failed_and_leaves_no_earlier_outputs(recorded: Path) -> None:
    ended = carry_out(recorded, installed(recorded.parent / "bin", "--crash"))
    assert ended.returncode == 0
    assert len(re.findall(r"reduce-\w{16}: exit code 5", ended.stdout)) == 2
    assert list((model(recorded, "sum") / "outputs").iterdir()) == []
    assert "ended with exit code 5; it printed\nFailed to execute dispatchable" in message(judged()["sum"])


@pytest.mark.slow
def test_the_script_passes_options_on(recorded: Path) -> None:
    exe = installed(recorded.parent / "bin")
    told = recorded.parent / "told.txt"
    text = Path(exe).read_text(encoding="utf-8")
    telling = f'@echo %*>>"{told}"\n' if sys.platform == "win32" else f'#!/bin/sh\necho "$@" >>"{told}"\n'
    Path(exe).write_text(telling + text, encoding="utf-8")
    assert carry_out(recorded, exe, "-a", "Intel").returncode == 0
    assert told.read_text(encoding="utf-8").split("\n") == ["--help", *["model.json -a Intel"] * 2, ""]


@pytest.mark.slow
def test_the_script_refuses_to_start_without_a_program(recorded: Path) -> None:
    ended = carry_out(recorded, "no-such-program")
    assert (ended.returncode, "no such program" in ended.stderr) == (2, True)
    assert judged()["sum"]["outcome"] == "passed"  # the earlier outputs are still there


def test_the_scripts_are_written_as_their_programs_read_them(recorded: Path) -> None:
    batch = (recorded / "run.cmd").read_bytes()
    assert batch.count(b"\n") == batch.count(b"\r\n") > 30
    assert b"\r" not in (recorded / "run.sh").read_bytes()
    assert batch.isascii()
    labels = set(re.findall(rb"^:(\w+)", batch, re.MULTILINE))
    assert set(re.findall(rb"(?:goto|call) :?(\w+)", batch)) == labels
    for name in (MODEL, exporter.OUTPUTS, exporter.LOG, exporter.EXIT_CODE, exporter.ABOUT):
        assert name.encode() in batch
        assert name.encode() in (recorded / "run.sh").read_bytes()
    assert os.path.getsize(recorded / "README.md") > 200


# ---- the tensors of a model that was run elsewhere


pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("provider", "expected"), [("DmlExecutionProvider", True), ("CPUExecutionProvider", False), (None, None)]
)
def test_the_provider_that_ran_the_model_may_be_named(provider: str | None, expected: bool | None) -> None:
    np.savez("run.npz", **({} if provider is None else {"dmlcheck.provider": np.array(provider)}), x=np.zeros(1))
    made = RecordedTensors("run.npz")
    assert made.is_directml is expected
    assert made.device == (provider or "")


def test_a_file_that_cannot_be_read_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"none\.npz has no tensors of a model: no such file"):
        make("recorded:none.npz")
    Path("bad.npz").write_bytes(b"PK no archive")
    with pytest.raises(Unavailable, match=r"bad\.npz has no tensors of a model"):
        make("recorded:bad.npz")


def test_a_tensor_that_cannot_be_read_is_a_failure() -> None:
    np.savez("run.npz", x=np.array([print], object))
    with pytest.raises(Failure, match="cannot be read for x: it contains Python objects"):
        RecordedTensors("run.npz").tensor("x")


def test_it_runs_no_cases() -> None:
    np.savez("run.npz", x=np.zeros(1))
    made = RecordedTensors("run.npz")
    assert made.unsupported(None) == "it has the tensors of a model, and runs no cases"  # type: ignore[arg-type]
    with pytest.raises(Failure):
        made.run(None, {})  # type: ignore[arg-type]
