"""The glossary of the guide, and the texts that it is checked against."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import yaml
from guide_pages import GUIDE, ROOT, prose

from dmlcheck.cli import main
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page as rule_page

PACKAGE = ROOT / "dmlcheck"
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
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            text = _text(node)
            if text is not None and " " in text.strip() and id(node) not in documents | inside:
                yield f"{path.relative_to(ROOT).as_posix()}:{getattr(node, 'lineno', 0)}", text


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the sentences of all docstrings."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = " ".join((ast.get_docstring(node) or "").split())
                yield from ((name, sentence) for sentence in re.split(r"(?<=[.:;])\s", text))


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
