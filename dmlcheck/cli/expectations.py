"""`dmlcheck expectations update`: known results kept up to date."""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import click

from dmlcheck.cli.console import Console, say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.running.expectations import (
    EXPECTED,
    Entries,
    Entry,
    Expectations,
    Names,
    for_files,
    names_of,
    read_expectations,
)
from dmlcheck.running.results import ERRORED, FAILED, PASSED

if TYPE_CHECKING:
    from dmlcheck.reports.reading import Head


@click.group(epilog=examples("expectations update report.json known.yaml"))
def expectations() -> None:
    """Keep a file of known results up to date."""


@expectations.command(
    short_help="Drop entries that no longer apply; add failures.",
    epilog=examples(
        "run cases/ --json report.json",
        "expectations update report.json known.yaml",
        'expectations update report.json known.yaml --add --reason "bug 42"',
    ),
)
@click.argument("report", metavar="REPORT.json", shell_complete=complete_files)
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@click.option("--add", is_flag=True, help="Add unexpected failures.")
@click.option("--reason", metavar="TEXT", help="Why the added cases fail.")
def update(*, report: str, file: str, add: bool, reason: str | None) -> None:
    """Drop the entries of FILE that a run's report contradicts, and with --add add entries for its other failures.

    With --add, FILE is made if it does not exist. A malformed file or case is never added: correct it instead.
    """
    _check_use(file, reason, adds=add)
    head, outcomes, malformed, files = _report(report)
    if head.get("selection") or head.get("shard"):  # the other cases of its files are not known
        files = {}
    implementation = str(head["implementation"])
    is_new = add and not os.path.lexists(file)
    document = yaml.parse(b"", file) if is_new else yaml.read(file)
    # Expired entries are kept or dropped like any other: the date is for runs.
    found = _checked(read_expectations(document, implementation, head.get("feature_level"), dt.date.min))
    try:
        change = updated(found, outcomes, implementation, reason, malformed, files)
    except ValueError as error:
        raise click.UsageError(f"{file}: {error}") from None
    for entry, why in change.dropped:
        say(f"dropped {entry.cases} ({entry.expect}): {why}")
    for case_id in change.added:
        say(f"added {case_id} ({outcomes[case_id]})")
    say(f"{file}: {len(change.dropped)} dropped, {len(change.added)} added")
    if change.dropped or change.added or is_new:
        _save(change.text or "[]\n", file)
    if add and malformed:
        for case_id in sorted(malformed):
            say(f"not added {case_id}: it is malformed; correct it and run again", to_errors=True)
        sys.exit(Exit.WRONG_INPUT)


def _check_use(file: str, reason: str | None, *, adds: bool) -> None:
    """Refuse options that do not go together, and a file that is not there to be updated."""
    if adds and not reason:
        raise click.UsageError("--add needs --reason TEXT: why do these cases fail?")
    if reason and not adds:
        raise click.UsageError("--reason goes with --add")
    if not (adds or os.path.lexists(file)):
        raise click.UsageError(f"{file} does not exist; --add --reason TEXT makes it")


def _report(path: str) -> Head:
    """Return the head of a run's report, and the outcome of each case."""
    from dmlcheck.reports.reading import ReportError, read_head

    try:
        return read_head(path)
    except ReportError as error:
        raise click.UsageError(str(error)) from None


def _save(text: str, path: str) -> None:
    from dmlcheck.reports.files import ReportFile

    try:
        target = ReportFile(path)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror or error}") from None
    target.write(text)
    target.close()
    if target.problem:
        raise click.UsageError(target.problem)


def load(path: str, implementation: str, level: str | None) -> Expectations:
    """Read a file of expectations for a run; print its problems and exit if it has any."""
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    return _checked(read_expectations(yaml.read(path), implementation, level, today))


def _checked(found: Expectations) -> Expectations:
    """Return a valid file of expectations; otherwise print its problems and exit."""
    if found.problems:
        Console().problems(found.problems, found.document)
        sys.exit(Exit.WRONG_INPUT)
    return found


# ---- a file of expectations kept up to date with a run: entries that no longer apply dropped, new failures added


class Update(NamedTuple):
    """An update: the file's new text, the dropped entries with the reasons, and the added ones."""

    text: str
    dropped: tuple[tuple[Entry, str], ...]
    added: tuple[str, ...]


def updated(
    expectations: Expectations,
    outcomes: Mapping[str, str],
    implementation: str,
    reason: str | None,
    malformed: Collection[str] = (),
    files: Mapping[str, str] = {},
) -> Update:
    """Drop the entries that contradict a run's outcomes by case; with a reason, add unexpected failures.

    Malformed cases have no outcome: they are not added, and entries that name them are kept, as are entries for files
    without a case in the run. `files` has the file of each case.
    """
    names = {case_id: names_of(case_id, files.get(case_id, "")) for case_id in outcomes}
    found = _outcomes_found(expectations, outcomes, malformed, names)
    read = {entry.number for entry in for_files(expectations.entries, map(_of_file, set(files.values())))}
    ends = [
        (entry, _end_of(entry, found[entry.number]))
        for entry in expectations.entries
        if entry.number in found or entry.number in read
    ]
    dropped = tuple((entry, why) for entry, why in ends if why is not None)
    gone = {entry.number for entry, _ in dropped}
    kept = Entries(entry for entry in expectations.entries if entry.number not in gone)
    added = {
        case_id: _entry_text(case_id, implementation, outcome, reason or "")
        for case_id, outcome in (() if reason is None else outcomes.items())
        if outcome in (FAILED, ERRORED) and case_id not in malformed and not kept.naming(names[case_id])
    }
    text = _without(expectations.document, gone)
    return Update(_with(text, added.values()), dropped, tuple(added))


def _of_file(file: str) -> Names:
    return names_of(file, file)


def _outcomes_found(
    expectations: Expectations, outcomes: Mapping[str, str], malformed: Collection[str], names: Mapping[str, Names]
) -> defaultdict[int, set[str]]:
    """Return the outcomes of the cases of each entry, by its number; for malformed ones the expected outcome."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    for case_id, outcome in outcomes.items():
        for entry in expectations.entries.naming(names[case_id]):
            found[entry.number].add(entry.expect if case_id in malformed else outcome)
    return found


def _end_of(entry: Entry, found: set[str]) -> str | None:
    """Return why an entry no longer applies to the outcomes of its cases, or None if it does."""
    if not found:
        return "no case has such an id"
    if not found.isdisjoint((entry.expect, "xfailed")):
        return None
    return f"now {', '.join(sorted({PASSED if outcome == 'xpassed' else outcome for outcome in found}))}"


def _without(document: Document, gone: set[int]) -> str:
    """Return a file's text without some of the items of its list; comments above an item go with it."""
    text = document.text
    if text and not text.endswith("\n"):
        text += "\n"
    if not gone:
        return text
    lines = text.splitlines(keepends=True)
    starts = [document.locate((index,)).line - 1 for index in range(len(document.value))]
    bounds = [_first_comment(lines, start) for start in starts] + [len(lines)]
    if len(set(starts)) < len(starts):
        raise ValueError("the entries of the file must each begin on a line of its own")
    cut = {line for index in gone for line in range(bounds[index], bounds[index + 1])}
    kept = "".join(line for number, line in enumerate(lines) if number not in cut)
    return kept if len(gone) < len(document.value) else kept + "[]\n" * (not kept.strip())


def _with(text: str, entries: Iterable[str]) -> str:
    """Return a file's text with more entries: indented like earlier ones, or instead of an empty list."""
    more = "".join(entries)
    if not more:
        return text
    lines = text.splitlines(keepends=True)
    words = [line.partition("#")[0].strip() for line in lines]
    first = next((number for number, word in enumerate(words) if word not in ("", "---")), None)
    if first is None:
        return text + more
    if words[first] == "[]":
        return "".join([*lines[:first], *lines[first + 1 :]]) + more
    if not words[first].startswith("-"):
        raise ValueError("entries can be added to a list with a dash before each, and this one is in brackets")
    return text + textwrap.indent(more, lines[first].partition("-")[0])


def _first_comment(lines: list[str], start: int) -> int:
    while start > 0 and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start


def _entry_text(case_id: str, implementation: str, outcome: str, reason: str) -> str:
    return "".join(
        _entry_lines({"cases": case_id, "implementation": implementation, "expect": outcome, "reason": reason})
    )


_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair, as the path of a file may have it; YAML has no such thing
_STANDS_FOR_HALF = dict.fromkeys(("cases", "implementation"), "?")  # which are globs


def _entry_lines(values: Mapping[str, str]) -> Iterator[str]:
    from dmlcheck.files.yaml_text import quoted

    for number, (key, value) in enumerate(values.items()):
        whole = _HALF.sub(_STANDS_FOR_HALF.get(key, "\N{REPLACEMENT CHARACTER}"), value)
        text = value if value in EXPECTED else quoted(whole)
        yield f"{'- ' if number == 0 else '  '}{key}: {text}\n"
