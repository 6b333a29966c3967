"""Standard output: rich on a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from dmlcheck.diagnostics import Diagnostic
from dmlcheck.document import Document
from dmlcheck.reports.text import Style, columns_of, diagnostic_text


class Console:
    """Where a command prints: with colour, tables and progress where a person looks on."""

    def __init__(self) -> None:
        """Look at standard output."""
        self.is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.style = Style(colour=self.is_terminal and "NO_COLOR" not in os.environ)
        self._rich: Any = None

    def echo(self, text: str) -> None:
        """Print a line, above the progress bar where there is one."""
        if self._rich is None:
            click.echo(text, color=self.style.colour)
            return
        from rich.text import Text

        self._rich.print(Text.from_ansi(text), soft_wrap=True)

    def table(self, head: Sequence[str], rows: list[list[str]]) -> None:
        """Print a table, the first column to the left and the others to the right."""
        if self._rich is None:
            for line in columns_of(head, rows):
                self.echo(line)
            return
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD)
        for index, name in enumerate(head):
            table.add_column(name, justify="right" if index else "left")
        for row in rows:
            table.add_row(*row)
        self._rich.print(table)

    def progress(self, files: int) -> AbstractContextManager[Callable[[int], None]]:
        """Return a context whose value is called with the number of cases done after each file."""
        if not self.is_terminal:
            return nullcontext(lambda _: None)
        from rich.console import Console as RichConsole

        self._rich = RichConsole(no_color=not self.style.colour)
        return _bar(self._rich, files)

    def problems(self, problems: Iterable[Diagnostic], document: Document) -> None:
        """Print diagnostics to standard error."""
        for problem in problems:
            click.echo(diagnostic_text(problem, document.line), err=True)


@contextmanager
def _bar(console: Any, files: int) -> Iterator[Callable[[int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("0 cases", total=files)
        yield lambda done: progress.update(task, advance=1, description=f"{done} cases")
