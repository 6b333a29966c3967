"""What the tests of DxDispatch's models share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from dxdispatch_cases import CASES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in a folder with one case file, and see that no temporary file is left."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(CASES, encoding="utf-8")
    yield tmp_path
    assert list((tmp_path / "temporary").iterdir()) == []
