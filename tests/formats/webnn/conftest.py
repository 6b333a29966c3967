"""Tests of WebNN's tests: in an empty folder, skipped without a parser of JavaScript."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="without tree-sitter no JavaScript is read")
pytest.importorskip("tree_sitter_javascript", reason="without tree-sitter-javascript no JavaScript is read")


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    """Run every test in an empty folder."""
    return folder
