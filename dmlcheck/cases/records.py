"""A case as its file has it, where its parts stand, and what a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import Document, Path, Position
from dmlcheck.specs.records import Tolerance


class Case(NamedTuple):
    """One case as its file has it, defaults merged in and matrix values put in."""

    id: str
    name: str
    file: str
    operator: str
    feature_level: str | None
    desc: Mapping[str, Any]
    inputs: Mapping[str, Any] | None
    outputs: Mapping[str, Any] | None
    invalid: tuple[str, ...] | None
    tolerance: Tolerance | None
    source: str | None
    tags: tuple[str, ...]
    note: str | None
    origin: Any

    @property
    def position(self) -> Position:
        """Where the case starts in its file."""
        return self.origin.position()  # type: ignore[no-any-return]

    @property
    def is_plain_desc(self) -> bool:
        """Whether there is nothing to run: no inputs, outputs or invalid."""
        return self.inputs is None and self.outputs is None and self.invalid is None


MERGED = ("desc", "inputs")


class Origin(NamedTuple):
    """Where a case's parts stand: the case's own place in its document first, then the defaults of the file."""

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

    def literal(self, path: Path) -> str | None:
        """Return the text of the plain scalar at `path` as the file spells it."""
        full = self._full(path)
        return None if full is None else self.document.literal(full)

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding with its place in the file."""
        position = self.locate(finding.path, key=finding.at_key)
        return finding.diagnostic()._replace(
            file=self.document.name,
            line=position.line,
            column=position.column,
            width=position.width,
        )

    def _full(self, path: Path) -> Path | None:
        """Return a path of the case as a path of the file: in the first place that has the part that it is of.

        Where none has it, in the place that comes closest.
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
    """Return how many steps of a path a value has."""
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
    """What a file holds: its cases, what is wrong with those that are not well formed, and problems of the file itself.

    `broken` goes by id: every case has one of its own, also where a name is missing or taken.
    `notes` speak of what is in the file and is none of dmlcheck's business.
    """

    document: Document
    cases: tuple[Case, ...]
    broken: Mapping[str, tuple[Diagnostic, ...]]
    problems: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...] = ()
