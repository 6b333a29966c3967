"""Which files a path stands for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dmlcheck.formats.find import each_once, find_files, inputs_file_of, is_report, search
from dmlcheck.formats.registry import read_file


def make(folder: Path, *names: str, text: str = "{}") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(folder: Path) -> list[str]:
    """Return the files of a folder by their paths in it."""
    return [Path(path).relative_to(folder).as_posix() for path in find_files(str(folder)) or []]


def test_a_folder_stands_for_its_yaml_and_json_files_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.yaml", "a.yml", "c.JSON", "d.txt", "sub/a.yaml", "a/z.yaml")
    assert found(tmp_path) == ["a.yml", "b.yaml", "c.JSON", "a/z.yaml", "sub/a.yaml"]


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, ".a.yaml", ".git/b.yaml", "c.yaml")
    assert found(tmp_path) == ["c.yaml"]


def test_a_file_is_itself_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, "desc.txt")
    assert find_files(str(tmp_path / "desc.txt")) == [str(tmp_path / "desc.txt")]


def test_what_is_not_there_stands_for_nothing(tmp_path: Path) -> None:
    assert find_files(str(tmp_path / "no.yaml")) is None
    assert find_files(str(tmp_path)) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_left_out_and_not_waited_for(tmp_path: Path) -> None:
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "a.yaml")
    assert search(str(tmp_path)) == ([], [], [str(tmp_path / "a.yaml")], [])


def link(place: Path, to: Path) -> None:
    try:
        place.symlink_to(to, target_is_directory=to.is_dir())
    except OSError:
        pytest.skip("links cannot be made here")


def test_a_link_that_leads_nowhere_is_among_the_files(tmp_path: Path) -> None:
    link(tmp_path / "a.yaml", tmp_path / "gone.yaml")
    assert found(tmp_path) == ["a.yaml"]


def test_a_linked_folder_is_not_searched_and_is_told(tmp_path: Path) -> None:
    make(tmp_path, "cases/a.yaml", "elsewhere/b.yaml", "cases/sub/m.ONNX", "cases/.hidden.onnx")
    link(tmp_path / "cases" / "linked", tmp_path / "elsewhere")
    root = tmp_path / "cases"
    assert search(str(root)) == (
        [str(root / "a.yaml")],
        [str(root / "linked")],
        [],
        [str(root / "sub" / "m.ONNX")],
    )


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


def test_a_file_is_taken_once_whatever_path_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.yaml", "b.yaml")
    monkeypatch.chdir(tmp_path)
    paths = ["a.yaml", "./a.yaml", str(tmp_path / "b.yaml"), "b.yaml"]
    assert list(each_once(paths)) == ["a.yaml", str(tmp_path / "b.yaml")]
