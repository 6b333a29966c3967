"""The answers of builds of DirectML that are recorded in `tests/implementations/directml`.

Both files begin with a line of builds. Each further line has a letter for each of them: `.` for S_OK, `X` for
E_INVALIDARG, `F` for E_UNEXPECTED, `?` for a desc that the build was not asked about.

- answers.txt.gz: a shipped desc by the beginning of its digest, and the letters.
- descs.txt.gz, with tabs: the kind of a desc, its operator, the letters, the desc.

The first record is of 2026-11-29: nineteen builds of DirectML.dll, 1.0 to 1.15.4, each asked by another program than
this one. The descs are then of these kinds, each of all operators:

- valid and broken: draws of `dmlcheck fuzz` with seed 46, every second of a random level.
- changed: shipped descs with one or two random changes, such as of a size, a rank, a type, an attribute, strides, or an
  optional tensor that is dropped or added.
- types and ranks: of each shape of a shipped desc every type in every tensor, and every number of dimensions.

Descs that end the process of a build are in none of them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL, RELEASES
from dmlcheck.validation import check
from dmlcheck.validation.deviations import is_accepted

FOLDER = Path(__file__).parent / "implementations" / "directml"
SHIPPED, DESCS = FOLDER / "answers.txt.gz", FOLDER / "descs.txt.gz"
LETTERS = {0: ".", 0x80070057: "X", 0x8000FFFF: "F"}
UNASKED = "?"


class Shipped(NamedTuple):
    """The letters of each shipped desc, by its key."""

    builds: tuple[str, ...]
    letters: dict[str, str]


class Recorded(NamedTuple):
    """A desc with its letters."""

    kind: str
    operator: str
    letters: str
    text: str

    @property
    def reading(self) -> Reading:
        """The desc as dmlcheck reads it."""
        return read_desc(self.operator, json.loads(self.text))

    @property
    def desc(self) -> OperatorDesc:
        """The desc, which can be read."""
        desc = self.reading.desc
        assert desc is not None
        return desc


class Descs(NamedTuple):
    """Descs with the letters of builds."""

    builds: tuple[str, ...]
    rows: list[Recorded]

    def letter(self, row: Recorded, build: str) -> str:
        """Return the letter of a build for a desc."""
        return row.letters[self.builds.index(build)]


def key_of(case: Case) -> str:
    """Return the key of a case's desc in the record of shipped descs."""
    text = json.dumps([case.operator, case.desc], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def read_shipped(path: Path = SHIPPED) -> Shipped:
    """Return the record of the shipped descs."""
    builds, *rows = _lines(path)
    return Shipped(tuple(builds.split()), dict(row.split() for row in rows))  # type: ignore[arg-type]


def write_shipped(record: Shipped, path: Path = SHIPPED) -> None:
    """Write the record of the shipped descs, in the order of their keys."""
    _write(path, [" ".join(record.builds), *(f"{key} {letters}" for key, letters in sorted(record.letters.items()))])


def read_descs(path: Path = DESCS) -> Descs:
    """Return the record of other descs."""
    builds, *rows = _lines(path)
    return Descs(tuple(builds.split()), [Recorded(*row.split("\t")) for row in rows])


def write_descs(record: Descs, path: Path = DESCS) -> None:
    """Write the record of other descs."""
    _write(path, [" ".join(record.builds), *("\t".join(row) for row in record.rows)])


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines, the same bytes for the same lines."""
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))


# ---- what is foreseen


class Foreseen(NamedTuple):
    """How many answers were compared and how many foreseen, by release, and the descs with others, by their kind."""

    compared: Counter[str]
    right: Counter[str]
    others: dict[tuple[str, ...], list[str]]

    def share(self, release: str) -> float:
        """Return the share of a release's answers that are foreseen."""
        return self.right[release] / self.compared[release]

    def lines(self) -> list[str]:
        """Return the kinds of descs with other answers: how many, of which operator and findings, and the first one.

        A letter for each release: `T` and `R` for a desc that is taken or refused though foreseen otherwise, `a` and
        `-` for one that is taken or refused as foreseen.
        """
        return [f"{len(found):4} {' '.join(kind)}: {found[0]}" for kind, found in sorted(self.others.items())]


def foreseen(builds: Sequence[str], rows: Iterable[Recorded]) -> Foreseen:
    """Compare the letters of builds in rows with what dmlcheck foresees."""
    found = Foreseen(Counter(), Counter(), {})
    for row in rows:
        reading, signs = row.reading, ""
        for release in RELEASES:
            letter = row.letters[builds.index(release)]
            is_taken, is_foreseen = letter == ".", is_accepted(reading, release)
            if letter != UNASKED:
                found.compared[release] += 1
                found.right[release] += is_taken == is_foreseen
                signs += ("a" if is_taken else "-") if is_taken == is_foreseen else "T" if is_taken else "R"
        if not set(signs) <= set("a-"):
            reasons = {finding.constraint or finding.rule for finding in check(reading, NEWEST_LEVEL)}
            kind = (row.operator, row.kind, *sorted(reasons))
            found.others.setdefault(kind, []).append(f"{signs} {row.text}")
    return found
