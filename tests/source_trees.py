"""The modules of the package as syntax trees, for the tests that look at the code itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "dmlcheck"


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module by its path in the package (`cases/read.py`)."""
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "data"]
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
