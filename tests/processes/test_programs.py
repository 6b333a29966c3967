"""Programs: what is killed with one, and how its end is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dmlcheck.processes.programs import OWN_GROUP, code_text, ended_text, ending, kill


@pytest.mark.skipif(sys.platform != "linux", reason="seen in /proc")
def test_a_process_in_a_session_of_its_own_is_killed_with_the_program_that_started_it(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True); "
        "open('pid.part', 'w').write(str(child.pid)); os.rename('pid.part', 'pid'); child.wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, **OWN_GROUP)
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int((tmp_path / "pid").read_text("ascii"))
    assert os.getpgid(child) == child != process.pid
    kill(process)
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
    assert code_text(-2147024809) == "ended with exit code 0x80070057"  # E_INVALIDARG
    assert code_text(3221225477) == "ended with exit code 0xc0000005"
    assert code_text(2) == "ended with exit code 2"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_end_of_a_program_has_the_name_of_its_signal() -> None:
    assert ended_text(-signal.SIGSEGV) == "ended with SIGSEGV"
    assert ended_text(-1000) == "ended with signal 1000"
    assert ended_text(3) == "ended with exit code 3"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_implementation_may_end_its_process_for_lack_of_memory() -> None:
    assert ending(-signal.SIGSEGV) == "ended the process with SIGSEGV"
    assert ending(-signal.SIGKILL) == "ended the process with SIGKILL, perhaps for lack of memory"
    assert ending(-1000) == "ended the process with signal 1000"
    assert ending(3) == "ended the process with exit code 3"
