"""What a GitHub workflow shows of a run: annotations beside the lines, and a job summary."""

import errno
import re
from collections.abc import Callable, Iterable, Sequence

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import cut, plural
from dmlcheck.reports.problems import full_message, problems_of, repository_path, validated_problems
from dmlcheck.reports.records import Summary, tally
from dmlcheck.reports.text import TextReport
from dmlcheck.running.accuracy import drifts
from dmlcheck.running.legality import Validated
from dmlcheck.running.results import CaseResult

Write = Callable[[str], None]

MOST_ANNOTATIONS = 10  # of each kind: GitHub shows no more of a step
MOST_FAILURES = 50  # in the job summary
MOST_TEXT = 4000  # characters of one failure or annotation
MOST_BYTES = 1 << 20  # GitHub takes no larger summary of a step
_LAST_LINE = 200  # bytes that the line after the failures may take

_KINDS = {"error": "error", "warning": "warning"}
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPACES = re.compile(r"\s+")
# What Markdown or HTML would make something of; an underscore within a word is nothing to them.
_MARKUP = re.compile(r"[&<>|`*\\~$@!#]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])")


# ---- annotations


def annotations(descs: Iterable[Validated], write: Write) -> None:
    """Print what `validate --format github` does: an annotation for each problem, as many as GitHub shows."""
    printed = _Annotations(write)
    for desc, problem in validated_problems(descs):
        printed.add(problem, desc.name)
    printed.finish()


class _Annotations:
    """Annotations as they come, counted by kind."""

    def __init__(self, write: Write) -> None:
        self.write = write
        self.counts: dict[str, int] = {}

    def add(self, problem: Diagnostic, name: str) -> None:
        """Print an annotation where GitHub would still show it."""
        kind = _KINDS.get(problem.severity, "notice")
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MOST_ANNOTATIONS:
            self.write(annotation(kind, problem, name))

    def finish(self) -> None:
        """Say how many there were beside those."""
        left = {kind: number - MOST_ANNOTATIONS for kind, number in self.counts.items() if number > MOST_ANNOTATIONS}
        if left:
            more = ", ".join(f"{number} {plural(number, f'more {kind}')}" for kind, number in left.items())
            self.write(f"dmlcheck: {more}; GitHub shows {MOST_ANNOTATIONS} of each kind for a step")


def annotation(kind: str, problem: Diagnostic, name: str) -> str:
    """Return the workflow command that annotates a line; `endColumn` is the column after the last one."""
    properties: dict[str, str | int | None] = {
        "file": repository_path(problem.file) if problem.file else None,
        "line": problem.line,
    }
    if problem.line is not None and problem.column is not None:
        properties |= {"col": problem.column, "endColumn": problem.column + max(1, problem.width)}
    properties["title"] = f"{problem.rule}: {name}"[:255]
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    return f"::{kind} {given}::{_data(full_message(problem)[:MOST_TEXT])}"


def _data(text: str) -> str:
    """Return a text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return a text as a property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# ---- a run


class GithubReport:
    """A run in a GitHub workflow: annotations of what fails when it happens, and at the end a job summary."""

    def __init__(
        self, write: Write, summary_path: str | None, *, again: Callable[[CaseResult], str] | None = None
    ) -> None:
        self.write = write
        self.summary_path = summary_path
        self.annotations = _Annotations(write)
        self.page = _Page(again)

    def case(self, result: CaseResult) -> None:
        """Print the annotations of one case, and take it into the summary."""
        for problem in problems_of(result):
            self.annotations.add(problem, result.case.name)
        if self.summary_path:
            self.page.case(result)

    def finish(self, summary: Summary) -> None:
        """Count what was not annotated, and append the job summary."""
        self.annotations.finish()
        if not self.summary_path:
            return
        self.page.finish(summary)
        try:
            _append(self.summary_path, self.page)
        except OSError as error:
            self.write(f"dmlcheck: no job summary: {self.summary_path}: {error.strerror or error}")


class _Page(TextReport):
    """What the text report says of a run, put together as Markdown: of many failures only the first."""

    def __init__(self, again: Callable[[CaseResult], str] | None) -> None:
        self.lines: list[str] = []
        super().__init__(self.lines.append, table=self.take_table)
        if again is not None:
            self.again = again
        self.failures: list[str] = []
        self.failed = 0
        self.head: list[str] = []

    def failure(self, result: CaseResult) -> None:
        """Keep what the text report prints, for the first failures."""
        self.failed += 1
        if self.failed > MOST_FAILURES:
            return
        self.lines.clear()
        super().failure(result)
        causes = (*result.diagnostics, *drifts(result))
        rules = ", ".join(dict.fromkeys(diagnostic.rule for diagnostic in causes)) or result.outcome
        text = "\n".join(self.lines).rstrip("\n")
        summary = f"<code>{markdown(cut(result.case.id, 500))}</code> {markdown(cut(rules, 500))}"
        self.failures.append(
            f"<details><summary>{summary}</summary>\n\n{_fenced(cut(text, MOST_TEXT))}\n\n</details>\n"
        )

    def finish(self, summary: Summary) -> None:
        """Put the title, the table by operator and what is said under it together."""
        self.lines.clear()
        end = "interrupted after " if summary.interrupted else ""
        title = f"## dmlcheck: {end}{tally(summary)}\n\n"
        super().finish(summary)
        said = self.lines[:-1]  # the last line is the title's
        self.head.insert(0, title)
        self.head.extend(f"- {markdown(cut(line, 500))}\n" for line in said[:MOST_FAILURES])

    def take_table(self, head: Sequence[str], rows: list[list[str]]) -> None:
        """Take the table by operator, the first column to the left and the others to the right."""
        self.head.append(f"| {' | '.join(head)} |\n|{' --- |' + ' ---: |' * (len(head) - 1)}\n")
        self.head.extend(f"| {' | '.join(markdown(cut(cell, 200)) for cell in row)} |\n" for row in rows)
        self.head.append("\n")


def _append(path: str, page: _Page) -> None:
    """Append as much of a page as fits into the summary of a step, beside what other commands put there."""
    with open(path, "ab") as file:
        written = file.tell()
        room = MOST_BYTES - written - _LAST_LINE
        head = _fitting(["\n" if written else "", *page.head, "\n"], room)
        if not any(head):
            raise OSError(errno.EFBIG, f"full: GitHub takes {MOST_BYTES >> 20} MiB of a step")
        failures = _fitting(page.failures, room - sum(map(len, head)))
        left = page.failed - len(failures)
        last = f"\n{left} {plural(left, 'more failure')}: see the log.\n" if left else ""
        file.write(b"".join([*head, *failures, last.encode()]))


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
    """Return a text as a block of code, between fences that it does not hold itself."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{_CONTROL.sub(chr(0xFFFD), text)}\n{fence}"
