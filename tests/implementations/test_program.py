"""A process that is asked again and again: its lines, its end, and what is shown of what it wrote."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dxdispatch_cases import folder
from standin_dxdispatch import installed

from dmlcheck.implementations import Failure, TimedOut, _program
from dmlcheck.implementations._program import MAX_LINE, Program
from dmlcheck.processes.programs import ended_text


@contextlib.contextmanager
def program(code: str) -> Iterator[Program]:
    """Run Python code as a program, and end it."""
    made = Program([sys.executable, "-c", code])
    try:
        yield made
    finally:
        made.end(0)


def soon() -> float:
    """Return when a program should have answered, on the slowest of machines."""
    return time.monotonic() + 60


def test_a_request_is_a_line_of_json_and_an_answer_is_the_next_line_that_is_not_blank() -> None:
    with program("import sys\nfor line in sys.stdin: print('\\n \\n' + line.upper(), end='', flush=True)") as echo:
        for number in (1, 2):
            echo.send({"id": number, "text": "é"})
            assert echo.line(soon()) == b'{"ID": %d, "TEXT": "\\U00E9"}' % number


def test_no_line_in_time_is_told_from_none_at_all() -> None:
    with program("input()") as silent, pytest.raises(TimedOut):
        silent.line(time.monotonic() + 0.1)
    with program("raise SystemExit(3)") as ended, pytest.raises(Failure, match=r"^ended with exit code 3 instead of"):
        ended.line(None)


def test_of_standard_error_the_end_is_kept_until_the_next_case() -> None:
    with program("import sys\nprint('x\\n' * 9000, 'last\\x07', file=sys.stderr, flush=True)") as loud:
        with pytest.raises(Failure):
            loud.line(None)
        loud.process.wait(60)
        loud.threads[2].join(60)
        assert loud.wrote().startswith("; it wrote: ...")
        assert loud.wrote().endswith("x / x / last")
        assert len(loud.wrote()) < 1100
        loud.forget()
        assert loud.wrote() == ""


def test_a_line_longer_than_a_mebibyte_is_refused_and_not_kept() -> None:
    code = f"import sys\nsys.stdout.write('a' * {MAX_LINE + 1} + '\\n')\nsys.stdout.flush()\ninput()"
    with program(code) as long, pytest.raises(Failure, match="wrote a line longer than 1 MiB: aaa") as refused:
        long.line(soon())
    assert len(str(refused.value)) < 200


def test_a_program_with_patience_ends_by_itself() -> None:
    made = Program([sys.executable, "-c", "import sys\nfor line in sys.stdin: pass\nsys.exit(5)"])
    made.end(60)
    assert made.process.returncode == 5


# ---- programs that are run: what they print, and when they are ended


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
