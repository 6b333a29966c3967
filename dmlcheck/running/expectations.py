"""Known results of one implementation: a list of entries that turns failures that are known into expected ones.

Outcomes after the entries have had their say: a failure that an entry expects is xfailed, a case that passes instead is
xpassed. A case that is worse than its entry says (it was expected to fail, and cannot be run at all) is not expected.
"""

from __future__ import annotations

import datetime as dt
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.diagnostics.wording import describe, unknown_names
from dmlcheck.files.document import Document, Position
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, CaseResult
from dmlcheck.specs.names import NEWEST_LEVEL, parse_level

KEYS = ("cases", "implementation", "feature_level", "expect", "reason", "link", "expires")
EXPECTED = (FAILED, ERRORED, SKIPPED)


class Entry(NamedTuple):
    """One entry: which cases of which implementation at which level give what, and why."""

    cases: str
    expect: str
    reason: str
    implementation: str | None = None
    feature_level: str | None = None
    link: str | None = None
    expires: dt.date | None = None
    number: int = 0

    @property
    def because(self) -> str:
        """The reason with its link."""
        return f"{self.reason} ({self.link})" if self.link else self.reason

    def is_for(self, implementation: str, level: str | None) -> bool:
        """Whether the entry is about a run of an implementation at a level."""
        if self.implementation is not None and not matches(self.implementation, implementation):
            return False
        return self.feature_level is None or self.feature_level == (level or NEWEST_LEVEL)


class Expectations(NamedTuple):
    """The entries of a file that are about one run, and what is wrong with the file."""

    document: Document
    entries: tuple[Entry, ...]
    problems: tuple[Diagnostic, ...]

    def of(self, case_id: str) -> Entry | None:
        """Return the first entry that a case is named by."""
        return next((entry for entry in self.entries if matches(entry.cases, case_id)), None)


class UnmatchedEntries:
    """The entries that no case has been named by so far, as the ids of a run go by."""

    def __init__(self, expectations: Expectations) -> None:
        """Begin with all of them."""
        self.document = expectations.document
        self.waiting = list(expectations.entries)

    def see(self, case_id: str) -> None:
        """Take note of a case that is there."""
        if self.waiting:
            self.waiting = [entry for entry in self.waiting if not matches(entry.cases, case_id)]

    def problems(self) -> list[Diagnostic]:
        """Return what is wrong with the entries that are left."""
        return [
            _diagnostic(
                self.document, entry.number, Finding("unmatched-expectation", ("cases",), {"glob": entry.cases})
            )
            for entry in self.waiting
        ]


def matches(glob: str, text: str) -> bool:
    """Whether a glob with `*` and `?` names a text; brackets stand for themselves, as matrix cases have them."""
    return _pattern(glob).fullmatch(text) is not None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    parts = (".*" if part == "*" else "." if part == "?" else re.escape(part) for part in re.split(r"([*?])", glob))
    return re.compile("".join(parts), re.DOTALL)


# ---- the file


def read_expectations(document: Document, implementation: str, level: str | None, today: dt.date) -> Expectations:
    """Read a file of entries for a run; what is wrong with any of its entries is among the problems."""
    problems = list(document.problems)
    entries: list[Entry] = []
    raw = document.value
    if isinstance(raw, list):
        for index, item in enumerate(raw):
            entry, findings = _entry(item, index, today)
            problems.extend(_diagnostic(document, index, finding) for finding in findings)
            if entry is not None and entry.is_for(implementation, level):
                entries.append(entry)
    elif raw is not None:
        params = {
            "what": "the file",
            "found": describe(raw),
            "expected": "a list of entries with cases, expect, reason",
        }
        problems.append(_placed(document, Position(1, 1), Finding("wrong-type", (), params)))
    return Expectations(document, tuple(entries), tuple(problems))


def _entry(raw: Any, index: int, today: dt.date) -> tuple[Entry | None, list[Finding]]:
    if not isinstance(raw, Mapping):
        params = {"what": "an entry", "found": describe(raw), "expected": "a mapping with cases, expect and reason"}
        return None, [Finding("wrong-type", (), params)]
    findings = [
        Finding("unknown-key", (key,), {"where": "an expectation", "key": key}, help=help, at_key=True)
        for key, help in unknown_names(raw, KEYS)
    ]
    findings.extend(
        Finding("missing-key", (key,), {"where": "an expectation", "key": key})
        for key in ("cases", "expect", "reason")
        if raw.get(key) is None
    )
    values: dict[str, Any] = {}
    for key in KEYS:
        if raw.get(key) is not None:
            value = _value(key, raw[key])
            if value is None:
                findings.append(_mistyped(key, raw[key]))
            else:
                values[key] = value
    expires = values.get("expires")
    if expires is not None and expires < today:
        findings.append(Finding("expired-expectation", ("expires",), {"date": expires, "today": today}))
    return (None if findings else Entry(**values, number=index)), findings


def _value(key: str, raw: Any) -> Any:
    """Return a key's value, or None where it is not one."""
    if key == "feature_level":
        return parse_level(raw)
    if not isinstance(raw, str) or not raw:
        return None
    if key == "expires":
        try:
            return dt.date.fromisoformat(raw) if re.fullmatch(r"\d{4}-\d\d-\d\d", raw, re.ASCII) else None
        except ValueError:
            return None
    return raw if key != "expect" or raw in EXPECTED else None


def _mistyped(key: str, raw: Any) -> Finding:
    expected = {
        "expect": f"one of {', '.join(EXPECTED)}",
        "expires": "a date such as 2027-01-31",
        "feature_level": "a feature level such as 4_1",
    }.get(key, "text")
    return Finding("wrong-type", (key,), {"what": key, "found": describe(raw), "expected": expected})


def _diagnostic(document: Document, index: int, finding: Finding) -> Diagnostic:
    position = document.locate((index, *finding.path), key=finding.at_key)
    return _placed(document, position, finding)


def _placed(document: Document, position: Position, finding: Finding) -> Diagnostic:
    line, column, width = position.line, position.column, position.width
    return finding.diagnostic()._replace(file=document.name, line=line, column=column, width=width)


# ---- what becomes of a result


def expected_result(result: CaseResult, entry: Entry | None) -> CaseResult:
    """Return a result as an entry has it: expected, better than expected, worse, or none of its business."""
    if entry is None or result.is_malformed:
        return result
    outcome, because = result.outcome, entry.because
    if outcome == PASSED:
        return result._replace(outcome="xpassed", reason=f"expected {entry.expect}, and passes: {because}")
    if outcome == entry.expect:
        return result._replace(outcome=SKIPPED if outcome == SKIPPED else "xfailed", reason=because)
    if outcome == ERRORED:
        reason = f"worse than expected, which is {entry.expect}: {result.reason}"
        return result._replace(reason=reason)
    if outcome == FAILED:
        return result._replace(reason=f"{result.reason}; expected was {entry.expect}: {because}")
    return result


# ---- keeping a file up to date


class Change(NamedTuple):
    """What an update did: the file's new text, the entries that it dropped with why, and those that it added."""

    text: str
    dropped: tuple[tuple[Entry, str], ...]
    added: tuple[str, ...]


def updated(expectations: Expectations, outcomes: Mapping[str, str], implementation: str, reason: str | None) -> Change:
    """Drop the entries that no longer hold for a run's outcomes by case; with a reason, add what fails unexpectedly."""
    dropped = []
    for entry in expectations.entries:
        found = [outcome for case_id, outcome in outcomes.items() if matches(entry.cases, case_id)]
        if not found:
            dropped.append((entry, "no case has such an id"))
        elif not any(_still_holds(entry, outcome) for outcome in found):
            dropped.append((entry, f"now {', '.join(sorted({_plain(outcome) for outcome in found}))}"))
    kept = [entry for entry in expectations.entries if entry not in [gone for gone, _ in dropped]]
    text = _without(expectations.document, {entry.number for entry, _ in dropped})
    added = {}
    for case_id, outcome in outcomes.items() if reason is not None else ():
        if outcome in (FAILED, ERRORED) and not any(matches(entry.cases, case_id) for entry in kept):
            added[case_id] = _entry_text(case_id, implementation, outcome, reason or "")
    return Change(_with(text, added.values()), tuple(dropped), tuple(added))


def _still_holds(entry: Entry, outcome: str) -> bool:
    return outcome in (entry.expect, "xfailed")


def _plain(outcome: str) -> str:
    return PASSED if outcome == "xpassed" else outcome


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
    """Return a file's text with more entries: as far to the right as those before, or instead of an empty list."""
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


def _entry_lines(values: Mapping[str, str]) -> Iterator[str]:
    import json

    for number, (key, value) in enumerate(values.items()):
        text = value if value in EXPECTED else json.dumps(value, ensure_ascii=False)
        yield f"{'- ' if number == 0 else '  '}{key}: {text}\n"
