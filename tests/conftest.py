"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write what is printed instead of comparing it")
