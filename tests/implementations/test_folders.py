"""Temporary folders: held by their process, removed at the end, and by the next run where that never came."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dmlcheck.implementations._folders import LOCK, PREFIX, TemporaryFolder, remove_left

HOLD = """\
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from dmlcheck.implementations._folders import TemporaryFolder
folder = TemporaryFolder()
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give this test temporary folders of its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_new_and_gone_after_its_block(temporary: Path) -> None:
    with TemporaryFolder() as first, TemporaryFolder() as second:
        assert first.path != second.path
        assert Path(first.path).parent == temporary
        Path(first.path, "a.npy").write_bytes(b"")
    assert list(temporary.iterdir()) == []


def test_the_folder_of_a_process_that_lives_stays_and_that_of_a_killed_one_goes(temporary: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(temporary)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        try:
            remove_left(str(temporary))
            assert (path / LOCK).exists()
        finally:
            process.kill()
    assert path.exists()
    with TemporaryFolder():  # as the next run does
        assert not path.exists()


def test_what_is_no_folder_of_a_run_stays(temporary: Path) -> None:
    (temporary / f"{PREFIX}empty").mkdir()
    (temporary / f"{PREFIX}file").write_bytes(b"")
    (temporary / "other").mkdir()
    (temporary / "other" / LOCK).write_bytes(b"")
    remove_left(str(temporary))
    assert sorted(path.name for path in temporary.iterdir()) == [f"{PREFIX}empty", f"{PREFIX}file", "other"]


def test_a_link_to_a_folder_that_was_left_is_not_followed(temporary: Path) -> None:
    (temporary / "left").mkdir()
    (temporary / "left" / LOCK).write_bytes(b"")
    try:
        os.symlink(temporary / "left", temporary / f"{PREFIX}link", target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    remove_left(str(temporary))
    assert (temporary / "left" / LOCK).exists()


def test_where_no_folder_can_be_made_that_is_an_error(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "gone"))
    with pytest.raises(OSError, match="gone"):
        TemporaryFolder()
