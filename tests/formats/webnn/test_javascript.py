"""JavaScript files as syntax trees: what is wrong with a file is said with its place, and nothing is executed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.webnn import javascript
from dmlcheck.formats.webnn.javascript import parse, read, require


def places(data: bytes) -> list[tuple[str, int | None, int | None, str]]:
    script = parse(data, "f.any.js")
    assert script.root is None
    return [(one.rule, one.line, one.column, one.message) for one in script.document.problems]


def test_a_file_is_a_tree_with_places() -> None:
    script = parse("\ufeff// é\r\nconst x = [1, /* 2 */ 3];\r\n".encode(), "f.any.js")
    assert script.root is not None
    assert script.document.problems == []
    statement = script.root.named_children[1]
    assert script.text(statement) == "const x = [1, /* 2 */ 3];"
    assert script.where(statement) == "f.any.js:2:1"
    array = statement.named_children[0].named_children[1]
    assert [script.text(part) for part in array.named_children if part.type != "comment"] == ["1", "3"]
    assert script.diagnostic(array, "p", "h")[:7] == ("webnn-syntax", "p", "error", "f.any.js", 2, 11, None)


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"const x = [1, 2;\n", 1, 16, "the file is not JavaScript: ']' is missing here"),
        (b"// 1\nconst x = (1 + 2;\n", 2, 17, "the file is not JavaScript: ')' is missing here"),
        ("const é = '\u00e9'; #\n".encode(), 1, 16, "the file is not JavaScript: unexpected '#'"),
        (b"const x = [" * 3, 1, 1, "the file is not JavaScript: unexpected 'const'"),
    ],
)
def test_a_syntax_error_has_its_place(data: bytes, line: int, column: int, message: str) -> None:
    rule, *found = places(data)[0]
    assert (rule, found) == ("webnn-syntax", [line, column, message])


def test_only_the_first_errors_are_told() -> None:
    assert 1 <= len(places(b"const = ;\n" * 1000)) <= 10


def test_what_is_not_utf8_is_said_with_its_place() -> None:
    message = "the byte 0xFF is not UTF-8; dmlcheck reads UTF-8"
    assert places(b"// 1\nx\xff = 1;\n") == [("webnn-syntax", 2, 2, message)]
    assert places("const x = 1;".encode("utf-16"))[0][3] == "the file is UTF-16; dmlcheck reads UTF-8"


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b"{(" * 50_000, b"- " * 100_000, bytes(range(256)) * 400]
)
def test_hostile_files_are_read_to_their_end(data: bytes) -> None:
    script = parse(data, "f.any.js")
    assert (script.root is None) == bool(script.document.problems)


def test_a_file_that_cannot_be_read_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = read("nowhere.any.js").document.problems
    assert (problem.rule, problem.message, problem.file) == (
        "file-not-found",
        "no such file or folder",
        "nowhere.any.js",
    )
    monkeypatch.setattr(javascript, "MAX_BYTES", 10)
    Path("large.any.js").write_text("const x = 1;", encoding="utf-8")
    (problem,) = read("large.any.js").document.problems
    assert (problem.rule, problem.message) == (
        "file-too-large",
        "large.any.js has 12 bytes; dmlcheck reads up to 10 of such a file",
    )


def test_a_missing_parser_is_said_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    require()
    monkeypatch.setitem(sys.modules, "tree_sitter_javascript", None)
    with pytest.raises(
        MissingRequirement, match="needs the packages tree-sitter and tree-sitter-javascript"
    ) as refused:
        require()
    assert 'install them with: python -m pip install "dmlcheck[webnn]"' in str(refused.value)
