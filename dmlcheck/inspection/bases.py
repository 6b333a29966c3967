"""The bases of constraints and errata: how many stand on each, and whether all have one that they may have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import DATA_TYPES, RELEASES, releases_with
from dmlcheck.specs.records import BASES, MEASURED, OperatorSpec, Releases, TakenValues

_MEASUREMENT = re.compile(r"DirectML \d+\.\d+.*\b20\d\d-\d\d-\d\d\b").search
_RELEASE = re.compile(r"(?:DirectML|releases?) (\d+\.\d+\.\d+)").findall


class BasisCount(NamedTuple):
    """The constraints and errata of a basis; `accepted` counts constraints that descs break and releases accept."""

    basis: str
    constraints: int
    accepted: int
    errata: int


def basis_counts(specs: Iterable[OperatorSpec]) -> list[BasisCount]:
    """Return the numbers of constraints and errata by their basis, in the order of BASES."""
    known = list(specs)
    rows = [row for spec in known for row in spec.constraints]
    errata = [erratum for spec in known for erratum in spec.errata]
    return [
        BasisCount(
            basis,
            sum(row.basis == basis for row in rows),
            sum(row.basis == basis and row.taken is not None for row in rows),
            sum(erratum.basis == basis for erratum in errata),
        )
        for basis in BASES
    ]


def basis_problems(spec: OperatorSpec) -> Iterator[str]:
    """Yield the rows of a spec without a basis that there is, and measurements without releases or with wrong ones."""
    for row in spec.constraints:
        if row.basis not in BASES:
            yield f"{row.id} has the basis {row.basis}; write one of {', '.join(BASES)}"
        if row.taken is not None:
            yield from _release_problems(row.id, row.taken)
        if row.taken_inside is not None:
            yield from _release_problems(row.id, row.taken_inside)
    for number, values in enumerate(spec.taken, 1):
        yield from _release_problems(f"row {number} of taken", values.releases)
        yield from _value_problems(spec, f"row {number} of taken", values)
    for erratum in spec.errata:
        if erratum.basis == MEASURED and not (erratum.measured and _MEASUREMENT(erratum.sources)):
            yield f"{erratum.id} is measured; write measured: true, and the releases and the date in its source"
    for where, source in _measurements(spec):
        yield from earlier_releases(spec, where, source)


def _measurements(spec: OperatorSpec) -> Iterator[tuple[str, str]]:
    """Yield the measurements of DirectML in a spec: the place of each, and its source."""
    yield from ((erratum.id, erratum.sources) for erratum in spec.errata)
    yield from ((f'the result "{row.text}"', row.run.text) for row in spec.measured)
    yield from ((f'the known deviation "{row.text}"', row.source) for row in spec.known_deviations)
    if spec.half is not None:
        yield "half", spec.half.source


def earlier_releases(spec: OperatorSpec, where: str, source: str) -> Iterator[str]:
    """Yield the releases that a source names first, and which do not have the operator."""
    having = releases_with(spec.introduced)
    yield from (
        f"{where} names DirectML {name}, which does not have the operator"
        for name in _RELEASE(source)
        if name in RELEASES and name not in having
    )


def _release_problems(where: str, releases: Releases) -> Iterator[str]:
    unknown = [name for name in (releases.since, releases.until) if name is not None and name not in RELEASES]
    yield from (f"{where} names DirectML {name}, which was not asked" for name in unknown)
    if not unknown and not releases.all:
        yield f"{where} is taken by no release"


def _value_problems(spec: OperatorSpec, where: str, values: TakenValues) -> Iterator[str]:
    yield from (
        f"{where} names {name}, which is no tensor"
        for name in values.tensors
        if name not in spec.fields or not spec.fields[name].is_tensor
    )
    yield from (f"{where} names {name}, which is no field" for name in values.operators if name not in spec.fields)
    yield from (f"{where} has the type {kind}, which does not exist" for kind in values.types if kind not in DATA_TYPES)
    operators = chain.from_iterable(values.operators.values())
    yield from (f"{where} has {name}, which is no operator" for name in operators if full_name(name) is None)
