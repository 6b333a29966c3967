"""What the tests of DxDispatch's models share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dxdispatch_cases import a_folder_of_cases


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in a folder with one case file, and see that no temporary file is left."""
    yield from a_folder_of_cases(tmp_path, monkeypatch)
