"""A case as its file has it, the places of its parts, and the contents of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple, Protocol

from dmlcheck.diagnostics.record import MAX_PROBLEMS, Diagnostic, Finding
from dmlcheck.files.document import Document, Path, Position, diagnostic_at
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import Tolerance


class Origin(Protocol):
    """The origin of a case: messages and reports ask it for places in the case's file."""

    def position(self) -> Position:
        """Return where the case starts."""

    def line(self, number: int) -> str:
        """Return a line of the file by its number from 1, "" if it is not known."""

    def literal(self, path: Path) -> str | None:
        """Return the text of the number at a path of the case as the file spells it, or None if that is not known."""

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding with its place in the file."""


def in_order(origin: Origin, findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
    """Return findings with their places in a case's file, in the order of these; of too many the first and a word.

    Those for which no release of DirectML refuses the desc come last.
    """
    found = list(islice(findings, MAX_PROBLEMS + 1))
    if len(found) > MAX_PROBLEMS:
        params = {"path": "the case", "most": MAX_PROBLEMS, "rest": "the others are not listed"}
        found[MAX_PROBLEMS:] = [Finding("too-many-problems", (), params)]
    refused = [origin.diagnostic(finding) for finding in found if not finding.taken_by]
    taken = [origin.diagnostic(finding) for finding in found if finding.taken_by]
    return (*sorted(refused, key=Diagnostic.place), *sorted(taken, key=Diagnostic.place))


class DetachedOrigin(NamedTuple):
    """The origin of a case without its file: from another process or an earlier run, or made by a program.

    It keeps the start of the case in the file, and the lines of its diagnostics.
    """

    start: Position = Position(1, 1)
    lines: Mapping[int, str] = {}

    def position(self) -> Position:
        """Return where the case starts."""
        return self.start

    def line(self, number: int) -> str:
        """Return the text of a line, "" if it is not known."""
        return self.lines.get(number, "")

    def literal(self, path: Path) -> str | None:  # noqa: ARG002 - as other origins have it
        """Return None: no number is known by its text."""
        return None

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding without a place."""
        return finding.diagnostic()


REFERENCE_ONLY = "reference-only"  # the tag of a case whose expected values are exact results, rounded once
DOCUMENTED = "documented"  # the tag of a case that has nothing of what was only measured
_OF_A_RELEASE = re.compile(r"\bDirectML \d+\.\d+")  # in the source of measured values


class Case(NamedTuple):
    """One case as its file has it, defaults merged in and matrix values put in.

    `alias` is what `validate` calls the node of a model that has no name: its first output.
    """

    id: str
    name: str
    file: str
    operator: str
    feature_level: str | None
    desc: Mapping[str, Any]
    inputs: Mapping[str, Any] | None = None
    outputs: Mapping[str, Any] | None = None
    invalid: tuple[str, ...] | None = None
    tolerance: Tolerance | None = None
    source: str | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None
    origin: Origin = DetachedOrigin()
    alias: str = ""

    @property
    def path(self) -> str:
        """The path that the id begins with: for a bundled case not that of the installed file."""
        return self.id.removesuffix(f"::{self.name}")

    @property
    def level(self) -> str:
        """The level that the desc is validated at: the case's own, or the newest."""
        return self.feature_level or NEWEST_LEVEL

    @property
    def position(self) -> Position:
        """Where the case starts in its file."""
        return self.origin.position()

    @property
    def is_measured(self) -> bool:
        """Whether the expected values were measured: the source names a release of DirectML."""
        return self.source is not None and _OF_A_RELEASE.search(self.source) is not None

    @property
    def is_documented(self) -> bool:
        """Whether its tag says that it has a value where the documentation defines one, and `any` elsewhere."""
        return DOCUMENTED in self.tags and not self.is_measured

    @property
    def is_plain_desc(self) -> bool:
        """Whether there is nothing to run: no inputs, outputs or invalid."""
        return self.inputs is None and self.outputs is None and self.invalid is None

    @property
    def is_without_results(self) -> bool:
        """Whether the case has inputs and no outputs: the reference engine gives the expected values."""
        return self.inputs is not None and self.outputs is None and self.invalid is None

    @property
    def gives_outputs(self) -> bool:
        """Whether it gives values for some output: `{OutputTensor: null}` gives none."""
        return self.outputs is not None and any(map(_gives, self.outputs.values()))

    @property
    def is_negative(self) -> bool:
        """Whether the case is about an invalid desc: it lists rules, or lists nothing and has no outputs."""
        return self.invalid is not None and not (self.invalid == () and self.outputs)

    @property
    def needs_inputs(self) -> bool:
        """Whether every input must have values: a negative case may leave some out."""
        return not self.is_negative or "missing-tensor" in (self.invalid or ())

    @property
    def is_generated(self) -> bool:
        """Whether only implementations other than the reference can run it: its values are random, or it has no inputs.

        One that lists its values may lack its outputs by mistake.
        """
        if self.inputs is None or self.gives_outputs or self.invalid is not None:
            return False
        return not self.inputs or any(map(_is_random, self.inputs.values()))


def _gives(raw: Any) -> bool:
    """Whether there are values for a tensor, or for one of an array of tensors."""
    if not isinstance(raw, list) or not raw:
        return raw is not None
    return raw[0] is not None or any(part is not None for part in raw)


def _is_random(raw: Any) -> bool:
    """Whether the values of a tensor, or of one of an array of tensors, are random."""
    if isinstance(raw, list):
        return any(isinstance(part, Mapping) and "random" in part for part in raw)
    return isinstance(raw, Mapping) and "random" in raw


MERGED = ("desc", "inputs")  # keys whose fields a case adds to those of the defaults


def merged(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a case: its own, and the defaults of its file where it has none."""
    found = {**defaults, **own}
    for key in MERGED:
        base = defaults.get(key)
        if isinstance(base, dict) and isinstance(own.get(key), dict):
            found[key] = {**base, **own[key]}
    return found


class FileOrigin(NamedTuple):
    """The file of a case: the case's own place in it first, then the places of the defaults."""

    document: Document
    places: tuple[Path, ...]
    item: tuple[list[Any], int] | None = None
    renames: Mapping[str, Path] = {}

    def position(self) -> Position:
        """Return where the case starts."""
        if self.item is not None:
            return self.document.item_position(("cases",), *self.item)
        return self.document.locate(self.places[0]) if self.places[0] else Position(1, 1)

    def locate(self, path: Path, *, key: bool = False) -> Position:
        """Return where the part of the case at `path` stands, or the nearest thing around it that is there."""
        if not path:
            return self.position()
        full = self._full(path)
        return self.position() if full is None else self.document.locate(full, key=key)

    def line(self, number: int) -> str:
        """Return the text of a line of the file."""
        return self.document.line(number)

    def literal(self, path: Path) -> str | None:
        """Return the text of the plain scalar at `path` as the file spells it."""
        full = self._full(path)
        return None if full is None else self.document.literal(full)

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding with its place in the file."""
        return diagnostic_at(finding, self.document.name, self.locate(finding.path, key=finding.at_key))

    def _full(self, path: Path) -> Path | None:
        """Return a path of the case as a path of the file: in the first place that has this part.

        If no place has it, in the place that comes closest.
        """
        merged = path[0] in MERGED
        path = (*self.renames.get(str(path[0]), path[:1]), *path[1:])
        best, most = None, 0
        for place in self.places:
            depth = _depth(self.document.value, (*place, *path)) - len(place)
            # A part is taken whole: a field of desc and inputs, any other key of a case.
            if depth >= (2 if merged else 1):
                return (*place, *path)
            if depth > most:
                best, most = (*place, *path), depth
        return best


def _depth(value: Any, path: Path) -> int:
    for depth, step in enumerate(path):
        if not _has(value, step):
            return depth
        value = value[step]
    return len(path)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


class CaseFile(NamedTuple):
    """The contents of a file: its cases, the findings about malformed ones, and problems of the file itself.

    `broken` is by id: every case has an id of its own, even if its name is missing or used twice. `notes` are about
    parts of the file that dmlcheck does not check; `is_list` says that the file holds a list of cases.
    """

    document: Document
    cases: tuple[Case, ...]
    broken: Mapping[str, tuple[Diagnostic, ...]]
    problems: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...] = ()
    is_list: bool = True
