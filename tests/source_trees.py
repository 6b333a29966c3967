"""The modules of the package as syntax trees, for the tests that look at the code itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "dmlcheck"


def paths() -> dict[str, Path]:
    """Return the file of each module by its path in the package (`cases/read.py`)."""
    found = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: path for name, path in found.items() if not name.startswith("data/")}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths().items()}
