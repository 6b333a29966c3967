"""What draws of an operator exercise of its tables, and the share of drafts that become valid.

`python tests/drawn_coverage.py [--draws 1000] [OPERATOR...]` prints what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.units import Unit, drawn_desc
from dmlcheck.inspection.coverage import LAYOUTS, of_operator
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.records import OperatorSpec

PARTS = ("types and dimensions accepted", "enumeration values accepted")
FEW = 2  # values of a field that is not an enumeration


class Drawn(NamedTuple):
    """What draws of an operator come to: how many are valid, and what no draw has."""

    operator: str
    draws: int
    valid: int
    missing: tuple[str, ...]


def measured(operator: str, draws: int, seed: int = 0) -> Drawn:
    """Draw descs of an operator, and return what is missing from them."""
    spec = load_spec(operator)
    descs = [desc for desc in (drawn_desc(Unit(operator, seed, number)) for number in range(draws)) if desc is not None]
    cases = [Case(str(at), "x", "x", operator, None, notation(desc), {}) for at, desc in enumerate(descs)]
    found = of_operator(spec, cases)
    missing = [text for part in PARTS for text in found.parts[part].missing]
    layouts = [name for name in LAYOUTS[:4] if name != "broadcast" or spec.inputs]  # no output may be broadcast
    missing += [f"layout {name}" for name in layouts if name not in found.layouts]
    return Drawn(operator, draws, len(descs), (*missing, *_options(spec, descs)))


def _options(spec: OperatorSpec, descs: Iterable[OperatorDesc]) -> Iterator[str]:
    """Yield the optional fields that are always there or never, and the booleans and numbers that have one value."""
    given = list(descs)
    for name, field in spec.fields.items():
        values = [desc.values.get(name) for desc in given]
        if field.optional and not field.counts:
            there = Counter(value is not None for value in values)
            yield from (f"{name} {'given' if state else 'left out'}" for state in (True, False) if not there[state])
        if field.boolean:
            yield from (f"{name} {state}" for state in (0, 1) if state not in {int(bool(value)) for value in values})
        elif field.type in ("FLOAT", "UINT", "INT") and field.enum is None and len(set(values)) < FEW:
            yield f"{name}: one value"


def main(arguments: list[str] | None = None) -> None:
    """Print what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(arguments)
    names = [name for name in map(full_name, options.names) if name] or operator_names()
    whole, valid, draws = 0, 0, 0
    for name in names:
        found = measured(name, options.draws)
        whole, valid, draws = whole + (not found.missing), valid + found.valid, draws + found.draws
        if found.missing or found.valid < 0.95 * found.draws:
            sys.stdout.write(
                f"{load_spec(name).short}: {found.valid} of {found.draws} valid; {'; '.join(found.missing)}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{whole} of {len(names)} operators have all; {valid} of {draws} draws are valid\n")


if __name__ == "__main__":
    main()
