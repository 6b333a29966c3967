"""What the tests of the page share."""

from __future__ import annotations

from pathlib import Path

import pytest
from html_pages import every_outcome, report


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "report.html"
    report(path, every_outcome())
    return path


@pytest.fixture(scope="module")
def page(page_file: Path) -> str:
    return page_file.read_text(encoding="utf-8")
