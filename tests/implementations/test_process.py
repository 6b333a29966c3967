"""Programs that are run: what they print, how they end, and when they are ended."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dxdispatch_cases import CASES
from standin_dxdispatch import installed

from dmlcheck.implementations import TimedOut, _process


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in a folder with one case file, and see that no temporary file is left."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(CASES, encoding="utf-8")
    yield tmp_path
    assert list((tmp_path / "temporary").iterdir()) == []


def test_of_what_an_executable_prints_only_the_end_is_kept(folder: Path) -> None:
    ended = _process.run([installed(folder / "bin", "--flood"), "nowhere.json"], str(folder), 60.0)
    assert len(ended.text) <= _process.MOST
    assert ended.text.rstrip().endswith("nowhere.json'")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_is_named_and_a_grandchild_does_not_outlive_the_time_limit(folder: Path) -> None:
    ended = _process.run(["/bin/sh", "-c", "kill -9 $$"], str(folder), 10.0)
    assert _process.ended_text(ended.code) + _process.said(ended.text) == "ended with SIGKILL, and printed nothing"
    with pytest.raises(TimedOut):
        _process.run(["/bin/sh", "-c", "(sleep 1; echo late > late.txt) & wait"], str(folder), 0.3)
    time.sleep(1.2)
    assert not (folder / "late.txt").exists()


def test_exit_codes_of_windows_are_shown_as_what_they_are() -> None:
    assert _process.code_text(-2147024809) == "ended with exit code 0x80070057"  # E_INVALIDARG
    assert _process.code_text(3221225477) == "ended with exit code 0xc0000005"
    assert _process.code_text(2) == "ended with exit code 2"
