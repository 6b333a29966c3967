"""Whether the bundled cases of an operator leave nothing of its spec out, and agree with it."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.inspection import coverage
from dmlcheck.inspection.bases import earlier_releases
from dmlcheck.specs.load import full_name
from dmlcheck.specs.records import OperatorSpec


def case_problems(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    """Yield the gaps and mistakes of the bundled cases of an operator."""
    for case in cases:
        if full_name(case.operator) != spec.operator:
            yield f"{case.id} is a case of {case.operator}"
        if not case.source:
            yield f"{case.id} has no source"
        yield from earlier_releases(spec, case.id, case.source or "")
        yield from _tolerance_problems(case)
        yield from _positive_problems(case)
    yield from _unbroken(spec, cases)
    yield from _examples(spec, cases)
    yield from _table_problems(spec, cases)
    if spec.kernel and not any(case.is_without_results for case in cases):
        yield "no case has inputs without outputs, to compare implementations with the reference engine"


def _tolerance_problems(case: Case) -> Iterator[str]:
    """Yield whether a case has a tolerance of its own that nothing explains; the source does for an exact one."""
    own = case.tolerance
    if own is not None and not (own.reason or case.note or (own.exact and case.source)):
        yield f"{case.id} has its own tolerance and no reason for it"


def _positive_problems(case: Case) -> Iterator[str]:
    """Yield why a case that claims to be valid is not."""
    if not case.is_negative:
        _, findings = validation.validate(case.operator, case.desc, case.level)
        yield from (f"{case.id} is not valid: {finding.rule}: {finding.message}" for finding in findings)


def _table_problems(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    rejected = coverage.rejected(spec, cases)
    yield from (f"no case is rejected for {edge}" for edge in coverage.table_edges(spec) if edge not in rejected)
    found = coverage.of_operator(spec, cases).parts["support rows accepted"]
    yield from (f"no case is accepted in {row}" for row in found.missing)
    computed = coverage.accepted(spec, [case for case in cases if case.outputs is not None])
    yield from (f"no case with outputs has {part}" for part in coverage.newest_parts(spec) if part not in computed)


def _unbroken(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    """Yield the rows that no case breaks and one should."""
    listed = {entry for case in cases for entry in case.invalid or ()}
    for row in coverage.rows_to_break(spec):
        if f"{spec.short}/{row.id}" not in listed:
            yield f"no case breaks {row.id}"


def _examples(spec: OperatorSpec, cases: list[Case]) -> Iterator[str]:
    sources = [case.source or "" for case in cases if not case.is_negative]
    for example in spec.examples:
        if not any(source.endswith(example) for source in sources):
            yield f"no case has the page's {example}"
