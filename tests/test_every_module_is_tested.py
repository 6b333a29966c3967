"""Tests mirror the packages: every module that does something has a test file of its name in the folder of its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "dmlcheck"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ELSEWHERE = {"__init__.py": "test_api.py", "__main__.py": "test_main.py"}


def does_something(path: Path) -> bool:
    """Whether a module has a function: one of records or tables alone is tested with what uses it."""
    return any(isinstance(node, DEFINITIONS) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


MODULES = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] != "data" and does_something(path)
)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_a_test_file(module: str) -> None:
    path = Path(module)
    name = path.parent.name if path.name == "__init__.py" else path.stem.lstrip("_")
    assert (TESTS / ELSEWHERE.get(module, path.parent / f"test_{name}.py")).is_file()


def test_the_modules_are_found() -> None:
    assert len(MODULES) > 150
    assert {"api.py", "reference/ball/ball.py", "onnx/export/builder.py"} <= set(MODULES)
