"""A run as a line for each failure, and a line for all."""

from __future__ import annotations

from collections.abc import Callable

from dmlcheck.reports.failure import placed_line
from dmlcheck.reports.layout import PLAIN, Style
from dmlcheck.reports.records import Summary
from dmlcheck.reports.text import end_line
from dmlcheck.reports.visible import shown_result
from dmlcheck.running.results import CaseResult


class ConciseReport:
    """A run for programs that read a log: `FILE:LINE:COL: RULE: ID: message` for each failure, and how the run ended.

    Without `tells_failures` it is only the last line: where annotations tell them.
    """

    def __init__(self, echo: Callable[[str], None], *, style: Style = PLAIN, tells_failures: bool = True) -> None:
        self.echo = echo
        self.style = style
        self.tells_failures = tells_failures

    def case(self, result: CaseResult) -> None:
        """Print a failure."""
        if result.is_failure and self.tells_failures:
            self.echo(placed_line(shown_result(result)))

    def finish(self, summary: Summary) -> None:
        """Print the last line."""
        self.echo(end_line(summary, self.style))
