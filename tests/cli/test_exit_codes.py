"""What the exit codes mean, as the contract fixes them, and that the command line alone chooses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dmlcheck
from dmlcheck.cli.exit_codes import Exit


def test_the_exit_codes_are_those_of_the_contract() -> None:
    assert {code.name: code.value for code in Exit} == {
        "GOOD": 0,
        "FAILED": 1,
        "WRONG_INPUT": 2,
        "NOTHING_CHECKED": 5,
        "INTERRUPTED": 130,
    }


def _used(path: Path) -> Iterator[str]:
    """Yield what a module uses of that by which a program prints or ends."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "exit"):
            yield node.func.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            yield from (f"sys.{name}" for name in ("stdout", "stderr", "exit") if node.attr == name)


@pytest.mark.slow
def test_nothing_but_the_command_line_prints_and_chooses_exit_codes() -> None:
    package = Path(dmlcheck.__file__).parent
    others = ("cli", "data", "__main__.py")
    modules = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in others]
    assert {path.relative_to(package).as_posix(): found for path in modules if (found := set(_used(path)))} == {}
    assert set(_used(package / "cli" / "console.py")) == {"sys.stdout", "sys.stderr"}
