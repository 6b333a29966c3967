"""Interrupts that wait until a result is in all reports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, dmlcheck, json_of, many, spawned, write

from dmlcheck.cli.ending import finish
from dmlcheck.cli.interrupts import SIGNALS, Interrupts
from dmlcheck.folders.export_folder import Folder


def test_an_interrupt_between_results_ends_the_run_at_once() -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_of_a_result_waits_for_its_end(number: signal.Signals) -> None:
    done = []

    def report(interrupts: Interrupts) -> None:
        with interrupts.held():
            signal.raise_signal(number)
            done.append("the rest of the block")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        report(interrupts)
    assert done == ["the rest of the block"]


def test_a_second_interrupt_does_not_wait() -> None:
    """A report may go into a pipe that nobody reads."""
    done = []

    def report(interrupts: Interrupts) -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            done.append("after the first")
            signal.raise_signal(signal.SIGTERM)
            done.append("after the second")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        report(interrupts)
    assert done == ["after the first"]


def test_what_an_interrupt_did_before_it_does_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_interrupts_as_they_are() -> None:
    before = signal.getsignal(signal.SIGINT)
    found = []

    def run() -> None:
        with Interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [before]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no terminals that end")
def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_interrupts_are_let_through_within_a_block_that_holds_them() -> None:
    done = []

    def follow(interrupts: Interrupts) -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            done.append("held")
            done.extend(interrupts.through(["never"]))

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        follow(interrupts)
    assert done == ["held"]


def test_interrupts_wait_again_while_an_item_is_taken_in() -> None:
    done = []

    def follow(interrupts: Interrupts) -> None:
        with interrupts.held():
            for item in interrupts.through([1, 2]):
                signal.raise_signal(signal.SIGINT)
                done.append(item)

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        follow(interrupts)
    assert done == [1]


# ---- commands


def left() -> list[str]:
    """Return the names in the current folder that a command would leave if it were cut off."""
    return [name for name in os.listdir() if name.endswith(".partial")]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.usefixtures("folder")
def test_an_interrupt_after_the_last_case_leaves_whole_reports(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any, **more: Any) -> Any:
        signal.raise_signal(number)
        return finish(*given, **more)

    monkeypatch.setattr("dmlcheck.cli.run.finish", interrupted)
    write("a.yaml", many(3))
    result = dmlcheck("run", "a.yaml", "--json", "r.json", "--sarif", "r.sarif")
    report = json_of("r.json")
    assert (result.exit_code, report["summary"]["total"], report.get("interrupted")) == (130, 3, None)
    assert json_of("r.sarif")["runs"]
    assert (result.stdout.splitlines()[-1].startswith("3 passed in "), left()) == (True, [])


ENGINE = """\
import os, signal


class Interrupting:
    name = "interrupting"
    ran = 0

    def unsupported(self, desc):
        return None

    def run(self, desc, inputs):
        import numpy as np

        Interrupting.ran += 1
        if Interrupting.ran == 3:
            signal.raise_signal(int(os.environ["NUMBER"]))
        return {"OutputTensor": np.float32([6])}
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.usefixtures("folder")
def test_an_interrupt_of_a_case_leaves_the_reports_so_far(number: signal.Signals) -> None:
    write("interrupting.py", ENGINE)
    write("a.yaml", many(5))
    words = ["--implementation", "python:interrupting:Interrupting", "--json", "r.json", "--junitxml", "r.xml"]
    words += ["--timeout", "0"]  # it interrupts its own process, which is then that of the run
    result = spawned("run", "a.yaml", *words, NUMBER=str(int(number)))
    report = json_of("r.json")
    assert (result.returncode, report["summary"]["total"], report["interrupted"]) == (130, 2, True)
    assert (Path("r.xml").exists(), left()) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("form", ["dxdispatch", "onnx"])
@pytest.mark.usefixtures("folder")
def test_an_interrupted_export_leaves_a_manifest_of_what_is_whole(
    number: signal.Signals, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "onnx":
        pytest.importorskip("onnx")
    put, files = Folder.write, []

    def interrupted(self: Folder, name: str, data: bytes) -> None:
        put(self, name, data)
        files.append(name)
        if len(files) == 2:
            signal.raise_signal(number)

    monkeypatch.setattr(Folder, "write", interrupted)
    write("a.yaml", many(5))
    result = dmlcheck("export", "--to", form, "a.yaml", "-o", "out")
    manifest = json_of("out/manifest.json")
    assert (result.exit_code, sorted(manifest["files"])) == (130, sorted([*files[:2], "manifest.json"]))
    monkeypatch.setattr(Folder, "write", put)
    assert dmlcheck("export", "--to", form, "a.yaml", "-o", "out").exit_code == 0


SLEEPER = """\
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["request"] == "hello":
        print(json.dumps({"name": "sleeper"}), flush=True)
    else:
        open("asleep", "w").close()
        time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals that end")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_end_of_the_terminal_ends_all_processes_of_a_run_and_keeps_its_report(jobs: str, folder: Path) -> None:
    write("sleeper.py", SLEEPER)
    write("a.yaml", GOOD)
    (folder / "temporary").mkdir()
    command = [sys.executable, "-m", "dmlcheck", "run", "a.yaml", "--json", "r.json", "-j", jobs]
    command += ["--implementation", f"command:{sys.executable} sleeper.py"]
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    with subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.PIPE) as process:
        while not Path("asleep").exists():
            assert process.poll() is None
            threading.Event().wait(0.05)
        os.killpg(process.pid, signal.SIGHUP)  # all that a terminal ends
        process.communicate(timeout=30)
    report = json_of("r.json")
    assert (process.returncode, report["interrupted"], left()) == (130, True, [])
    assert list((folder / "temporary").iterdir()) == []


TERMINAL = """\
import os, pty, sys, time
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
while not os.path.exists("asleep"):
    assert os.waitpid(process, os.WNOHANG) == (0, 0)
    time.sleep(0.05)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals that end")
@pytest.mark.usefixtures("folder")
def test_a_terminal_that_is_closed_over_its_progress_bar_costs_no_report() -> None:
    write("sleeper.py", SLEEPER)
    write("a.yaml", GOOD)
    command = ["run", "a.yaml", "--json", "r.json", "--implementation", f"command:{sys.executable} sleeper.py"]
    words = [sys.executable, "-c", TERMINAL, "-m", "dmlcheck", *command]
    ended = subprocess.run(words, check=False, timeout=60, env={**os.environ, "TERM": "xterm"})
    report = json_of("r.json")
    assert (ended.returncode, report["interrupted"], left()) == (130, True, [])
