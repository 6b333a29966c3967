"""The accuracy of outputs: the worst by operator and data type, those close to their tolerance, and drift.

Two outputs of the same case are compared by their largest error, in units in the last place (in units for integers). An
output has drifted if that rose by more than the drift that a run allows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import ERROR, WARNING, Diagnostic, Finding
from dmlcheck.diagnostics.wording import brackets, error_text, share_text
from dmlcheck.files.document import Position, diagnostic_at
from dmlcheck.running.expectations import from_any_folder, names_of
from dmlcheck.running.results import PASSED, XFAILED, CaseResult, Drift
from dmlcheck.specs.names import short_operator


class Worst(NamedTuple):
    """The largest error of an operator's outputs of one data type and the largest share of a bound, and where they are.

    `max_share` is None where no output had a bound, `of_ulp` and `of_share` where no element differs. `is_unrounded`
    says that the largest error is measured from the unrounded result, `is_unlimited` that its bound is infinite.
    """

    operator: str
    data_type: str
    max_ulp: int | float = 0.0
    max_share: float | None = None
    of_ulp: Spot | None = None
    of_share: Spot | None = None
    is_unrounded: bool = False
    is_unlimited: bool = False


class Spot(NamedTuple):
    """An element of an output of a case."""

    case: str
    output: str
    place: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.case} {self.output}{brackets(self.place)}"


def _operator(result: CaseResult) -> str:
    return "model outputs" if result.output is not None else short_operator(result.case.operator)


class Accuracy:
    """The worst by operator and data type, as the results of a run go by."""

    def __init__(self) -> None:
        self.worst: dict[tuple[str, str], Worst] = {}

    def add(self, result: CaseResult) -> None:
        """Add the outputs of a case; an output of the wrong shape or type has no error."""
        for name, output in result.outputs.items():
            if output.shape is None:
                key = (_operator(result), output.data_type)
                worst = self.worst.get(key) or Worst(*key)
                case = result.case.id
                if output.max_ulp > worst.max_ulp and output.most_off is not None:
                    most = output.most_off
                    worst = worst._replace(
                        max_ulp=output.max_ulp,
                        of_ulp=Spot(case, name, most.place),
                        is_unrounded=most.is_unrounded,
                        is_unlimited=most.is_unlimited,
                    )
                if output.max_share is not None and (worst.max_share is None or output.max_share > worst.max_share):
                    of_share = None if output.closest is None else Spot(case, name, output.closest.place)
                    worst = worst._replace(max_share=output.max_share, of_share=of_share)
                self.worst[key] = worst

    def rows(self) -> list[Worst]:
        """Return the worst of each operator and data type, by operator."""
        return [self.worst[key] for key in sorted(self.worst)]


_HALF = 0.5  # the most ULP that the rounding of a result is off
_MANY_ULP = 1000.0  # of a result near 0, say: as a number it tells nothing of an error that is allowed


def worst_text(worst: Worst) -> str:
    """Say in words where the largest error of an operator and data type is, and which is closest to its tolerance."""
    largest = None if worst.is_unlimited and worst.of_share is None else worst.max_share
    share = "" if largest is None else f", {share_text(largest)}"
    where = str(worst.of_ulp) + (", where the tolerance is infinite" if worst.is_unlimited else "")
    if worst.of_share not in (None, worst.of_ulp):
        place = "closest to" if (worst.max_share or 0.0) <= 1 else "furthest beyond"
        closest = share.removeprefix(", ").removesuffix(" of the tolerance").removesuffix(" the tolerance")
        where, share = f"{where}; {place} its tolerance: {closest}, {worst.of_share}", ""
    name = f"{worst.operator} {worst.data_type}".rstrip()
    error = error_text(worst.max_ulp, worst.data_type, is_unrounded=worst.is_unrounded)
    if worst.max_ulp >= _MANY_ULP and worst.data_type.startswith("FLOAT") and (worst.max_share or 2.0) <= 1:
        error = f"over {_MANY_ULP:.0f} ULP (within the tolerance)"
    if worst.is_unrounded and worst.max_ulp <= _HALF:
        error += " (the rounding of the right result)"
    return f"largest error of {name}: {error}{share}, {where}"


# ---- a run


class Baseline(NamedTuple):
    """The largest errors of an earlier run, by case and output; infinite where an output was wrong.

    `max_drift` is the largest growth of an error that does not fail the run; with None no growth fails it.
    """

    ulp: Mapping[str, Mapping[str, float]]
    max_drift: float | None = None


class Compared(NamedTuple):
    """How many cases were compared with an earlier run, and how many are not in it."""

    cases: int = 0
    new: int = 0


class Watch:
    """The accuracy of passed cases: those close to their tolerance, and those that were more accurate before.

    `knows_cases` says whether any case of the run, passed or not, is in the earlier run, with outputs or without.
    """

    def __init__(self, warn_above: float | None = None, baseline: Baseline | None = None) -> None:
        """Begin with no case; without a share no output counts as close, without an earlier run none as worse."""
        self.warn_above = warn_above
        self.baseline = baseline
        self.compared = Compared()
        self.knows_cases = False
        self._by_path: dict[str, Mapping[str, float]] = {}  # the earlier run, once an id is not in it

    def judged(self, result: CaseResult, path: str | None = None) -> CaseResult:
        """Return a result with warnings about its accuracy; only a passed one gets them.

        `path` leads to the file of the case if that in its id does not.
        """
        old = None if self.baseline is None else self._earlier(result.case, self.baseline, path)
        self.knows_cases |= old is not None
        if result.outcome != PASSED or not result.outputs:
            return result
        if self.warn_above is not None:
            shares = {name: output.max_share or 0.0 for name, output in result.outputs.items()}
            # above the tolerance is what a known deviation explains
            warned = tuple(name for name, share in shares.items() if self.warn_above < share <= 1)
            result = result._replace(warned=warned)
        if self.baseline is not None:
            result = result._replace(drift=self._drift(result, old, self.baseline))
        return result

    def _earlier(self, case: Case, baseline: Baseline, path: str | None) -> Mapping[str, float] | None:
        """Return the errors of a case in the earlier run, from whichever folder that was started; None if it is new."""
        old = baseline.ulp.get(case.id)
        if old is not None:
            return old
        if not self._by_path:
            self._by_path = {_from_any_folder(case_id): errors for case_id, errors in baseline.ulp.items()}
        names = names_of(case.id, case.file, path)
        return next((self._by_path[name] for name in (*names.whole, *names.ends) if name in self._by_path), None)

    def _drift(self, result: CaseResult, old: Mapping[str, float] | None, baseline: Baseline) -> tuple[Drift, ...]:
        cases, new = self.compared
        self.compared = Compared(cases, new + 1) if not old else Compared(cases + 1, new)
        most = baseline.max_drift
        found = (
            Drift(name, old[name], output.max_ulp, is_failure=most is not None)
            for name, output in result.outputs.items()
            if old and name in old
        )
        return tuple(drift for drift in found if drift.new_ulp - drift.old_ulp > (most or 0.0))


def _from_any_folder(case_id: str) -> str:
    """Return an id with the full path of its file where that is there, else with the end of the path to it."""
    file, mark, name = case_id.partition("::")
    if not os.path.exists(file):
        return from_any_folder(case_id)
    return os.path.abspath(file).replace(os.sep, "/") + mark + name


# ---- in words


def warnings(result: CaseResult) -> list[Diagnostic]:
    """Return the warnings of a passed case.

    They are about errors beyond the likely one, errors without a limit, outputs close to their tolerance, and
    inaccurate expectations.
    """
    return [
        *unlikely_errors(result),
        *unlimited_warnings(result),
        *near_bounds(result),
        *inaccurate_warnings(result),
    ]


def near_bounds(result: CaseResult) -> list[Diagnostic]:
    """Return a warning for each output of a case that comes close to its bound."""
    return [_warning(result, name, result.outputs[name]) for name in result.warned]


def _warning(result: CaseResult, name: str, output: OutputResult) -> Diagnostic:
    element = output.closest or Element((), 0, 0, output.max_ulp, output.max_share)
    params = {
        "element": name + (brackets(element.place) if output.closest else ""),
        "error": error_text(element.ulp, output.data_type, is_unrounded=element.is_unrounded),
        "share": share_text(output.max_share or 0.0),
    }
    return _diagnostic(result, name, "near-the-bound", params, WARNING)


def unlikely_errors(result: CaseResult) -> list[Diagnostic]:
    """Return the warnings of a passed case with errors inside the tolerance and beyond likely roundings."""
    return [found for found in result.diagnostics if found.rule == UNLIKELY] if result.outcome == PASSED else []


UNLIKELY = "unlikely-error"
UNLIMITED = "unlimited-tolerance"
INACCURATE = "inaccurate-expectation"


def inaccurate_warnings(result: CaseResult) -> list[Diagnostic]:
    """Return the warnings about inaccurate expected values of a case; a case that is known to fail has none."""
    return _warnings_of(result, INACCURATE)


def unlimited_warnings(result: CaseResult) -> list[Diagnostic]:
    """Return the warnings of a passed or skipped case whose elements differ where the tolerance has no limit."""
    return _warnings_of(result, UNLIMITED)


def _warnings_of(result: CaseResult, rule: str) -> list[Diagnostic]:
    if not result.diagnostics or result.outcome == XFAILED:
        return []
    return [found for found in result.diagnostics if found.rule == rule and found.severity == WARNING]


def drifts(result: CaseResult) -> list[Diagnostic]:
    """Return the finding about an output that got less accurate: an error if the run fails for it, else a warning."""
    return [_drift_diagnostic(result, drift) for drift in result.drift]


def _drift_diagnostic(result: CaseResult, drift: Drift) -> Diagnostic:
    output = result.outputs[drift.output]
    data_type, most = output.data_type, output.most_off
    params = {
        "tensor": drift.output + (brackets(most.place) if most is not None else ""),
        "new": error_text(drift.new_ulp, data_type),
        "old": error_text(drift.old_ulp, data_type),
    }
    return _diagnostic(result, drift.output, "accuracy-drift", params, ERROR if drift.is_failure else WARNING)


def _diagnostic(result: CaseResult, output: str, rule: str, params: dict[str, str], severity: str) -> Diagnostic:
    """Return a diagnostic at the start of a case: every result has that position."""
    case = result.case
    start = Position(case.position.line, 1)
    return diagnostic_at(Finding(rule, ("outputs", output), params), case.file, start)._replace(severity=severity)
