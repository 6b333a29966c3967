"""Changes between two runs, case by case, from their reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.reports.reading import NUMBER, TEXT_OR_NONE, Brief, ReportError, read_briefs, value_of
from dmlcheck.running.results import PASSED, SKIPPED, XFAILED

GROWTH = 2.0  # times that an error must grow to be reported
_LEAST_ERROR = 0.5  # ULP: a possible cost of correct rounding; smaller errors count as this


class ReportedRun(NamedTuple):
    """A run by its report: the report's file, the implementation, the number of cases, and whether it was completed.

    `judged` is in words: `onnxruntime 1.22.0 (CPUExecutionProvider), DML_FEATURE_LEVEL_5_0, dmlcheck 0.1.0`.
    """

    file: str
    implementation: str
    version: str | None
    device: str | None
    feature_level: str | None
    tool: str | None
    cases: int
    is_whole: bool


class Change(NamedTuple):
    """A case before and after: None in the run that does not have it."""

    id: str
    old: Brief | None
    new: Brief | None


class Growth(NamedTuple):
    """An output whose largest error grew, in ULP (units for integers)."""

    case: str
    output: str
    old_ulp: int | float
    new_ulp: int | float


class Changes(NamedTuple):
    """The changes between two runs of the same cases.

    A case that fails and is new is both in `newly_failing` and in `new`; any other is in one list only. `changed` has
    the cases with another outcome that neither fail newly nor are fixed, such as those that are skipped now. `compared`
    counts the cases that neither run skipped.
    """

    old: ReportedRun
    new: ReportedRun
    max_drift: float
    newly_failing: tuple[Change, ...]
    still_failing: tuple[Change, ...]
    fixed: tuple[Change, ...]
    changed: tuple[Change, ...]
    added: tuple[Change, ...]
    gone: tuple[Change, ...]
    grown: tuple[Growth, ...]
    compared: int


def changes(old_path: str, new_path: str, max_drift: float = GROWTH) -> Changes:
    """Return the changes from one report to another; ReportError if one is no report."""
    (old_run, old), (new_run, new) = _read(old_path), _read(new_path)
    both = [Change(name, old[name], case) for name, case in new.items() if name in old]
    added = tuple(Change(name, None, case) for name, case in new.items() if name not in old)
    everything = [Change(name, old.get(name), case) for name, case in new.items()]
    return Changes(
        old_run,
        new_run,
        max_drift,
        newly_failing=tuple(change for change in everything if _fails(change.new) and not _fails(change.old)),
        still_failing=tuple(change for change in both if _fails(change.new) and _fails(change.old)),
        fixed=tuple(change for change in both if _is_fixed(change)),
        changed=tuple(change for change in both if _is_other(change)),
        added=added,
        gone=tuple(Change(name, case, None) for name, case in old.items() if name not in new),
        grown=tuple(growth for change in both for growth in _growths(change, max_drift)),
        compared=sum(SKIPPED not in _outcomes(change) for change in both),
    )


def _read(path: str) -> tuple[ReportedRun, dict[str, Brief]]:
    report, cases = read_briefs(path)
    try:
        tool = value_of(report.get("tool") or {}, "version", TEXT_OR_NONE)
        version, device, level = (
            value_of(report, key, TEXT_OR_NONE) for key in ("implementation_version", "device", "feature_level")
        )
        is_whole = not report.get("interrupted") and not value_of(report, "not_run", NUMBER, 0)
    except (AttributeError, TypeError):
        raise ReportError(f"{path}: its head is not as `dmlcheck run` writes it") from None
    return ReportedRun(path, report["implementation"], version, device, level, tool, len(cases), is_whole), cases


def _fails(case: Brief | None) -> bool:
    return case is not None and case.fails


def _outcomes(change: Change) -> tuple[str, ...]:
    return tuple(case.outcome for case in (change.old, change.new) if case is not None)


def _is_fixed(change: Change) -> bool:
    """Whether a case was wrong, expected to be or not, and passes now."""
    was_wrong = _fails(change.old) or _outcomes(change)[0] == XFAILED
    return was_wrong and not _fails(change.new) and _outcomes(change)[-1] == PASSED


def _is_other(change: Change) -> bool:
    """Whether a case ended in another way, and neither fails now nor is fixed."""
    old, new = _outcomes(change)
    return old != new and not _fails(change.new) and not _is_fixed(change)


def _growths(change: Change, max_drift: float) -> Iterator[Growth]:
    """Yield the outputs of a case whose error grew by a given factor; none for a case that newly fails."""
    old, new = change.old, change.new
    if old is None or new is None or (new.fails and not old.fails):
        return
    before: Mapping[str, Any] = old.ulp
    for name, error in new.ulp.items():
        if name in before and error > before[name] and error >= max_drift * max(before[name], _LEAST_ERROR):
            yield Growth(change.id, name, before[name], error)
