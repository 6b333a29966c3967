"""Tests mirror the packages: every module that does something has a test file of its name in the folder of its name."""

from __future__ import annotations

import ast
from pathlib import Path

from source_trees import trees

TESTS = Path(__file__).parent
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ELSEWHERE = {"__init__.py": "test_api.py", "__main__.py": "test_main.py"}


def with_functions() -> list[str]:
    """Return the modules that have a function: one of records or tables alone is tested with what uses it."""
    return [name for name, tree in trees().items() if any(isinstance(node, DEFINITIONS) for node in ast.walk(tree))]


def file_of(module: str) -> Path:
    """Return the test file of a module."""
    path = Path(module)
    name = path.parent.name if path.name == "__init__.py" else path.stem.lstrip("_")
    return TESTS / ELSEWHERE.get(module, path.parent / f"test_{name}.py")


def test_every_module_has_a_test_file() -> None:
    assert [module for module in with_functions() if not file_of(module).is_file()] == []


def test_the_modules_are_found() -> None:
    assert len(with_functions()) > 150
    assert {"api.py", "reference/ball/ball.py", "onnx/export/builder.py"} <= set(with_functions())
