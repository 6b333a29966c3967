"""Standard output: rich on a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, cast

import click

from dmlcheck.cli.options import COLOUR
from dmlcheck.diagnostics.record import MAX_PROBLEMS, Diagnostic
from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.files.document import Document
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.layout import Line, Style, printed

if TYPE_CHECKING:
    from dmlcheck.reports.records import Tally
    from dmlcheck.running.events import Running


_LEAST, _MARGIN = 40, 18  # columns of a source line, and of its frame
_LONG = 1.0  # seconds: a case that runs longer is named


class Streams:
    """The standard streams of a command: which are closed, whether output was lost, how many problems were reported."""

    def __init__(self) -> None:
        self.left: list[IO[str]] = []
        self.is_output_lost = False
        self.problems: dict[str, int] = {}  # problems reported, by file

    def write(self, stream: IO[str], text: str) -> None:
        """Write to a stream, unless it is closed."""
        try:
            stream.write(text)
        except OSError as error:
            self._give_up(stream, error)

    def flush(self) -> None:
        """Flush the printed text."""
        try:
            sys.stdout.flush()
        except OSError as error:
            self._give_up(sys.stdout, error)

    def _give_up(self, stream: IO[str], error: OSError) -> None:
        """Stop printing to a closed stream, so that other work is still finished."""
        self.left.append(stream)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        # A reader who has seen enough loses nothing.
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            self.is_output_lost = True
            self.write(sys.stderr, f"dmlcheck: standard output cannot be written: {error.strerror or error}\n")


def streams() -> Streams:
    """Return the standard streams of the command that is running."""
    return click.get_current_context().find_root().ensure_object(Streams)


class _Lasting:
    """Standard output for rich, whose errors are handled here: a terminal may close before the run ends."""

    def __init__(self, streams: Streams) -> None:
        """Take the streams of the command, which a thread of rich could not ask for."""
        self.streams = streams

    def write(self, text: str) -> int:
        """Write, unless the stream is closed."""
        self.streams.write(sys.stdout, text)
        return len(text)

    def flush(self) -> None:
        """Flush the printed text."""
        self.streams.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stdout, name)


# The colours of reports pass; any other control character but a tab and the end of a line does not.
_CONTROL = re.compile("\x1b(?!\\[(?:0|1|2|31|32|33)m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
# Commands in the log of a GitHub workflow: `::` at the beginning of a line, `##[` anywhere.
_COMMAND = re.compile(r"^(?=\s*::)|(?<=##)(?=\[)", re.MULTILINE)


def printable(text: str) -> str:
    """Return lines as a terminal or a log may have them: no control characters but colours, no commands."""
    return _COMMAND.sub("\\\\", _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def write(text: str, *, end: str = "\n", to_errors: bool = False) -> None:
    """Print lines; click would write UTF-8 to a stream that takes ASCII only."""
    streams().write(sys.stderr if to_errors else sys.stdout, printable(text) + end)


def say(text: str, *, to_errors: bool = False) -> None:
    """Print a line that has names from the user."""
    write(visible(text), to_errors=to_errors)


def write_command(text: str) -> None:
    """Print a command for a GitHub workflow, whose words are escaped."""
    streams().write(sys.stdout, _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text) + "\n")


def write_json(text: str) -> None:
    """Print JSON, whose texts may have any characters."""
    streams().write(sys.stdout, text.replace("##[", r"#\u0023[") + "\n")


def print_pieces(pieces: Iterable[str]) -> None:
    """Print the pieces of a text as they are made, until the reader is gone."""
    for piece in pieces:
        write(piece, end="")
        if sys.stdout in streams().left:
            return


def print_page(lines: Iterable[Line], *, to_errors: bool = False) -> None:
    """Print the lines of a page, its texts cut to the columns of a terminal."""
    columns = Console().columns
    write("\n".join(printed(lines, None if columns is None else columns - 1)), to_errors=to_errors)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    import json

    write_json(json.dumps(value, indent=2))


class Console:
    """The output of a command: with colour, tables and progress on a terminal."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        context = click.get_current_context(silent=True)
        asked: str = "auto" if context is None else context.find_root().meta.get(COLOUR, "auto")
        colour = asked == "always" or (asked == "auto" and self.is_terminal and not os.environ.get("NO_COLOR"))
        self.columns = _columns() if self.is_terminal else None
        self.style = Style(colour=colour) if self.columns is None else _within(self.columns, colour=colour)
        self._rich: Any = None

    def echo(self, text: str) -> None:
        """Print a line, above the progress bar if there is one."""
        if self._rich is None:
            write(text)
            return
        from rich.text import Text

        self._rich.print(Text.from_ansi(printable(text)), soft_wrap=True)

    def progress(self, execution: Running, tally: Tally) -> AbstractContextManager[None]:
        """Return a context in which a terminal shows the progress of a run, its failures, and slow cases."""
        if not self.is_terminal:
            return nullcontext()
        from rich.console import Console as RichConsole

        self._rich = RichConsole(no_color=not self.style.colour, file=cast("IO[str]", _Lasting(streams())))
        return _bar(self._rich, execution, tally)

    def watching(self, text: Callable[[], str]) -> AbstractContextManager[None]:
        """Return a context in which a terminal shows a line with the progress of some work."""
        if not self.is_terminal:
            return nullcontext()
        from rich.console import Console as RichConsole

        self._rich = RichConsole(no_color=not self.style.colour, file=cast("IO[str]", _Lasting(streams())))
        return _line(self._rich, text)

    def problems(self, problems: Iterable[Diagnostic], document: Document) -> None:
        """Print diagnostics to standard error."""
        counts = streams().problems
        for problem in problems:
            counts[document.name] = counts.get(document.name, 0) + 1
            if counts[document.name] <= MAX_PROBLEMS:
                write(diagnostic_text(problem, document.line, Style(columns=self.style.columns)), to_errors=True)
            elif counts[document.name] == MAX_PROBLEMS + 1:
                say(
                    f"{document.name} has more than {MAX_PROBLEMS:,} problems; the others are not listed",
                    to_errors=True,
                )


def _columns() -> int:
    import shutil  # whose import takes longer than most output

    return shutil.get_terminal_size().columns


def _within(columns: int, *, colour: bool) -> Style:
    """Return a style that leaves room for the frame of a source line, and for the dots where it is cut."""
    return Style(colour=colour, columns=max(_LEAST, columns - _MARGIN))


@contextmanager
def _bar(console: Any, execution: Running, tally: Tally) -> Iterator[None]:
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeElapsedColumn
    from rich.text import Text

    class Cases(ProgressColumn):
        """The number of cases that are done, of failures, and the case that runs longest; read when it is drawn."""

        def render(self, task: Task) -> Text:
            task.completed = tally.total
            text = progress_text(task.completed, task.total, tally.failures, execution.slowest())
            return Text(text, overflow="ellipsis", no_wrap=True)

    with Progress(BarColumn(), Cases(), TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=None)  # which is known when all files are read
        Thread(target=lambda: progress.update(task, total=execution.total), daemon=True).start()
        yield


@contextmanager
def _line(console: Any, text: Callable[[], str]) -> Iterator[None]:
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task
    from rich.text import Text

    class Line(ProgressColumn):
        """The line of progress, read when it is drawn."""

        def render(self, _: Task) -> Text:
            return Text(text(), overflow="ellipsis", no_wrap=True)

    with Progress(SpinnerColumn(), Line(), console=console, transient=True) as progress:
        progress.add_task("", total=None)
        yield


def progress_text(done: float, total: float | None, failures: int, slowest: tuple[str, float] | None) -> str:
    """Return how far a run is: `261 of 5,220 cases, 1 failed`, with the case that has been running for long."""
    of = counted(int(done), "case") if total is None else f"{int(done):,} of {counted(int(total), 'case')}"
    slow = "" if slowest is None or slowest[1] < _LONG else f", {visible(slowest[0])} for {slowest[1]:.0f} s"
    return f"{of}, {failures:,} failed{slow}"
