"""One word for one thing: the words that the glossary does not use stand in no text of the tool."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from guide_pages import GUIDE, ROOT, prose
from source_trees import PACKAGE, trees

from dmlcheck.cli import main
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page as rule_page

PAGE = GUIDE / "glossary.md"
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)
_CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`", re.DOTALL)
_QUOTES = ("page", "source", "examples")  # of specs: what a page says, and where it is


@cache
def terms() -> dict[str, list[str]]:
    """Return each term of the glossary with the words that are not used for it."""
    rows = _ROW.findall(PAGE.read_text(encoding="utf-8"))
    return {
        term.strip().strip("*"): [word.strip() for word in others.split(",") if word.strip(" -")]
        for term, _, others in rows
        if term.strip() not in ("term", "---")
    }


@cache
def _others() -> re.Pattern[str]:
    """Return what finds a word that is not used, in any case and over the end of a line."""
    words = [re.escape(word).replace(r"\ ", r"\s+") for others in terms().values() for word in others]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-]|s\b)", re.IGNORECASE)


@cache
def _rules() -> re.Pattern[str]:
    """Return what finds the name of a rule."""
    return re.compile("|".join(map(re.escape, sorted(RULES, key=len, reverse=True))))


def found_in(text: str) -> list[str]:
    """Return the words of a text that the glossary does not use; rules and what stands in backticks are exempt."""
    plain = _rules().sub("", _CODE.sub("", text))
    return [" ".join(word.split()).lower() for word in _others().findall(plain)]


# ---- texts, each with where it is from


def pages() -> Iterator[tuple[str, str]]:
    """Yield the prose of the guide and of the README; the glossary's own last column is not prose."""
    for path in (ROOT / "README.md", *sorted(GUIDE.glob("*.md"))):
        text = prose(path.read_text(encoding="utf-8"))
        yield path.name, _ROW.sub(r"| \1 | \2 |", text) if path == PAGE else text


def catalog() -> Iterator[tuple[str, str]]:
    """Yield the texts of the rules."""
    for name, rule in RULES.items():
        page = rule_page(name)
        yield name, f"{page.summary}\n{rule.message}\n{page.why}\n{page.table}"


def helps() -> Iterator[tuple[str, str]]:
    """Yield what `--help` prints of every command."""
    context = click.Context(main, info_name="dmlcheck")
    yield "dmlcheck", main.get_help(context)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        if command is not None:
            yield name, command.get_help(click.Context(command, info_name=name, parent=context))
            below = command.commands if isinstance(command, click.Group) else {}
            for part, own in below.items():
                yield f"{name} {part}", own.get_help(click.Context(own, info_name=part, parent=context))


def strings() -> Iterator[tuple[str, str]]:
    """Yield the texts of several words in the code, but for those that document it."""
    for module, tree in trees().items():
        documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            text = _text(node)
            if text is not None and " " in text.strip() and id(node) not in documents | inside:
                yield f"dmlcheck/{module}:{getattr(node, 'lineno', 0)}", text


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the sentences of all docstrings."""
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = " ".join((ast.get_docstring(node) or "").split())
                yield from ((module, sentence) for sentence in re.split(r"(?<=[.:;])\s", text))


def riddle_in(sentence: str) -> str | None:
    """Return the part of a docstring's sentence that needs a second reading: a clause for a noun, or a settled word."""
    found = _RIDDLE.search(sentence)
    return found[0] if found else None


# "Return what gives the bound" for "Return the function that returns the bound", and the words for undefined.
_RIDDLE = re.compile(
    r"^What\b|^\w+ what\b|\bwhat (?:that|those|becomes? of|came of|comes of)\b|\bleft open\b|\bleaves? (?:\w+ )?open\b"
)


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "0" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def messages() -> Iterator[tuple[str, str]]:
    """Yield what is said of DirectML's messages; the messages themselves are quotes."""
    rows = yaml.safe_load((PACKAGE / "inspection" / "messages.yaml").read_text(encoding="utf-8"))
    for row in rows:
        yield str(row["patterns"][0]), f"{row['means']}\n{row.get('remedy', '')}"


def specs() -> Iterator[tuple[str, str]]:
    """Yield the texts of the specs, without those that quote a page."""
    for path in sorted((ROOT / "specs").rglob("*.yaml")):
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        yield from ((f"specs/{path.name}", text) for text in _texts(read, ""))


def _texts(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _texts(part, str(name) if key not in _QUOTES else key)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, key)
    elif isinstance(value, str) and " " in value and key not in _QUOTES:
        yield re.sub(r"\"[^\"]*\"|“[^”]*”", "", value)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


Texts = Callable[[], Iterator[tuple[str, str]]]

# Names and expressions that look like prose, by a part of each.
NOT_PROSE = (
    "unspecified|left open|",  # what the sources of cases may say
    "legality: cases that",  # a key of `show --evidence`
    "a legal desc",  # a reason in reports of earlier versions
)


@pytest.mark.slow
@pytest.mark.parametrize("texts", [catalog, helps, strings, messages, pages, specs], ids=lambda texts: texts.__name__)
def test_a_word_that_the_glossary_does_not_use_is_not_used(texts: Texts) -> None:
    found = [
        (where, word)
        for where, text in texts()
        if not any(name in text for name in NOT_PROSE)
        for word in found_in(text)
    ]
    assert found == []


@pytest.mark.slow
def test_the_texts_are_those_of_the_whole_tool() -> None:
    counts = {texts.__name__: len(list(texts())) for texts in (catalog, helps, strings, messages, pages, specs)}
    assert counts["catalog"] > 60
    assert counts["helps"] > 15
    assert counts["strings"] > 1000
    assert counts["messages"] > 40
    assert counts["pages"] > 10
    assert counts["specs"] > 1000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The desc is legal.", ["legal"]),
        ("Illegal, or left\nopen", ["illegal", "left open"]),
        ("within the bounds", ["bounds"]),
        ("this holds", ["holds"]),
        ("`holds: 1` and unspecified-mismatch are names", []),
        ("a tensor must be bound by the caller; FLOAT16 can hold it", []),
        ("The error is within its tolerance.", []),
    ],
)
def test_words_are_found_in_prose_and_not_in_names(text: str, found: list[str]) -> None:
    assert found_in(text) == found


def test_every_term_has_one_sentence_of_meaning_and_stands_in_order() -> None:
    names = list(terms())
    assert len(names) > 15
    assert names == sorted(names, key=str.lower)
    assert {"valid", "undefined", "tolerance", "desc", "feature level", "ULP", "support row", "constraint"} <= set(
        names
    )


@pytest.mark.slow
def test_no_docstring_paraphrases_a_noun_or_says_open_for_undefined() -> None:
    sentences = list(docstrings())
    assert len(sentences) > 4000
    assert [(where, riddle_in(text)) for where, text in sentences if riddle_in(text)] == []


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("What a run is of.", "What"),
        ("Return what gives one event after the other.", "Return what"),
        ("Return the result, and what becomes of it.", "what becomes of"),
        ("NaN is left open.", "left open"),
        ("The page leaves it open.", "leaves it open"),
        ("Return the next event.", None),
        ("A message says what is wrong.", None),
        ("Open the file.", None),
    ],
)
def test_a_riddle_is_found_in_a_sentence(sentence: str, found: str | None) -> None:
    assert riddle_in(sentence) == found
