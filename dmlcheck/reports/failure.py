"""A failed case as people read it: what is needed to mend the case or the implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import brief, visible
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.elements import mismatch_lines
from dmlcheck.reports.layout import PLAIN, Style, indent
from dmlcheck.reports.problems import Told
from dmlcheck.reports.visible import shown_result
from dmlcheck.running.accuracy import drifts
from dmlcheck.running.results import FAILED, CaseResult

Again = Callable[[CaseResult], str]


def causes(result: CaseResult) -> list[Diagnostic]:
    """Return what was found of a case that fails its run."""
    return [*result.diagnostics, *drifts(result)]


def rules_text(result: CaseResult) -> str:
    """Return the rules that a case that fails its run is told by, each once."""
    return ", ".join(dict.fromkeys(diagnostic.rule for diagnostic in causes(result)))


def again_by_id(result: CaseResult) -> str:
    """Return the command that runs a case again, where nothing is known of the run."""
    return f"dmlcheck run {result.case.id}"


def failure_text(result: CaseResult, again: Again | None) -> str:
    """Return all that there is to say of a failure, without colour."""
    return "\n".join(failure_lines(shown_result(result), again or again_by_id)).rstrip("\n")


def failure_lines(result: CaseResult, again: Again, *, style: Style = PLAIN, told: Told | None = None) -> Iterator[str]:
    """Yield what there is to say of a failure, with the command that runs the case again, and an empty line.

    A mistake that was `told` of an earlier case is only named.
    """
    case = result.case
    yield f"{_head(result, style)} {style(case.id, 'bold')}   {rules_text(result) or result.reason or ''}"
    for diagnostic in result.diagnostics:
        first = None if told is None else told.earlier(diagnostic, case.id)
        if first is None:
            yield indent(diagnostic_text(diagnostic, case.origin.line, style))
        else:
            yield f"  {diagnostic.where}: {diagnostic.rule}, as in {first}"
    for diagnostic in drifts(result):
        yield indent(diagnostic_text(diagnostic, None, style))
    if result.outputs:
        yield from ("  " + line for line in _what_ran(result))
    if case.source and result.outcome == FAILED:
        yield f"  source: {case.source}"
    for known in result.known:
        yield f"  known of DirectML ({known.versions}): {known.text} ({known.source})"
    yield f"  again: {visible(again(result))}"
    yield ""


def _head(result: CaseResult, style: Style) -> str:
    return style("DRIFTED" if result.drift else result.outcome.upper(), "red")


def _what_ran(result: CaseResult) -> Iterator[str]:
    """Yield the elements that are wrong, the desc and the inputs."""
    for name, output in result.outputs.items():
        yield from mismatch_lines(name, output)
    yield f"desc: {result.case.operator} {brief(result.case.desc)}"
    yield from (f"{name}: {brief(raw)}" for name, raw in (result.case.inputs or {}).items())
