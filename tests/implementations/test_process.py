"""Programs that are run: what they print, how they end, and when they are ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dxdispatch_cases import a_folder_of_cases
from standin_dxdispatch import installed

from dmlcheck.implementations import TimedOut, _process


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in a folder with one case file, and see that no temporary file is left."""
    yield from a_folder_of_cases(tmp_path, monkeypatch)


def test_of_what_an_executable_prints_only_the_end_is_kept(folder: Path) -> None:
    ended = _process.run([installed(folder / "bin", "--flood"), "nowhere.json"], str(folder), 60.0)
    assert len(ended.text) <= _process.MOST
    assert ended.text.rstrip().endswith("nowhere.json'")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_is_named_and_a_grandchild_does_not_outlive_the_time_limit(folder: Path) -> None:
    ended = _process.run(["/bin/sh", "-c", "kill -9 $$"], str(folder), 10.0)
    assert (
        _process.ended_text(ended.code) + _process.sentence_end(ended.text) == "ended with SIGKILL, and printed nothing"
    )
    with pytest.raises(TimedOut):
        _process.run(["/bin/sh", "-c", "(sleep 1; echo late > late.txt) & wait"], str(folder), 0.3)
    time.sleep(1.2)
    assert not (folder / "late.txt").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="seen in /proc")
def test_a_child_in_a_session_of_its_own_does_not_outlive_the_time_limit_either(folder: Path) -> None:
    """It is ended with the program, and not first when the pipe that it holds is waited for."""
    code = (
        "import os, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True); "
        "open('pid.part', 'w').write(str(child.pid)); os.rename('pid.part', 'pid'); child.wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, **_process.ALONE)
    deadline = time.monotonic() + 30
    while not (folder / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int((folder / "pid").read_text("ascii"))
    assert os.getpgid(child) == child != process.pid
    _process.kill(process)
    process.wait(10.0)
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


def is_running(number: int) -> bool:
    """Whether a process runs; one that ended and that nobody waited for does not."""
    try:
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def test_exit_codes_of_windows_are_shown_as_what_they_are() -> None:
    assert _process.code_text(-2147024809) == "ended with exit code 0x80070057"  # E_INVALIDARG
    assert _process.code_text(3221225477) == "ended with exit code 0xc0000005"
    assert _process.code_text(2) == "ended with exit code 2"
