"""A model as cases: plain descs."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from dxdispatch_models import DESC, TEXT

from dmlcheck.cli import main
from dmlcheck.formats.read import read_file
from dmlcheck.validation import validate


def test_an_operator_of_a_model_is_a_plain_desc(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(TEXT, encoding="utf-8")
    file = read_file(str(path))
    (case,) = file.cases
    assert case.id == f"{path.as_posix()}::the first"
    assert (case.name, case.operator, case.desc) == ("the first", "DML_OPERATOR_ARGMAX", DESC)
    assert case.is_plain_desc
    assert case.position == (9, 22, 1)
    assert (file.problems, file.broken) == ((), {})
    assert validate(case.operator, case.desc, "6_4")[1] == []
    given = read_file(str(path), "models/model.json")
    assert [case.id for case in given.cases] == ["models/model.json::the first"]


def test_what_is_not_directml_is_noted_and_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(TEXT, encoding="utf-8")
    (note,) = read_file(str(path)).notes
    assert (note.rule, note.severity, note.pointer) == ("not-directml", "note", "dispatchables.shader")
    assert (note.line, note.column) == (19, 19)
    assert note.message == "the dispatchable shader is of type HLSL, not a DirectML operator; it is not checked"


def test_what_is_not_directml_breaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"resources": {}, "dispatchables": {"a": {"type": "hlsl"}}, "commands": []}', encoding="utf-8")
    done = CliRunner().invoke(main, ["validate", str(path), "--format", "json"])
    read = json.loads(done.stdout)
    assert (done.exit_code, read["valid"], [desc["valid"] for desc in read["descs"]]) == (0, True, [True])
