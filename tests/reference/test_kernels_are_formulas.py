"""Kernels are formulas: they take arrays and attributes, and return arrays."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from dmlcheck.reference import kernels
from dmlcheck.specs.names import DATA_TYPES

FOLDER = Path(kernels.__file__).parent
FAMILIES = sorted(
    path
    for path in (*FOLDER.glob("*.py"), *FOLDER.glob("*/__init__.py"))
    if path.parent != FOLDER or path.stem != "__init__"
)
ENGINE = ("ball", "blocks", "tiling", "numbers", "threads", "operands", "engine", "bounds", "threading", "concurrent")
LONGEST = 25  # lines of a function


def family(path: Path) -> str:
    """Return the name of the family that a module is of."""
    return path.parent.name if path.stem == "__init__" else path.stem


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield f"{node.module}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def reached(path: Path) -> list[str]:
    """Return the parts of the engine that a family imports."""
    modules = imported(ast.parse(path.read_text(encoding="utf-8")))
    return sorted({name for name in modules if set(name.split(".")) & set(ENGINE)})


@pytest.mark.slow
def test_a_family_imports_nothing_of_the_engine() -> None:
    assert {family(path): found for path in FAMILIES if (found := reached(path))} == {}


def types_tested(path: Path) -> list[str]:
    """Return the comparisons of a family with the name of a data type, or with the tables of types."""
    nodes = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Compare))
    return [ast.unparse(node) for node in nodes if any(map(_is_of_types, ast.walk(node)))]


def _is_of_types(node: ast.AST) -> bool:
    is_name = isinstance(node, ast.Constant) and node.value in DATA_TYPES
    return is_name or (isinstance(node, ast.Name) and node.id in ("DATA_TYPES", "FORMATS", "NUMPY_TYPES"))


def test_a_family_tests_no_data_type() -> None:
    assert {family(path): found for path in FAMILIES if (found := types_tested(path))} == {}


def lengths(path: Path) -> dict[str, int]:
    """Return how many lines the functions of a family have, their headers and docstrings aside."""
    functions = (
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    )
    return {f"{family(path)}.{each.name}": (each.end_lineno or 0) - _first(each).lineno + 1 for each in functions}


def _first(function: ast.FunctionDef) -> ast.stmt:
    """Return the first statement after the docstring, which may be the docstring."""
    return function.body[min(1, len(function.body) - 1) if ast.get_docstring(function) else 0]


def test_a_formula_fits_in_the_eye_and_most_have_a_few_lines() -> None:
    found = {name: lines for path in FAMILIES for name, lines in lengths(path).items()}
    assert {name: lines for name, lines in found.items() if lines > LONGEST} == {}
    assert sorted(found.values())[len(found) // 2] <= 6


@pytest.mark.parametrize("name", ["attention", "convolution", "recurrent", "regions"])
def test_tensors_of_several_dimensions_say_which(name: str) -> None:
    rows = import_module(f"{kernels.__name__}.{name}").KERNELS
    assert len(rows) >= 2
    for row in rows.values():
        tensors = [own for own in inspect.signature(row.function).parameters.values() if own.kind != own.KEYWORD_ONLY]
        assert [own.name for own in tensors if "[" not in str(own.annotation)] == []
