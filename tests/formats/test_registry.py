"""The registry of formats: what a file is, and what takes it."""

from __future__ import annotations

import ast
import io
import os
from importlib import import_module
from pathlib import Path

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


def test_a_file_that_has_no_cases_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"")
    (problem,) = read_file(str(path)).problems
    assert (problem.rule, problem.file) == ("wrong-type", path.as_posix())
    assert problem.message == "the file is a DirectML graph; it must be a case file or a DxDispatch model"
