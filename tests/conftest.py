"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write what is printed instead of comparing it")


@pytest.fixture(autouse=True)
def _outside_of_workflows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what tests print the same in a GitHub workflow, and out of its summary."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
