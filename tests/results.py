"""Results for the tests of reports, as they come from another process: without the file that they are from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Position
from dmlcheck.reports.records import Reporter, Summary, Tally
from dmlcheck.running.results import CaseResult

LINE = "  outputs: {OutputTensor: [[21]]}"
MISMATCH = Diagnostic(
    "output-mismatch",
    "OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance",
    file="cases/sum.yaml",
    line=10,
    column=29,
    pointer="outputs.OutputTensor[0]",
    width=2,
)
UNLIKELY = Diagnostic(
    "unlikely-error",
    "OutputTensor: 1 of 1 element is inside the bound, but up to 3 times the likely error",
    severity="warning",
    file="cases/sum.yaml",
    line=10,
    column=29,
    pointer="outputs.OutputTensor[0]",
    width=2,
)
OUTPUT = OutputResult(
    1, mismatches=1, max_ulp=5.0, first=(Element((0,), 21.0, 22.0, 5.0, 2.5),), data_type="FLOAT32", bound="exact"
)


def case(name: str = "sum", file: str = "cases/sum.yaml", operator: str = "DML_OPERATOR_REDUCE", **fields: Any) -> Case:
    """Return a case that stands on line 8 of its file."""
    origin = DetachedOrigin(Position(8, 3), {10: LINE})
    desc = {"Function": "SUM", "Axes": [0]}
    given = {"inputs": {"InputTensor": "[1, 20]"}, "outputs": None, "source": "a page", **fields}
    return Case(
        id=f"{file}::{name}",
        name=name,
        file=file,
        operator=operator,
        feature_level=None,
        desc=desc,
        invalid=None,
        tolerance=None,
        tags=(),
        note=None,
        origin=origin,
        **given,
    )


def failed(name: str = "sum", file: str = "cases/sum.yaml", **fields: Any) -> CaseResult:
    """Return a case whose output is wrong."""
    found = MISMATCH._replace(file=file)
    outputs = {"OutputTensor": OUTPUT}
    return CaseResult(case(name, file), "failed", "output mismatch", (found,), outputs, 0.25)._replace(**fields)


def every_outcome(file: str = "cases/sum.yaml") -> list[CaseResult]:
    """Return one case of each outcome."""
    broken = Diagnostic(
        "field-type", "Axes is 0", file=file, line=4, column=1, pointer="desc.Axes", help="write [0]", note="a list"
    )
    listed = Diagnostic("size-mismatch", "listed by the case", severity="note", file=file, line=5, column=1)
    return [
        CaseResult(case("passed", file), "passed", diagnostics=(listed,), seconds=0.5),
        failed("failed", file),
        CaseResult(case("error", file), "error", "not a well-formed case", (broken,), seconds=0.125),
        CaseResult(case("skipped", file), "skipped", "nothing to run"),
        failed("xfailed", file, outcome="xfailed", reason="a known deviation"),
        CaseResult(case("xpassed", file), "xpassed", "expected failed, and passes"),
    ]


def summary_of(results: Iterable[CaseResult], *, interrupted: bool = False) -> Summary:
    """Return how a run with these results ended."""
    tally, seconds = Tally(), 0.0
    for result in results:
        tally.add(result)
        seconds += result.seconds
    return tally.summary(seconds, is_interrupted=interrupted)


def report(reporter: Reporter, results: list[CaseResult], *, interrupted: bool = False) -> None:
    """Let a reporter take results and the end of their run."""
    for result in results:
        reporter.case(result)
    reporter.finish(summary_of(results, interrupted=interrupted))
