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


def test_a_file_that_is_not_there_has_a_problem(tmp_path: Path) -> None:
    file = read_file(str(tmp_path / "none.yaml"))
    assert [problem.rule for problem in file.problems] == ["file-not-found"]
    assert file.cases == ()
