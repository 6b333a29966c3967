"""What the tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    """Run every test in an empty folder."""
    return folder
