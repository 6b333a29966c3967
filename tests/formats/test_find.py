"""Which files a path stands for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dmlcheck.formats.find import find_files, inputs_file_of, is_report, real_path, search
from dmlcheck.formats.registry import read_file


def make(folder: Path, *names: str, text: str = "{}") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(folder: Path) -> list[str]:
    """Return the files of a folder by their paths in it."""
    return [Path(path).relative_to(folder).as_posix() for path in find_files(str(folder)) or []]


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, ".a.yaml", ".git/b.yaml", "c.yaml")
    assert found(tmp_path) == ["c.yaml"]


@pytest.mark.parametrize("name", ["a\0.yaml", "\ud800"])
def test_what_is_no_path_is_its_own_identity(name: str) -> None:
    assert real_path(name) == name or sys.platform == "win32"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_left_out_and_not_waited_for(tmp_path: Path) -> None:
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "a.yaml")
    assert search(str(tmp_path)) == ([], [], [str(tmp_path / "a.yaml")], [])


def test_a_folder_that_may_not_be_read_is_among_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.yaml", "secret/b.yaml")
    scan = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == "secret":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(tmp_path) == ["a.yaml", "secret"]
    (problem,) = read_file(str(tmp_path / "secret")).problems
    assert (problem.rule, problem.message) == ("file-not-found", "may not be read")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"schema": "dmlcheck-report/1"}', True),
        ('\n {"schema":"dmlcheck-validation/1", "descs": []}', True),
        ('{"cases": [], "schema": "dmlcheck-report/1"}', True),
        ('{"operator": "ARGMAX", "note": "dmlcheck-report"}', False),
        ('{"cases": "\\"dmlcheck-"}', False),
        ('["dmlcheck-report/1"]', False),
        ('{"cases": "dmlcheck-', False),
    ],
)
def test_reports_of_dmlchecks_own_are_no_case_files(tmp_path: Path, text: str, expected: bool) -> None:
    make(tmp_path, "a.json", text=text)
    assert is_report(str(tmp_path / "a.json")) == expected
    assert found(tmp_path) == ([] if expected else ["a.json"])


def test_a_file_that_cannot_be_read_is_no_report(tmp_path: Path) -> None:
    assert not is_report(str(tmp_path))


def test_models_of_findings_are_in_folders_of_their_name_with_their_inputs(tmp_path: Path) -> None:
    make(tmp_path, "graph-1/model.onnx", "graph-1/inputs.npz", "graph-2/model.onnx", "graph-3/inputs.npz", "d.yaml")
    make(tmp_path, "own/model.onnx", "own/inputs.npz")
    (model,) = search(str(tmp_path)).models_of_findings
    assert Path(model) == tmp_path / "graph-1" / "model.onnx"
    assert Path(inputs_file_of(model)) == tmp_path / "graph-1" / "inputs.npz"
    assert search(str(tmp_path / "graph-1")).models_of_findings == [model]
    assert search(str(tmp_path / "own")).models_of_findings == []
    assert inputs_file_of("found/graph-1/model.onnx") == "found/graph-1/inputs.npz"
