"""Records what a build of DirectML answers, beside the builds that are recorded already (`recorded_answers.py`).

`python tests/record_answers.py LIBRARY` asks a library, named as after `directml:`, about all shipped descs and all
other recorded ones, and writes its letters as those of its version. A shipped desc that no build was asked about is
asked, and one that is gone is left out. A recorded desc that ends the process of the library is taken out. If a shipped
one does, its case is named, and nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import recorded_answers as record
from recorded_answers import LETTERS, UNASKED, Descs, Recorded, Shipped

from dmlcheck import load_cases
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure
from dmlcheck.implementations.directml import DirectMLLibrary
from dmlcheck.specs.names import RELEASES, parse_version

CASES = Path(__file__).parents[1] / "cases"


class Unrecorded(Exception):
    """A desc that ended the process of the library, or has an answer without a letter."""


def letter_of(desc: OperatorDesc, library: Any) -> str:
    """Return the letter for the answer of a library; Unrecorded if there is none."""
    try:
        answer = library.create_operator(desc)
    except Failure as error:
        raise Unrecorded(f"the library {error}") from None
    if answer.hresult not in LETTERS:
        raise Unrecorded(f"DirectML {answer.version} {answer.text}")
    return LETTERS[answer.hresult]


def in_order(builds: Iterable[str]) -> tuple[str, ...]:
    """Return builds in the order of their versions."""
    return tuple(sorted(set(builds), key=lambda build: (parse_version(build.partition("-")[0]) or (), build)))


def with_letter(letters: str, builds: tuple[str, ...], build: str, letter: str) -> str:
    """Return the letters of builds for a desc with that of one more build, or another one of a build that is there."""
    known = {**dict(zip(builds, letters, strict=True)), build: letter}
    return "".join(known[each] for each in in_order(known))


def with_shipped(known: Shipped, cases: Iterable[Case], library: Any) -> Shipped:
    """Return the record of the shipped descs with the answers of a library; Unrecorded names the case."""
    letters: dict[str, str] = {}
    for case in cases:
        key, desc = record.key_of(case), read_desc(case.operator, case.desc).desc
        if key in letters or desc is None or desc.broken:
            continue
        try:
            letter = letter_of(desc, library)
        except Unrecorded as error:
            raise Unrecorded(f"{case.id}: {error}") from None
        before = known.letters.get(key, UNASKED * len(known.builds))
        letters[key] = with_letter(before, known.builds, library.version, letter)
    return Shipped(in_order([*known.builds, library.version]), letters)


def with_descs(known: Descs, library: Any) -> tuple[Descs, list[Recorded]]:
    """Return the record of other descs with the answers of a library, and the descs that it no longer has."""
    rows: list[Recorded] = []
    out: list[Recorded] = []
    for row in known.rows:
        try:
            letter = letter_of(row.desc, library)
        except Unrecorded:
            out.append(row)
        else:
            letters = with_letter(row.letters, known.builds, library.version, letter)
            rows.append(row._replace(letters=letters))
    return Descs(in_order([*known.builds, library.version]), rows), out


def main(arguments: list[str] | None = None) -> int:
    """Ask, write, and say what was written and how much of it is foreseen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="DirectML.dll, libdirectml.so, or a wheel or a folder that has one")
    library = DirectMLLibrary.to_ask(parser.parse_args(arguments).library)
    try:
        shipped = with_shipped(record.read_shipped(), load_cases(CASES), library)
        descs, out = with_descs(record.read_descs(), library)
    except Unrecorded as error:
        sys.stdout.write(f"nothing is written: {error}\n")
        return 1
    finally:
        library.close()
    record.write_shipped(shipped)
    record.write_descs(descs)
    for row in out:
        sys.stdout.write(f"taken out: {row.operator} {row.text}\n")
    sys.stdout.write(f"DirectML {library.version}: {len(shipped.letters)} shipped descs, {len(descs.rows)} others\n")
    if library.version not in RELEASES:
        sys.stdout.write("to foresee its answers, add the release to RELEASES in dmlcheck/specs/names.py\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
