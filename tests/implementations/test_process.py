"""Programs that are run: what they print, and when they are ended."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from dxdispatch_cases import folder
from standin_dxdispatch import installed

from dmlcheck.implementations import TimedOut, _program
from dmlcheck.processes.programs import ended_text

__all__ = ["folder"]


def test_of_what_an_executable_prints_only_the_end_is_kept(folder: Path) -> None:
    ended = _program.run([installed(folder / "bin", "--flood"), "nowhere.json"], str(folder), 60.0)
    assert len(ended.text) <= _program.MOST
    assert ended.text.rstrip().endswith("nowhere.json'")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_is_named_and_a_grandchild_does_not_outlive_the_time_limit(folder: Path) -> None:
    ended = _program.run(["/bin/sh", "-c", "kill -9 $$"], str(folder), 10.0)
    assert ended_text(ended.code) + _program.sentence_end(ended.text) == "ended with SIGKILL, and printed nothing"
    with pytest.raises(TimedOut):
        _program.run(["/bin/sh", "-c", "(sleep 1; echo late > late.txt) & wait"], str(folder), 0.3)
    time.sleep(1.2)
    assert not (folder / "late.txt").exists()
