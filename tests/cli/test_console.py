"""Where output goes: streams of any encoding, terminals, pipes, and streams that take nothing."""

from __future__ import annotations

import io
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from commandline import FILES, GOOD, WRONG, dmlcheck, json_of, spawned, write

from dmlcheck.cli import console, main
from dmlcheck.cli.console import Console


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_output_is_what_the_stream_can_carry(encoding: str) -> None:
    write("größe.yaml", GOOD.replace("Function: SUM", "Function: 総和"))
    result = spawned("validate", "größe.yaml", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (1, b"")
    text = result.stdout.decode(encoding)
    assert ("総和" in text) == (encoding == "utf-8")
    assert "unknown-enum-value" in text


@pytest.mark.slow
def test_piped_output_has_no_escapes() -> None:
    result = spawned("run", str(FILES / "case.yaml"), TERM="xterm-256color")
    assert b"\x1b" not in result.stdout
    assert result.returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="closing a pipe early is an error of the shell there")
def test_a_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m dmlcheck run '{FILES / 'case.yaml'}' -v | head -n 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert result.stderr == b""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize("no_colour", [False, True])
def test_a_terminal_gets_colour_unless_it_is_unwanted(*, no_colour: bool) -> None:
    import pty

    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **({"NO_COLOR": "1"} if no_colour else {})}
    command = [sys.executable, "-m", "dmlcheck", "run", str(FILES / "case.yaml")]
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
    os.close(master)
    assert process.returncode == 2
    assert (b"\x1b[31m" in shown) is not no_colour
    assert b"again: dmlcheck run" in shown
    assert "REDUCE" in shown.decode()


class Terminal(io.StringIO):
    """A terminal that remembers what it shows."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "room"), [("60", 42), ("200", 182), ("20", 40)])
def test_a_terminal_leaves_as_much_room_as_it_has(columns: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert (Console().style.columns, Console().columns) == (room, int(columns))
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert (Console().style.columns, Console().columns) == (1000, None)


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    write("a.yaml", WRONG + 'name: "a\\e[2Jb\\u0007c"\n')
    result = dmlcheck("run", "a.yaml")
    assert result.exit_code == 1
    assert not {"\x1b", "\x07"} & set(result.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="closing a pipe early is an error of the shell there")
def test_a_reader_that_has_seen_enough_does_not_cost_the_report(folder: Path) -> None:
    cases = "".join(f"- {{name: c{index}, outputs: {{OutputTensor: [6]}}}}\n" for index in range(3000))
    write("a.yaml", GOOD.partition("outputs")[0] + "cases:\n" + cases)
    command = f"{sys.executable} -m dmlcheck run a.yaml -v --json report.json | head -n 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert result.stderr == b""
    assert len(json_of(folder / "report.json")["cases"]) == 3000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["run", "a.yaml"], ["validate", "a.yaml"], ["show"]])
def test_output_that_finds_no_room_is_an_error(words: list[str]) -> None:
    write("a.yaml", GOOD)
    command = [sys.executable, "-m", "dmlcheck", *words]
    with open("/dev/full", "w", encoding="ascii") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert result.returncode == 2
    assert result.stderr == b"dmlcheck: standard output cannot be written: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the shell there closes no streams")
def test_a_text_without_end_ends_with_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with click.Context(main):
            console.print_pieces(itertools.repeat("x" * 100_000))


@pytest.mark.slow
def test_a_closed_standard_output_is_no_traceback() -> None:
    write("a.yaml", GOOD)
    command = ["sh", "-c", f"{sys.executable} -m dmlcheck run a.yaml >&-"]
    result = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


# ---- progress


@pytest.mark.parametrize(
    ("done", "total", "slowest", "text"),
    [
        (0, None, None, "0 cases, 0 failed"),
        (1, None, None, "1 case, 0 failed"),
        (261, 5220, None, "261 of 5,220 cases, 0 failed"),
        (1, 1, None, "1 of 1 case, 0 failed"),
        (2, 3, ("a.yaml::x", 12.4), "2 of 3 cases, 0 failed, a.yaml::x for 12 s"),
        (2, 3, ("a.yaml::x", 0.5), "2 of 3 cases, 0 failed"),
    ],
)
def test_progress_is_told_in_cases(done: int, total: int | None, slowest: tuple[str, float] | None, text: str) -> None:
    assert console.progress_text(done, total, 0, slowest) == text


def test_the_bar_learns_how_many_cases_there_are() -> None:
    from rich.console import Console as RichConsole

    shown = io.StringIO()
    execution = SimpleNamespace(total=3, slowest=lambda: None)
    tally = SimpleNamespace(total=1, failures=1)
    terminal = RichConsole(file=shown, force_terminal=True, width=100)
    with console._bar(terminal, execution, tally):
        deadline = time.monotonic() + 30
        while "1 of 3 cases, 1 failed" not in shown.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "1 of 3 cases, 1 failed" in shown.getvalue()
