"""Known results of one implementation: a list of entries that turns failures that are known into expected ones.

A failure that an entry expects becomes xfailed, and a case that passes instead becomes xpassed. A case that is worse
than its entry says keeps its outcome: it was expected to fail, and cannot be run at all.

An entry names a case by its id, or by the end of its file's path, so that it does not matter from which folder a run is
started, and how its paths are written.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import ERROR, Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import describe, did_you_mean, misspelt, unknown_names
from dmlcheck.files.document import Document, Path, Position, diagnostic_at
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, XFAILED, CaseResult
from dmlcheck.specs.names import NEWEST_LEVEL, parse_level

# ---- globs on ids: `*` stands for any text, `?` for one character, and nothing else for anything but itself
#
# A match never goes back: each stretch between two stars is taken where it is first found, which finds a match wherever
# there is one. So the time grows with the length of the text for any glob.


MAX_LENGTH = 4096  # characters of a glob with `*` or `?`; a stretch is looked for at each character of a text

_WILD = re.compile(r"[*?]")


class Glob(NamedTuple):
    """A glob in parts: the beginning of a text, the parts that follow in order, and its end, None without a star."""

    start: re.Pattern[str]
    middle: tuple[re.Pattern[str], ...] = ()
    end: re.Pattern[str] | None = None
    end_length: int = 0

    def matches(self, text: str) -> bool:
        """Whether the glob names a text."""
        found = self.start.match(text)
        if found is None:
            return False
        if self.end is None:
            return found.end() == len(text)
        for stretch in self.middle:
            found = stretch.search(text, found.end())
            if found is None:
                return False
        at = len(text) - self.end_length
        return at >= found.end() and self.end.match(text, at) is not None


def matches(glob: str, text: str) -> bool:
    """Whether a glob names a text."""
    return _glob(glob).matches(text)


def is_too_long(glob: str) -> bool:
    """Whether a glob has more characters than a search for it may take."""
    return len(glob) > MAX_LENGTH and _WILD.search(glob) is not None


@lru_cache(1024)
def _glob(glob: str) -> Glob:
    start, *rest = re.split(r"\*+", glob)
    if not rest:
        return Glob(_stretch(start))
    *middle, end = rest
    return Glob(_stretch(start), tuple(map(_stretch, middle)), _stretch(end), len(end))


def _stretch(text: str) -> re.Pattern[str]:
    return re.compile(".".join(map(re.escape, text.split("?"))), re.DOTALL)


class Globs:
    """Many globs, indexed by their beginnings or ends: a text is compared only with those that begin or end as it does.

    A glob is known by its number.
    """

    def __init__(self, globs: Mapping[int, str]) -> None:
        """Index globs by the longer of the parts before their first and after their last `*` or `?`."""
        self._exact: dict[str, list[int]] = {}
        self._starts: dict[str, list[tuple[int, str]]] = {}
        self._ends: dict[str, list[tuple[int, str]]] = {}
        for number, glob in globs.items():
            start, *others = _WILD.split(glob)
            if not others:
                self._exact.setdefault(glob, []).append(number)
            elif len(others[-1]) > len(start):
                self._ends.setdefault(others[-1], []).append((number, glob))
            else:
                self._starts.setdefault(start, []).append((number, glob))
        self._start_lengths = sorted(set(map(len, self._starts)))
        self._end_lengths = sorted(set(map(len, self._ends)))

    def naming(self, text: str) -> Iterator[int]:
        """Yield the numbers of the globs that name a text, in no order."""
        yield from self._exact.get(text, ())
        for number, glob in self._alike(text):
            if matches(glob, text):
                yield number

    def _alike(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the globs that begin or end as a text does."""
        most = len(text)
        for length in takewhile(most.__ge__, self._start_lengths):
            yield from self._starts.get(text[:length], ())
        for length in takewhile(most.__ge__, self._end_lengths):
            yield from self._ends.get(text[-length:], ())


# ---- known results of one implementation


KEYS = ("cases", "implementation", "feature_level", "expect", "rule", "max_ulp", "reason", "link", "expires")
EXPECTED = (FAILED, ERRORED, SKIPPED)


class Entry(NamedTuple):
    """One entry: the expected outcome of some cases, for an implementation and a level, and the reason.

    With a `rule` no failure by another rule is expected, and with `max_ulp` no larger error, in units for integers.
    """

    cases: str
    expect: str
    reason: str
    implementation: str | None = None
    feature_level: str | None = None
    link: str | None = None
    expires: dt.date | None = None
    rule: str | None = None
    max_ulp: float | None = None
    number: int = 0

    @property
    def because(self) -> str:
        """The reason with its link."""
        return f"{self.reason} ({self.link})" if self.link else self.reason

    @property
    def expected(self) -> str:
        """The expected outcome in words: `failed by output-mismatch with at most 4 ULP`."""
        rule = f" by {self.rule}" if self.rule else ""
        return f"{self.expect}{rule}" + ("" if self.max_ulp is None else f" with at most {self.max_ulp:g} ULP")

    def is_worse(self, rules: Collection[str], max_ulp: float | None) -> bool:
        """Whether a failure is worse than the entry says: by another rule, of a larger error or of none to measure."""
        if self.rule is not None and set(rules) != {self.rule}:
            return True
        return self.max_ulp is not None and (max_ulp is None or max_ulp > self.max_ulp)

    def is_for(self, implementation: str, level: str | None) -> bool:
        """Whether the entry is about a run of an implementation at a level."""
        if self.implementation is not None and not matches(self.implementation, implementation):
            return False
        return self.feature_level is None or self.feature_level == (level or NEWEST_LEVEL)


class Names(NamedTuple):
    """The names of a case in entries: its id or its file's full path and name, and the ends of that from a slash on."""

    whole: tuple[str, ...]
    ends: tuple[str, ...] = ()


def names_of(case_id: str, file: str = "", path: str | None = None) -> Names:
    """Return the names of a case in entries; `file` is the file in its id, `path` leads to it if `file` does not."""
    if not file or not case_id.startswith(file):
        return Names((case_id,))
    rest = case_id[len(file) :]
    full, *ends = _path_ends(os.path.abspath(path or file))
    return Names((case_id, full + rest), tuple(end + rest for end in ends))


@lru_cache(256)
def _path_ends(path: str) -> tuple[str, ...]:
    """Return a full path with slashes, and its ends after each of these."""
    full = path.replace(os.sep, "/")
    return (full, *(full[found.end() :] for found in re.finditer("/", full)))


class Entries:
    """Entries in the order of their file, looked up by the names of cases."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._all = tuple(entries)
        globs = {number: entry.cases for number, entry in enumerate(self._all)}
        self._globs = Globs(globs)
        # A pattern with a star at its beginning names the whole path wherever it names an end of it.
        of_ends = {number: from_any_folder(glob) for number, glob in globs.items() if not glob.startswith("*")}
        self._of_ends = Globs(of_ends)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._all)

    def naming(self, names: Names) -> list[Entry]:
        """Return the entries that name a case."""
        found = {number for name in names.whole for number in self._globs.naming(name)}
        found.update(number for name in names.ends for number in self._of_ends.naming(name))
        return [self._all[number] for number in sorted(found)]


_HERE = re.compile(r"(?:\.\.?/)+")  # the current folder and the folders above it, which are in no full path


def from_any_folder(glob: str) -> str:
    """Return a pattern for the end of a full path."""
    start = _HERE.match(glob)
    return glob if start is None else glob[start.end() :]


class Expectations(NamedTuple):
    """The entries of a file for one run, and the problems of the file."""

    document: Document
    entries: Entries
    problems: tuple[Diagnostic, ...]

    def of(self, names: Names) -> Entry | None:
        """Return the first entry that names a case."""
        return next(iter(self.entries.naming(names)), None)


class UnmatchedEntries:
    """The entries that have named no case of a run so far."""

    def __init__(self, expectations: Expectations) -> None:
        self.document = expectations.document
        self.entries = expectations.entries
        self.waiting = {entry.number: entry for entry in self.entries}

    def see(self, names: Names) -> None:
        """Note a case of the run."""
        for entry in self.entries.naming(names) if self.waiting else ():
            self.waiting.pop(entry.number, None)

    def problems(self, files: Iterable[Names]) -> list[Diagnostic]:
        """Return the findings about unused entries for files that were read whole."""
        left = for_files(self.waiting.values(), files)
        found = (Finding("unmatched-expectation", (entry.number, "cases"), {"glob": entry.cases}) for entry in left)
        return [_diagnostic(self.document, finding) for finding in found]


def for_files(entries: Iterable[Entry], files: Iterable[Names]) -> list[Entry]:
    """Return the entries for some files, by the part before `::`.

    An entry without `::` is for the files whose path begins with its text before the first star. Without a star it is
    for all files.
    """
    listed = list(entries)
    parts = [(entry, part) for entry in listed for part in _file_parts(entry.cases)]
    of_parts = Entries(entry._replace(cases=part) for entry, part in parts)
    found = {entry.number for names in files for entry in of_parts.naming(names)}
    return [entry for entry in listed if entry.number in found]


def _file_parts(glob: str) -> list[str]:
    """Return the possible patterns of a file in an entry's pattern: names of files and cases may have `::` in them."""
    parts = [glob[: found.start()] for found in re.finditer("::", glob)]
    return parts or [glob.partition("*")[0] + "*" if "*" in glob else "*"]


# ---- the file


def read_expectations(document: Document, implementation: str, level: str | None, today: dt.date) -> Expectations:
    """Read a file of entries for a run; the findings about its entries are among the problems."""
    read, findings = collected(_entries(document.value, today))
    problems = [_diagnostic(document, finding) for finding in findings]
    entries = Entries(entry for entry in read if entry.is_for(implementation, level))
    return Expectations(document, entries, tuple(sorted((*document.problems, *problems), key=Diagnostic.place)))


def _entries(raw: Any, today: dt.date) -> Checking[list[Entry]]:
    """Return the entries of a file; the paths of findings are paths in the file."""
    entries = []
    if isinstance(raw, list):
        for index, item in enumerate(raw):
            entry, findings = collected(_entry(item, index, today))
            yield from (finding._replace(path=(index, *finding.path)) for finding in findings)
            if entry is not None and not findings:
                entries.append(entry)
    elif raw is not None:
        yield _mistyped((), "the file", raw, "a list of entries with cases, expect, reason")
    return entries


def _entry(raw: Any, index: int, today: dt.date) -> Checking[Entry | None]:
    """Return an entry with its well-formed keys, or None."""
    if not isinstance(raw, Mapping):
        yield _mistyped((), "an entry", raw, "a mapping with cases, expect and reason")
        return None
    for key, help in unknown_names(raw, KEYS):
        yield Finding("unknown-key", (key,), {"where": "an expectation", "key": key}, help, at_key=True)
    meant = misspelt(raw, KEYS).values()
    values: dict[str, Any] = {}
    for key in KEYS:
        if raw.get(key) is not None:
            values[key] = _value(key, raw[key])
            if values[key] is None:
                yield _mistyped((key,), key, raw[key], _WANTED.get(key, "text that is not empty"))
        elif key in _NEEDED and key not in meant:
            yield Finding("missing-key", (key,), {"where": "an expectation", "key": key})
    yield from _how_wrong_findings(values)
    expires = values.get("expires")
    if expires is not None and expires < today:
        yield Finding("expired-expectation", ("expires",), {"date": expires, "today": today})
    return Entry(**values, number=index) if values.keys() >= _NEEDED else None


def _how_wrong_findings(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the findings about the rule and the largest error of an entry."""
    rule = values.get("rule")
    if rule is not None and rule not in RULES:
        help = did_you_mean(rule, RULES) or "`dmlcheck explain` lists them"
        params = {"what": "rule", "found": describe(rule), "expected": "a rule such as output-mismatch"}
        yield Finding("wrong-type", ("rule",), params, help)
    if values.get("expect") == SKIPPED:
        for key in values.keys() & {"rule", "max_ulp"}:
            yield _mistyped((key,), key, values[key], "left out with expect: skipped")


_NEEDED = frozenset(("cases", "expect", "reason"))
_GLOBS = ("cases", "implementation")
_WANTED = {
    **dict.fromkeys(_GLOBS, f"text, of at most {MAX_LENGTH:,} characters where it has * or ?"),
    "expect": f"one of {', '.join(EXPECTED)}",
    "expires": "a date such as 2027-01-31",
    "max_ulp": "a number from 0 on",
    "feature_level": "a feature level such as 4_1",
}


def _value(key: str, raw: Any) -> Any:
    """Return a key's value, or None if it is not one."""
    if key == "feature_level":
        return parse_level(raw)
    if key == "max_ulp":
        is_number = isinstance(raw, (int, float)) and not isinstance(raw, bool)
        return float(raw) if is_number and 0 <= raw <= sys.float_info.max else None
    if not isinstance(raw, str) or not raw:
        return None
    if key == "expires":
        return _date(raw)
    if key in _GLOBS and is_too_long(raw):
        return None
    return raw if key != "expect" or raw in EXPECTED else None


def _date(raw: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(raw) if re.fullmatch(r"\d{4}-\d\d-\d\d", raw, re.ASCII) else None
    except ValueError:
        return None


def _mistyped(path: Path, what: str, raw: Any, expected: str) -> Finding:
    return Finding("wrong-type", path, {"what": what, "found": describe(raw), "expected": expected})


def _diagnostic(document: Document, finding: Finding) -> Diagnostic:
    """Return the diagnostic of a finding at its place in a file of entries, its path being that within the entry."""
    position = document.locate(finding.path, key=finding.at_key) if finding.path else Position(1, 1)
    return diagnostic_at(finding._replace(path=finding.path[1:]), document.name, position)


# ---- what becomes of a result


def expected_result(result: CaseResult, entry: Entry | None) -> CaseResult:
    """Return a result after its entry: expected, better or worse than expected, or unchanged without one."""
    if entry is None or result.is_malformed:
        return result
    outcome, because = result.outcome, entry.because
    if outcome == PASSED and result.is_flaky and entry.expect != SKIPPED:
        return result._replace(outcome=XFAILED, reason=f"{result.reason}; {because}")
    if outcome == PASSED:
        return result._replace(outcome="xpassed", reason=f"expected {entry.expected}, and passes: {because}")
    is_failure = outcome in (FAILED, ERRORED)
    is_worse = is_failure and (outcome == ERRORED != entry.expect or entry.is_worse(_rules(result), result.max_ulp))
    if outcome == entry.expect and not is_worse:
        return result._replace(outcome=SKIPPED if outcome == SKIPPED else "xfailed", reason=because)
    if is_worse and outcome in (entry.expect, ERRORED):
        result = result._replace(reason=f"worse than expected, which is {entry.expected}: {result.reason}")
    elif outcome == FAILED:
        result = result._replace(reason=f"{result.reason}; expected was {entry.expected}: {because}")
    return result


def _rules(result: CaseResult) -> set[str]:
    return {found.rule for found in result.diagnostics if found.severity == ERROR}


def unless_flaky(result: CaseResult) -> CaseResult:
    """Return a result; a case that passed after it had failed becomes a failure."""
    if result.outcome != PASSED or not result.is_flaky:
        return result
    found = Finding("flaky-case", (), {"problem": result.reason})
    diagnostic = diagnostic_at(found, result.case.file, result.case.position)
    return result._replace(outcome=FAILED, diagnostics=(*result.diagnostics, diagnostic))


def unless_skipped(result: CaseResult, entry: Entry | None) -> CaseResult:
    """Return a result; a skipped case that could be run becomes a failure, unless its entry expects the skip."""
    if result.outcome != SKIPPED or result.is_for_another or (entry is not None and entry.expect == SKIPPED):
        return result
    found = Finding("skipped-case", (), {"reason": result.reason})
    diagnostic = diagnostic_at(found, result.case.file, result.case.position)
    return result._replace(outcome=FAILED, reason=f"skipped: {result.reason}", diagnostics=(diagnostic,))
