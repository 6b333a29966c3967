"""Children: their answers, every way to lose one, and that nothing is left of them."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from left_processes import left_of

import dmlcheck
from dmlcheck.processes import child as module
from dmlcheck.processes.body import send
from dmlcheck.processes.child import Child, IsolatedChild, LateChild, LostChild, end

HERE = Path(__file__).parent.parent
SOON = 60.0  # seconds after which there is an answer on the slowest of machines


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let isolated children import from the folder of tests too, and see that none is left."""
    monkeypatch.setattr(module, "_BODY", f"import sys; sys.path.append({str(HERE)!r}); {module._BODY}")
    monkeypatch.setenv("DMLCHECK_OF", str(tmp_path))
    yield tmp_path
    assert left_of(tmp_path) == []


@contextmanager
def started(*arguments: Any, **more: Any) -> Iterator[Child]:
    made = Child("asked_process", *arguments, **more)
    try:
        yield made
    finally:
        made.kill()
        assert made.process.returncode is not None


@contextmanager
def isolated(environment: Mapping[str, str] | None = None) -> Iterator[IsolatedChild]:
    made = IsolatedChild("asked_process", environment=environment or {}, start_time=SOON)
    try:
        yield made
    finally:
        made.kill()
        assert (made.process.returncode is not None, made.written.closed) == (True, True)


def lost(child: Child, *question: Any) -> str:
    with pytest.raises(LostChild) as raised:
        child.ask(question, SOON)
    assert not isinstance(raised.value, LateChild)
    return str(raised.value)


# ---- answers


@pytest.mark.slow
@pytest.mark.parametrize("value", [1, None, "\u00e9", (b"\0\xff", [2**64 - 1, None]), b"x" * 2**22])
def test_a_question_gets_its_answer(value: Any) -> None:
    with started() as child:
        assert [child.ask(("echo", value), SOON) for _ in range(2)] == [value, value]
        assert child.ask(("echo", value), None) == value


def test_a_child_has_arguments_and_imports_from_where_its_parent_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend("/nowhere/'quoted'")
    with started("a", {"b": 2}) as child:
        assert child.ask(("arguments", None), SOON) == ("a", {"b": 2})
        path = child.ask(("path", None), SOON)
        assert child.ask(("input", None), SOON) == ""
    assert [place for place in path if place != str(HERE)] == [place for place in sys.path if place != str(HERE)]


def test_an_isolated_child_is_alone_with_the_folder_of_the_package() -> None:
    with isolated() as child:
        root, *alone = child.ask(("place", None), SOON)
        assert alone == [1, 1, False]
        assert os.path.samefile(os.path.join(root, "dmlcheck", "__init__.py"), dmlcheck.__file__)
        assert child.ask(("input", None), SOON) == ""


def test_an_isolated_child_may_have_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DMLCHECK_ONE", "of this process")
    monkeypatch.setenv("DMLCHECK_TWO", "of this process")
    with isolated({"DMLCHECK_TWO": "its own"}) as child:
        found = [child.ask(("variable", f"DMLCHECK_{name}"), SOON) for name in ("ONE", "TWO", "THREE")]
    assert found == ["of this process", "its own", None]
    assert os.environ["DMLCHECK_TWO"] == "of this process"


# ---- lost answers


@pytest.mark.parametrize("code", [0, 3])
def test_a_child_that_exits_is_lost_with_its_code(code: int) -> None:
    with started() as child:
        assert lost(child, "exit", code) == f"ended with exit code {code}"
        assert lost(child, "echo", 1) == f"ended with exit code {code}"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_a_child_that_a_signal_ends_is_lost_with_its_name(name: str) -> None:
    with isolated() as child:
        assert child.ask(("echo", 1), SOON) == 1
        assert lost(child, "signal", int(signal.Signals[name])) == f"ended with {name}"


def test_a_child_that_ends_while_a_long_question_is_sent_is_lost() -> None:
    with started() as child:
        send(child.connection, ("exit", 4))
        assert lost(child, "echo", bytes(2**24)) == "ended with exit code 4"


def test_an_exception_ends_a_child_and_is_in_its_output() -> None:
    with isolated() as child:
        assert lost(child, "fail", "no such desc") == "ended with exit code 1"
    assert child.errors.rstrip().endswith("ValueError: no such desc")


def test_a_child_without_its_module_is_lost_at_the_first_question() -> None:
    child = IsolatedChild("no_such_module", environment={}, start_time=SOON)
    assert lost(child, "echo", 1) == "ended with exit code 1"
    child.stop()
    assert "No module named 'no_such_module'" in child.errors


@pytest.mark.slow
def test_a_child_that_closes_its_connection_and_goes_on_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHUTDOWN_TIME", 0.2)
    with started() as child:
        assert lost(child, "close", 60) == "closed its connection instead of answering"


@pytest.mark.slow
def test_a_child_that_does_not_answer_in_time_is_late() -> None:
    with started() as child:
        child.ask(("echo", 1), SOON)
        with pytest.raises(LateChild):
            child.ask(("sleep", 60), 0.25)
        assert child.process.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize(("argument", "kind"), [("never ready", LateChild), ("not made", LostChild)])
def test_a_child_that_is_not_ready_in_time_is_late_and_one_that_ends_is_lost(argument: str, kind: type) -> None:
    with started(argument, start_time=0.2 if kind is LateChild else SOON) as child:
        with pytest.raises(LostChild) as raised:
            child.ask(("echo", 1), None)
        assert type(raised.value) is kind
        assert not child.is_ready


def test_a_start_takes_none_of_the_time_of_an_answer() -> None:
    with started(start_time=SOON) as child:
        assert child.ask(("echo", 1), 0.5) == 1


# ---- the output of an isolated child


def test_of_a_long_output_the_end_is_kept() -> None:
    with isolated() as child:
        assert child.ask(("write", b"\xff" + b"a" * 10_000 + b"z"), SOON) == 10_002
    assert child.errors == "a" * (4096 - 6) + "zerror"


# ---- the end


@pytest.mark.slow
@pytest.mark.parametrize("make", [started, isolated])
def test_a_child_without_a_question_ends_by_itself(make: Any) -> None:
    with make() as child:
        assert child.ask(("echo", 1), SOON) == 1
        assert child.stop() == 0
        assert child.connection.closed


def test_a_child_without_a_question_that_does_not_end_in_time_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHUTDOWN_TIME", 0.1)
    with started() as child:
        child.ask(("echo", 1), SOON)
        child.connection.send(("sleep", 60))
        start = time.monotonic()
        assert child.stop() != 0
    assert time.monotonic() - start < 30


def test_a_busy_child_is_killed_at_once(folder: Path) -> None:
    with started(str(folder)) as child:
        child.ask(("echo", 1), SOON)
        child.send(("sleep", 60))
        start = time.monotonic()
        assert child.stop() != 0
    assert time.monotonic() - start < module.SHUTDOWN_TIME
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_busy_child_may_have_a_shutdown_time(folder: Path) -> None:
    """It ends its work in order; one that does not do so in time is killed."""
    for arguments, seconds, code in (((str(folder),), SOON, 0), (("deaf",), 0.2, -signal.SIGKILL)):
        with started(*arguments, shutdown_time=seconds) as child:
            child.ask(("echo", 1), SOON)
            child.send(("sleep", 2 * SOON))
            assert child.stop() == code
    assert len(list(folder.iterdir())) == 1


@pytest.mark.slow
def test_children_are_ended_all_at_a_time() -> None:
    children = [Child("asked_process") for _ in range(3)]
    assert [child.ask(("echo", 1), SOON) for child in children] == [1, 1, 1]
    end(iter(children))
    assert [child.process.returncode for child in children] == [0, 0, 0]


@pytest.mark.slow
def test_the_end_of_the_parent_ends_a_child_that_is_busy() -> None:
    code = (
        "import os\nfrom dmlcheck.processes.child import Child\nchild = Child('asked_process')\n"
        "child.ask(('echo', 1), None)\nchild.send(('sleep', 60))\n"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="seen in /proc")
def test_a_process_that_an_isolated_child_started_ends_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes until it is looked for: a child that could end before would leave it."""
    kill = module.kill
    monkeypatch.setattr(module, "kill", lambda process: (time.sleep(0.3), kill(process)))
    with isolated() as child:
        assert child.ask(("start", 60), SOON) > 0
    assert left_of(folder) == []


@pytest.mark.slow
def test_a_child_that_cannot_be_started_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    written = tempfile.TemporaryFile()  # noqa: SIM115 - it is to be closed by what is tested
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: written)
    monkeypatch.setattr(sys, "executable", str(HERE / "no-such-python"))
    with pytest.raises(OSError, match="no-such-python"):
        IsolatedChild("asked_process", environment={}, start_time=SOON)
    gc.collect()
    assert written.closed


# ---- interrupts


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")
def test_an_interrupt_while_a_child_starts_reaches_its_parent_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C goes to all processes of a terminal, also to one that cannot ignore it yet."""
    with started() as child:
        for _ in range(20):
            os.kill(child.process.pid, signal.SIGINT)
            time.sleep(0.005)
        assert child.ask(("echo", 1), SOON) == 1
        assert child.stop() == 0
    assert capfd.readouterr().err == ""
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
