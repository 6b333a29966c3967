"""The job summary of a GitHub workflow: a run as Markdown."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import cut, plural
from dmlcheck.reports.failure import Again, failure_text, rules_text
from dmlcheck.reports.overview import Overview
from dmlcheck.reports.records import RunInfo, Summary, end_text, is_failure
from dmlcheck.running.results import CaseResult

MOST_BYTES = 1 << 20  # GitHub takes no larger summary of a step
_MOST_FAILURES = 50
_MOST_LINES = 50  # under the table
_MOST_TEXT = 4000  # characters of one failure
_MOST_WORDS = 500  # characters of one line
_MOST_CELL = 200
_LAST_LINE = 200  # bytes that the line after the failures may take

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPACES = re.compile(r"\s+")
# Characters with a meaning in Markdown or HTML; an underscore within a word has none.
_MARKUP = re.compile(r"[&<>|`*\\~$@!#]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])")


class JobSummary:
    """A run as Markdown: its outcome, and of many failures only the first."""

    def __init__(self, path: str, info: RunInfo, again: Again | None) -> None:
        self.path = path
        self.info = info
        self.again = again
        self.overview = Overview()
        self.failures: list[str] = []
        self.failed = 0

    def case(self, result: CaseResult) -> None:
        """Take a result."""
        self.overview.add(result)
        if is_failure(result):
            self.failed += 1
            if self.failed <= _MOST_FAILURES:
                rules = rules_text(result) or result.outcome
                head = f"<code>{markdown(cut(result.case.id, _MOST_WORDS))}</code> {markdown(cut(rules, _MOST_WORDS))}"
                text = _fenced(cut(failure_text(result, self.again), _MOST_TEXT))
                self.failures.append(f"<details><summary>{head}</summary>\n\n{text}\n\n</details>\n")

    def append(self, summary: Summary) -> None:
        """Write as much as fits into the summary of a step, after the text of other commands."""
        with open(self.path, "ab") as file:
            written = file.tell()
            room = MOST_BYTES - written - _LAST_LINE
            head = _fitting(["\n" if written else "", *self._head(summary), "\n"], room)
            if not any(head):
                raise OSError(errno.EFBIG, f"full: GitHub takes {MOST_BYTES >> 20} MiB of a step")
            failures = _fitting(self.failures, room - sum(map(len, head)))
            left = self.failed - len(failures)
            last = f"\n{left} {plural(left, 'more failure')}: see the log.\n" if left else ""
            file.write(b"".join([*head, *failures, last.encode()]))

    def _head(self, summary: Summary) -> Iterator[str]:
        """Yield the title, the table by operator, and the notes under it."""
        yield f"## dmlcheck: {end_text(summary)}\n\n"
        tool = f"dmlcheck {__version__}, {self.info.judged}: {self.info.scope(summary.total)}"
        yield f"{markdown(cut(tool, _MOST_WORDS))}\n\n"
        head, rows = self.overview.table(summary, is_whole=False)
        if rows:
            yield f"| {' | '.join(head)} |\n|{' --- |' + ' ---: |' * (len(head) - 1)}\n"
            yield from (f"| {' | '.join(markdown(cut(cell, _MOST_CELL)) for cell in row)} |\n" for row in rows)
            yield "\n"
        lines = [
            *(count.text(name) for name, count in summary.consistent.items()),
            *self.overview.quiet_lines(is_whole=False),
            *self.overview.accuracy_lines(summary, None, is_whole=False),
            *self.overview.skip_lines(is_whole=False),
        ]
        yield from (f"- {markdown(cut(line, _MOST_WORDS))}\n" for line in lines[:_MOST_LINES])


def _fitting(pieces: Iterable[str], room: int) -> list[bytes]:
    """Return the first pieces, as many as fit into a number of bytes."""
    found: list[bytes] = []
    for piece in pieces:
        data = piece.encode("utf-8", "replace")
        room -= len(data)
        if room < 0:
            break
        found.append(data)
    return found


def markdown(text: str) -> str:
    """Return a text in one line that Markdown, also in a table, shows as it is."""
    line = _SPACES.sub(" ", _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)).strip()
    return _MARKUP.sub(lambda match: f"&#{ord(match.group())};", line)


def _fenced(text: str) -> str:
    """Return a text as a block of code, between fences that it does not have itself."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{_CONTROL.sub(chr(0xFFFD), text)}\n{fence}"
