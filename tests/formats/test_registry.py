"""The registry of formats: what a file is, and what takes it."""

from __future__ import annotations

import ast
import io
import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dmlcheck.formats import registry
from dmlcheck.formats.registry import (
    FORMATS,
    binary_format,
    endings,
    importers,
    not_accepted,
    opened,
    read_file,
    takers,
    text_format,
)

pytestmark = pytest.mark.usefixtures("folder")

USES = ("cases", "validated", "evaluated", "exported", "judged")


def word(path: str) -> str | None:
    found = binary_format(path)
    return None if found is None else found.word


FUNCTIONS = [
    *(getattr(form, use) for form in FORMATS for use in USES if getattr(form, use)),
    *(function for form in FORMATS for function in form.imported.values()),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_a_format_is_there(name: str) -> None:
    module, _, function = name.partition(":")
    assert callable(getattr(import_module(module), function))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.onnx", b"", "onnx"),
        ("A.ONNX", b"", "onnx"),
        ("a.bin", b"cases: []", "graph"),
        ("a.bin", b"\x08\x07\x12\x07pytorch", "onnx"),
        ("a.bin", b"\x08\x01\x00\x00", "graph"),  # a FlatBuffer whose root is at 0x108
        ("a.yaml", b"\x08\x07\x12\x00", None),
        ("a.json", b"", None),
        ("model", b"\x08\x07\x12\x07pytorch", "onnx"),  # ir_version 7, producer_name
        ("model.pb", b"\x08\x0a:\x80\x01", "onnx"),  # ir_version 10, graph
        ("model.txt", b"\x08\x07\x99", None),
        ("cases.txt", b"operator: ARGMAX", None),
        ("empty", b"", None),
    ],
)
def test_a_file_is_recognised_by_its_first_bytes_and_else_by_its_name(
    name: str, data: bytes, expected: str | None
) -> None:
    Path(name).write_bytes(data)
    assert word(name) == expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_what_is_no_file_is_not_waited_for() -> None:
    os.mkfifo("pipe")
    assert (word("pipe"), word("."), word("absent"), word("a\0b")) == (None, None, None, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"dispatchables": {}}, True),
        ({"dispatchables": None}, True),
        ({"resources": {}, "commands": []}, False),
        ({"dispatchables": {}, "cases": []}, False),
        ({}, False),
        ([], False),
        (["dispatchables"], False),
        ("dispatchables", False),
        (None, False),
    ],
)
def test_a_model_is_known_by_its_dispatchables(value: Any, expected: bool) -> None:
    assert (text_format(value).word == "dxdispatch") is expected


def test_a_file_is_read_once_with_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.json").write_text('{"dispatchables": {}}', encoding="utf-8")
    found = opened("a.json")
    assert (found.format.word, found.document.value, found.document.name) == (
        "dxdispatch",
        {"dispatchables": {}},
        "a.json",
    )
    found = opened("absent.bin")
    assert (found.format.word, found.document.text, found.document.problems) == ("graph", "", [])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"cases: []")))
    assert (opened("-").format.word, opened("absent.yaml").format.word) == ("cases", "cases")


def test_what_does_not_take_a_format_says_what_does() -> None:
    found = not_accepted(opened("a.onnx"), "cases")
    assert (found.rule, found.file) == ("wrong-type", "a.onnx")
    assert found.message == "the file is an ONNX model; it must be a case file or a DxDispatch model"
    assert found.help == (
        "`dmlcheck run`, `dmlcheck validate`, `dmlcheck eval`, `dmlcheck import onnx` and `dmlcheck import graph` "
        "take ONNX models"
    )


def test_formats_are_listed_by_what_they_can_be_used_for() -> None:
    assert list(takers("exported")) == ["dxdispatch", "onnx"]
    assert endings("cases") == (".yaml", ".yml", ".json")
    assert next(one.listed for one in FORMATS if one.word == "graph") == "DirectML graphs (.bin)"
    assert next(one.listed for one in FORMATS if one.word == "cases") == "case files"


def test_every_format_but_foreign_tests_can_be_evaluated_and_validated() -> None:
    for use in ("evaluated", "validated"):
        assert [one.word for one in FORMATS if one not in takers(use).values()] == ["webnn"]


def test_the_commands_of_a_format_are_listed_whether_one_or_several() -> None:
    assert [one.taken_by for one in FORMATS if one.word in ("graph", "webnn")] == [
        "`dmlcheck validate`, `dmlcheck eval` and `dmlcheck import graph` take DirectML graphs",
        "`dmlcheck import webnn` takes WebNN conformance tests",
    ]


def test_import_has_words_each_for_some_formats() -> None:
    assert {word: [one.word for one in formats] for word, formats in importers().items()} == {
        "dxdispatch": ["dxdispatch"],
        "onnx": ["onnx"],
        "graph": ["onnx", "graph"],
        "webnn": ["webnn"],
    }


def test_no_command_recognises_a_format_by_itself() -> None:
    """The endings stand in the registry alone; an example in a help has a name before its ending."""
    folder = Path(registry.__file__).parent.parent / "cli"
    known = {ending for form in FORMATS for ending in form.endings}
    for path in folder.glob("*.py"):
        texts = {node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)}
        assert not texts & known, path


# ---- cases of a file


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
