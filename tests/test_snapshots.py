"""What the commands print, whole; `pytest --update-snapshots` writes the files anew, and the diff shows the change."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from commandline import dmlcheck

SNAPSHOTS = Path(__file__).parent / "snapshots"
OUTPUTS = {
    "validate-errors": "validate bad.yaml",
    "validate-errors-json": "validate bad.yaml --format json",
    "validate-level": "validate levels.yaml --feature-level 2.1",
    "validate-good": "validate levels.yaml",
    "validate-cases": "validate case.yaml",
    "validate-model": "validate model.json",
    "validate-missing": "validate missing.yaml",
    "run": "run case.yaml",
    "run-verbose": "run case.yaml -v -k right",
    "run-level": "run case.yaml --feature-level 2_1",
    "run-one": "run case.yaml::wrong --accumulate float16",
    "run-missing": "run missing.yaml",
    "run-nothing": "run case.yaml -k nowhere",
    "eval": "eval eval.yaml",
    "eval-model": "eval model.json",
    "eval-bad": "eval bad.yaml",
    "show": "show",
    "show-operator": "show REDUCE",
    "show-operator-json": "show HARDMAX1 --format json",
    "show-operator-of-many-tensors": "show LSTM",
    "show-deviations": "show LP_POOLING",
    "show-errata": "show GEMM --errata",
    "validate-all-levels": "validate levels.yaml --all-levels",
    "validate-all-levels-json": "validate levels.yaml --all-levels --format json",
    "diff": "diff 3_0 4_1",
    "diff-json": "diff 5_2 6_0 --format json",
    "coverage": "coverage case.yaml",
    "coverage-json": "coverage case.yaml --format json",
    "explain": "explain",
    "explain-rule": "explain size-mismatch",
    "explain-constraint": "explain REDUCE/C4",
    "explain-code": "explain 80070057",
}


def printed(command: str) -> str:
    """Return what a command prints and its exit code, with all times 0 and without NumPy's version."""
    result = dmlcheck(*command.split())
    text = re.sub(r"\d+\.\d\d( s)?$", r"0.00\1", result.stdout, flags=re.MULTILINE)
    text = re.sub(r"\(NumPy [^)]+\)", "(NumPy 2)", text)
    parts = [f"$ dmlcheck {command}\n", text]
    if result.stderr:
        parts += ["--- stderr\n", result.stderr]
    return "".join(parts) + f"--- exit code {result.exit_code}\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_command_prints_what_is_on_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    shutil.copytree(SNAPSHOTS / "files", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    found = printed(OUTPUTS[name])
    path = SNAPSHOTS / f"{name}.txt"
    if request.config.getoption("--update-snapshots"):
        path.write_bytes(found.encode())
    assert path.read_bytes().decode().replace("\r\n", "\n") == found


def test_no_snapshot_is_left_over() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.txt")} == set(OUTPUTS)
