"""One case to its result: prepared, run on an implementation, and judged."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.prepare import LegalDescs, Prepared, out_of_memory, prepare
from dmlcheck.cases.records import Case, in_order
from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import WARNING, Finding
from dmlcheck.running.computed import Nothing, computed, is_reference, why_unsupported
from dmlcheck.running.known_failures import judged_directml, with_known
from dmlcheck.running.negatives import check_invalid, is_listed
from dmlcheck.running.results import ERRORED, FAILED, LEGAL, PASSED, SKIPPED, CaseResult
from dmlcheck.running.verdict import Limits, judge
from dmlcheck.specs.names import LEVEL_ORDER, level_name
from dmlcheck.specs.records import OUTPUT, Deviation

_NOTHING = "nothing to compare: the documentation leaves every expected element open"


class Settings(NamedTuple):
    """What a run asks of its cases and its implementation; a strict one fails cases for unlikely errors.

    `directml_version` says that the implementation is that DirectML, and to expect the failures that are known of it.
    """

    feature_level: str | None = None
    accumulate: str = "FLOAT32"
    is_strict: bool = False
    directml_version: str | None = None


class Run:
    """What the cases of a run share: the implementation, the settings, and what holds for cases that share a desc."""

    def __init__(self, implementation: Any, settings: Settings | None = None) -> None:
        """Begin a run of an implementation, which has a name, and which runs descs."""
        # Now, not within the seconds of the first case.
        from dmlcheck.comparison import compare  # noqa: F401
        from dmlcheck.reference import engine  # noqa: F401

        self.implementation = implementation
        self.settings = settings or Settings()
        self.directml = judged_directml(implementation, self.settings.directml_version)
        self.descs = LegalDescs()
        self.limits = Limits(self.settings.accumulate)
        self._ahead: dict[int, Prepared] = {}

    def prepare_ahead(self, cases: Iterable[Case]) -> None:
        """Prepare the cases that run next and give their values as lists.

        One after the other this takes half of the time that it takes before each run: the code stays in the cache.
        """
        self._ahead = {id(case): prepare(case, case.level, self.descs) for case in cases if _is_listed_whole(case)}

    def prepared(self, case: Case) -> Prepared:
        """Return a case ready to run."""
        return self._ahead.pop(id(case), None) or prepare(case, case.level, self.descs)

    @property
    def is_reference(self) -> bool:
        """Whether it is the reference engine that is judged."""
        return is_reference(self.implementation)


class Ending(NamedTuple):
    """How a case ended: its outcome and why, what is wrong, and how its outputs compare."""

    outcome: str
    reason: str | None = None
    findings: tuple[Finding, ...] = ()
    outputs: Mapping[str, OutputResult] = {}
    known: tuple[Deviation, ...] = ()


def run_cases(cases: Iterable[Case], implementation: Any = None, feature_level: str | None = None) -> list[CaseResult]:
    """Run cases against an implementation (the reference engine by default) and return their results in order."""
    from dmlcheck.implementations import close, make

    is_own = implementation is None or isinstance(implementation, str)
    made = make(implementation or "reference") if is_own else implementation
    run = Run(made, Settings(feature_level))
    try:
        return [run_case(case, run) for case in cases]
    finally:
        if is_own:
            close(made)


def run_case(case: Case, run: Run) -> CaseResult:
    """Run one case."""
    start = time.perf_counter()
    ending = _ending(case, run)
    diagnostics = in_order(case.origin, ending.findings) if ending.findings else ()
    if ending.outcome == PASSED and diagnostics:
        diagnostics = tuple(found._replace(severity=WARNING) for found in diagnostics)
    seconds = time.perf_counter() - start
    return CaseResult(
        case, ending.outcome, ending.reason, diagnostics, ending.outputs, seconds, case.level, known=ending.known
    )


def _ending(case: Case, run: Run) -> Ending:
    beyond = _level_beyond(case, run.settings.feature_level)
    if beyond is not None:
        return Ending(SKIPPED, beyond)
    if case.is_plain_desc:
        return _of_plain(case, run)
    prepared = run.prepared(case)
    if case.is_negative and prepared.excess is None:
        return _of_negative(case, prepared)
    if prepared.desc is None or prepared.findings:
        return _of_unusable(prepared)
    reason = _reason_to_skip(case, prepared.desc, run)
    if reason is not None:
        return Ending(SKIPPED, reason)
    ending = _of_computed(case, prepared, prepared.desc, run)
    return ending if run.directml is None else with_known(ending, prepared.desc, run.directml)


def _is_listed_whole(case: Case) -> bool:
    """Whether a case gives values, and all of them as lists: reading those takes no longer than reading its file."""
    if not case.inputs:
        return False
    return all(type(raw) is list for given in (case.inputs, case.outputs or {}) for raw in given.values())


def _level_beyond(case: Case, most: str | None) -> str | None:
    """Return why a run at a level does not reach a case: the case names a higher one, or its desc needs one."""
    if most is None:
        return None
    level = case.feature_level
    if level is None and not case.is_negative:
        level = validation.minimum_level(read_desc(case.operator, case.desc))
    if level is None or LEVEL_ORDER[level] <= LEVEL_ORDER[most]:
        return None
    return f"asks for {level_name(level)}; this run is at {level_name(most)}"


def _of_plain(case: Case, run: Run) -> Ending:
    """Return how a plain desc ends: it is legal at its level or not, whatever the implementation."""
    _, findings = run.descs.validated(case, case.level)
    return Ending(FAILED, "the desc is not valid", tuple(findings)) if findings else Ending(PASSED, LEGAL)


def _of_negative(case: Case, prepared: Prepared) -> Ending:
    mismatch = check_invalid(case, prepared.findings)
    if mismatch is None:
        return Ending(PASSED)
    unlisted = (finding for finding in prepared.findings if not is_listed(finding, case.invalid or ()))
    return Ending(FAILED, "not the listed diagnostics", (mismatch, *unlisted))


def _of_unusable(prepared: Prepared) -> Ending:
    """Return how a case ends that something is wrong with before anything is run."""
    if prepared.desc is None:
        return Ending(FAILED, "the desc is not valid", prepared.findings)
    return Ending(ERRORED, prepared.excess or "its values cannot be used", prepared.findings)


def _reason_to_skip(case: Case, desc: OperatorDesc, run: Run) -> str | None:
    """Return why there is nothing to run or to compare with, or None."""
    reason = why_unsupported(desc, run.implementation)
    if reason is not None:
        return reason
    if run.is_reference and not case.outputs:
        return "no expected outputs: nothing independent to compare with"
    return None


def _of_computed(case: Case, prepared: Prepared, desc: OperatorDesc, run: Run) -> Ending:
    """Run a case and judge what comes out."""
    labels = prepared.expected or [part.label for part in desc.tensors(OUTPUT)]
    try:
        given = computed(desc, prepared.inputs, labels, run.implementation)
        if isinstance(given, Nothing):
            return Ending(ERRORED, given.reason, (given.finding,)) if given.finding else Ending(SKIPPED, given.reason)
        verdict = judge(case, prepared, given.values, run.limits, given.is_open)
    except MemoryError:
        return Ending(ERRORED, "out of memory", (out_of_memory(desc),))
    if verdict.findings:
        return Ending(FAILED, "output mismatch", verdict.findings, verdict.outputs)
    if verdict.is_empty:
        return Ending(SKIPPED, _NOTHING, outputs=verdict.outputs)
    if verdict.unlikely and run.settings.is_strict:
        return Ending(FAILED, "unlikely error", verdict.unlikely, verdict.outputs)
    return Ending(PASSED, None, verdict.unlikely, verdict.outputs)
