"""Checks of the kernels' rows: whether each operator has one, and each row what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from dmlcheck.reference.bindings import parameter
from dmlcheck.reference.rows import (
    JUMPS,
    NORMS,
    OVERFLOWS,
    PRODUCTS,
    RANKS,
    SEEKS,
    SUMS,
    TERMS,
    WINOGRAD,
    Correlations,
    Kernel,
    Products,
    Recurrence,
    Spread,
)
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.values.number_formats import FORMATS


def kernel_problems(known: list[OperatorSpec]) -> Iterator[str]:
    """Yield the problems of the families' tables."""
    for family in sorted({spec.kernel for spec in known}):
        kernels = import_module(f"dmlcheck.reference.kernels.{family}").KERNELS
        named = {spec.short: spec for spec in known if spec.kernel == family}
        yield from (
            f"{name}: kernels/{family}.py has a kernel and no spec names it" for name in sorted(kernels.keys() - named)
        )
        yield from (f"{name}: kernels/{family}.py has no kernel for it" for name in sorted(named.keys() - kernels))
        for name in sorted(named.keys() & kernels.keys()):
            yield from (f"{name}: kernels/{family}.py: {text}" for text in row_problems(named[name], kernels[name]))


def row_problems(spec: OperatorSpec, row: Kernel) -> Iterator[str]:
    """Yield the problems of an operator's row."""
    for word, words in ((row.sums, SUMS), (row.jumps, JUMPS), (row.overflow, OVERFLOWS), (row.seeks, SEEKS)):
        if word not in words:
            yield f"the row says {word}, which is none of {', '.join(filter(None, words))}"
    others = {*row.algorithms} - {WINOGRAD}
    yield from (f"the row has the algorithm {name}, which no option names" for name in others)
    for name, limits in (("range", row.range), ("domain", row.domain)):
        if limits is not None and limits[0] >= limits[1]:
            yield f"the row's {name} from {limits[0]} to {limits[1]} has no numbers"
    if isinstance(row.tiles, (Products, Correlations, Recurrence)) and _has_floats(spec) and row.sums != PRODUCTS:
        yield "the row has tiles of sums of products, and does not say that it has such sums"
    if row.spread is not None:
        yield from _spread_problems(spec, row.spread)


def _spread_problems(spec: OperatorSpec, spread: Spread) -> Iterator[str]:
    tensors = {parameter(field.name) for field in spec.inputs}
    for name in (*spread.places, *spread.factors):
        if name not in tensors:
            yield f"the row spreads errors by {name}, which is no input"
    if spread.by not in (TERMS, NORMS, RANKS):
        yield f"the row spreads errors as {spread.by}, which is not possible"
    if spread.by == RANKS:
        needed = ("InputTensor", "Axis", "OutputValueTensor")
        yield from (f"the row sorts elements, and there is no {name}" for name in needed if name not in spec.fields)


def _has_floats(spec: OperatorSpec) -> bool:
    """Whether an input of an operator is always one of floats."""
    rows = [row for table in spec.support for row in table.rows.values()]
    return any(
        all(row[field.name].types and {*row[field.name].types} <= FORMATS.keys() for row in rows if field.name in row)
        for field in spec.inputs
        if any(field.name in row for row in rows)
    )
