"""Processes that are asked: their answers, every way to lose one, and that nothing is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from left_processes import left_of

import dmlcheck
from dmlcheck.implementations import Failure, TimedOut, _asked
from dmlcheck.implementations._asked import AskedProcess, LostProcess

HERE = Path(__file__).parent.parent
SOON = 60.0  # seconds after which there is an answer on the slowest of machines


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let processes import from the folder of tests, and see that none is left."""
    monkeypatch.setattr(_asked, "_ROOT", str(HERE))
    monkeypatch.setenv("DMLCHECK_ROOT", str(Path(dmlcheck.__file__).parent.parent))
    monkeypatch.setenv("DMLCHECK_OF", str(tmp_path))
    yield tmp_path
    assert left_of(tmp_path) == []


@contextmanager
def started(environment: Mapping[str, str] | None = None) -> Iterator[AskedProcess]:
    made = AskedProcess("asked_process", environment)
    try:
        yield made
    finally:
        made.close(0.0)
        assert made.process.returncode is not None


def lost(asked: AskedProcess, *question: Any) -> str:
    with pytest.raises(LostProcess) as raised:
        asked.ask(question, SOON)
    assert isinstance(raised.value, Failure)
    return str(raised.value)


# ---- answers


@pytest.mark.parametrize("value", [1, None, "\u00e9", (b"\0\xff", [2**64 - 1, None]), b"x" * 2**22])
def test_what_is_sent_comes_back(value: Any) -> None:
    with started() as asked:
        assert [asked.ask(("echo", value), SOON) for _ in range(2)] == [value, value]
        assert asked.ask(("echo", value), None) == value


def test_a_process_is_alone_with_the_folder_of_the_package() -> None:
    with started() as asked:
        assert asked.ask(("place", None), SOON) == (str(HERE), 1, 1, False)
        assert asked.ask(("input", None), SOON) == ""


def test_the_package_is_found_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert os.path.samefile(os.path.join(_asked._ROOT, "dmlcheck", "__init__.py"), dmlcheck.__file__)


def test_some_variables_of_its_environment_may_be_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DMLCHECK_ONE", "of this process")
    monkeypatch.setenv("DMLCHECK_TWO", "of this process")
    with started({"DMLCHECK_TWO": "its own"}) as asked:
        found = [asked.ask(("variable", f"DMLCHECK_{name}"), SOON) for name in ("ONE", "TWO", "THREE")]
    assert found == ["of this process", "its own", None]
    assert os.environ["DMLCHECK_TWO"] == "of this process"


# ---- lost answers


@pytest.mark.parametrize("code", [0, 3])
def test_a_process_that_exits_is_lost_with_its_code(code: int) -> None:
    with started() as asked:
        assert lost(asked, "exit", code) == f"ended with exit code {code}"
        assert lost(asked, "echo", 1) == f"ended with exit code {code}"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_a_process_that_a_signal_ends_is_lost_with_its_name(name: str) -> None:
    with started() as asked:
        assert asked.ask(("echo", 1), SOON) == 1
        assert lost(asked, "signal", int(signal.Signals[name])) == f"ended with {name}"


def test_a_process_that_ends_while_a_long_question_is_sent_is_lost() -> None:
    with started() as asked:
        asked.connection.send(("exit", 4))
        assert lost(asked, "echo", bytes(2**24)) == "ended with exit code 4"


def test_an_exception_ends_a_process_and_is_among_what_it_wrote() -> None:
    with started() as asked:
        assert lost(asked, "fail", "no such desc") == "ended with exit code 1"
        assert asked.errors().rstrip().endswith("ValueError: no such desc")


def test_a_module_that_is_not_there_is_lost_at_the_first_question() -> None:
    made = AskedProcess("no_such_module")
    assert lost(made, "echo", 1) == "ended with exit code 1"
    assert "No module named 'no_such_module'" in made.errors()
    made.close()


def test_a_process_that_closes_its_connection_and_goes_on_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_asked, "_GRACE", 0.2)
    with started() as asked:
        assert lost(asked, "close", 60) == "closed its connection instead of answering"


def test_an_answer_that_takes_too_long_is_told_from_one_that_is_lost() -> None:
    with started() as asked:
        with pytest.raises(TimedOut, match=r"^0\.25$"):
            asked.ask(("sleep", 60), 0.25)
        assert asked.process.poll() is None


# ---- what it wrote


def test_what_a_process_wrote_is_read_to_its_end_as_often_as_it_is_asked_for() -> None:
    with started() as asked:
        assert asked.errors() == ""
        assert asked.ask(("write", b"first\n"), SOON) == 6
        assert asked.errors() == asked.errors() == "first\nerror"
        assert asked.ask(("write", b"\xff second\n"), SOON) == 9
        assert asked.errors() == "first\nerror\ufffd second\nerror"


def test_of_much_that_a_process_wrote_the_end_is_kept() -> None:
    with started() as asked:
        asked.ask(("write", b"a" * 10_000 + b"z"), SOON)
        assert asked.errors() == "a" * (4096 - 6) + "zerror"


# ---- the end


def test_a_process_that_waits_for_questions_ends_by_itself() -> None:
    asked = AskedProcess("asked_process")
    assert asked.ask(("echo", 1), SOON) == 1
    asked.close(SOON)
    assert asked.process.returncode == 0
    assert (asked.connection.closed, asked.written.closed) == (True, True)


def test_a_process_that_does_not_end_in_time_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_asked, "kill", killed := Killed())
    asked = AskedProcess("asked_process")
    asked.connection.send(("sleep", 60))
    asked.close(0.1)
    assert killed.processes == [asked.process]
    assert asked.process.returncode not in (0, None)


class Killed:
    """Kills, and remembers whom."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self.kill = _asked.kill

    def __call__(self, process: subprocess.Popen[bytes]) -> None:
        self.processes.append(process)
        self.kill(process)


@pytest.mark.skipif(sys.platform != "linux", reason="seen in /proc")
def test_what_a_process_started_ends_with_it(folder: Path) -> None:
    with started() as asked:
        assert asked.ask(("start", 60), SOON) > 0
    assert left_of(folder) == []


def test_a_process_that_cannot_be_started_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    written = tempfile.TemporaryFile()  # noqa: SIM115 - it is to be closed by what is tested
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: written)
    monkeypatch.setattr(sys, "executable", str(HERE / "no-such-python"))
    with pytest.raises(OSError, match="no-such-python"):
        AskedProcess("asked_process")
    assert written.closed
