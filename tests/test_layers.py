"""The direction of imports: a module imports only from those before it in the README's map of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dmlcheck"
MAP = (ROOT / "README.md").read_text(encoding="utf-8").partition("| module |")[2].partition("\n\n")[0]
ORDER = [name for row in MAP.split("\n")[1:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py" and path.parent.name != "data")


def layer(parts: tuple[str, ...]) -> str:
    """Return the top module or package of a file or a dotted import within dmlcheck ("" for dmlcheck itself)."""
    return parts[0].removesuffix(".py").replace("__init__", "")


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the layers that a file imports, inside functions and for types too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (layer(tuple(alias.name.split(".")[1:])) for alias in node.names if "dmlcheck." in alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module.split(".")[0] == "dmlcheck":
            rest = tuple(node.module.split(".")[1:])
            if rest:
                yield layer(rest)
            else:
                yield from (alias.name for alias in node.names if alias.name != "__version__")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_from_those_before_it(path: Path) -> None:
    own = layer(path.relative_to(PACKAGE).parts)
    if own == "":
        return  # dmlcheck itself hands on what api and the records define
    before = ORDER[: ORDER.index(own) + 1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [name for name in imported(tree) if name not in before] == []


def test_validation_needs_neither_numpy_nor_rich() -> None:
    reading = ORDER[: ORDER.index("selection") + 1]
    for path in FILES:
        if layer(path.relative_to(PACKAGE).parts) in reading:
            names = {name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for name in _roots(node)}
            assert not names & {"numpy", "rich", "click"}, path


def _roots(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    return [node.module.split(".")[0]] if isinstance(node, ast.ImportFrom) and node.module else []


def test_the_expression_of_the_order_is_not_empty() -> None:
    assert len(ORDER) > 20
