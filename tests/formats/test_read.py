"""Files to cases, whatever their format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dmlcheck.formats.read import read_file

DESC = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1]}}
MODEL = {
    "resources": {},
    "dispatchables": {"relu": {"type": "ACTIVATION_RELU", "desc": DESC}, "shader": {"type": "hlsl"}},
    "commands": [],
}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ({"operator": "ACTIVATION_RELU", "desc": DESC}, ["x"]),
        ({"operator": "ACTIVATION_RELU", "desc": DESC, "cases": [{"name": "one"}, {"name": "two"}]}, ["one", "two"]),
        (MODEL, ["relu"]),
        ({**MODEL, "cases": []}, []),
    ],
)
def test_a_file_is_read_as_what_it_is(tmp_path: Path, content: object, names: list[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    file = read_file(str(path), "given/x.json")
    assert [case.name for case in file.cases] == names
    assert [case.id for case in file.cases] == [f"given/x.json::{name}" for name in names]
    assert [note.rule for note in file.notes] == (["not-directml"] if content is MODEL else [])


@pytest.mark.parametrize(
    ("content", "expected"),
    [({"cases": []}, True), ({"cases": None}, False), (MODEL, True), ({"operator": "X"}, False)],
)
def test_a_file_is_a_list_of_cases_or_one_case(tmp_path: Path, content: object, expected: bool) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert read_file(str(path)).is_list is expected


def test_a_file_that_has_no_cases_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"")
    (problem,) = read_file(str(path)).problems
    assert (problem.rule, problem.file) == ("wrong-type", path.as_posix())
    assert problem.message == "the file is a DirectML graph; it must be a case file or a DxDispatch model"


def test_a_file_that_is_not_there_has_a_problem(tmp_path: Path) -> None:
    file = read_file(str(tmp_path / "none.yaml"))
    assert [problem.rule for problem in file.problems] == ["file-not-found"]
    assert file.cases == ()
