"""Runs one case: prepares it, computes its outputs with an implementation, and judges them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.cases.prepare import LegalDescs, Prepared, findings_of_settings, out_of_memory, prepare
from dmlcheck.cases.records import REFERENCE_ONLY, Case, in_order
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import WARNING, Finding
from dmlcheck.diagnostics.wording import cut
from dmlcheck.implementations import Pair
from dmlcheck.implementations.protocol import adapted
from dmlcheck.reference.engine import too_much_work
from dmlcheck.reference.limits.work import LIMIT, OutOfTime, TooMuchWork
from dmlcheck.running.computed import (
    Computed,
    NoOutputs,
    asked,
    computed,
    failed,
    is_reference,
    refusal,
    timed_out,
    traceback_text,
    why_unsupported,
)
from dmlcheck.running.known_failures import judged_directml, of_values, peer_of, with_known
from dmlcheck.running.negatives import check_invalid, is_listed
from dmlcheck.running.refusals import InvalidDesc, accepted, unforeseen, wrong_desc, zeros
from dmlcheck.running.results import (
    ALL_UNDEFINED,
    ERRORED,
    FAILED,
    FOR_IMPLEMENTATIONS,
    FOR_REFERENCE,
    LEGAL,
    NO_DEVICE,
    PASSED,
    SKIPPED,
    Against,
    CaseResult,
    Ending,
)
from dmlcheck.running.settings import Settings
from dmlcheck.running.verdict import Limits, Verdict, differences, evidence_of, judge
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL, level_name, level_of_release
from dmlcheck.specs.records import OUTPUT
from dmlcheck.validation.deviations import are_taken, asked_release, is_accepted

if TYPE_CHECKING:
    from dmlcheck.comparison.difference import OutputDifference

_MOST_WORDS = 200  # characters of the words of a refusal
_UNFORESEEN = "an unforeseen answer"
_NO_LIMIT = "nothing to judge: every element differs where its tolerance has no limit"


class Limited(NamedTuple):
    """Limits the total time of the engine's computations in a `with` block: beyond it they end with OutOfTime.

    One block at a time: the limit is that of the process.
    """

    seconds: float

    def __enter__(self) -> None:
        """Begin the block."""
        LIMIT.seconds, LIMIT.until = self.seconds, time.monotonic() + self.seconds

    def __exit__(self, *_: object) -> None:
        """End the block, and the limit."""
        LIMIT.seconds = LIMIT.until = float("inf")


class Run:
    """The shared state of a run's cases: the implementation, the settings, and results for descs that cases share."""

    def __init__(self, implementation: Any, settings: Settings | None = None, timeout: float | None = None) -> None:
        """Begin a run; the implementation has a name, and computes the outputs of descs.

        If it is the reference engine, `timeout` limits the seconds of a case: the engine ends it in this process.
        """
        self.descs = LegalDescs()
        self.implementation = implementation = adapted(implementation)
        self.settings = settings or Settings()
        self.against: Run | None = None  # of a second implementation
        self.is_compared = False  # whether the outputs of cases are compared with another implementation's
        if isinstance(implementation, Pair):
            self.against = Run(implementation.second, self.settings.of_another, timeout)
            self.implementation = implementation = implementation.first
            self.is_compared = self.against.is_compared = True
        self.outputs: Mapping[str, Any] = {}  # of the last case, as the implementation computed them
        self.is_asked = implementation.create_operator is not None
        self.is_only_asked = self.is_asked and not implementation.executes
        self.foreseen: str | None = None  # the release that foresees the answers of DirectML's library
        if self.is_asked:
            self.foreseen = asked_release(implementation.about.version)
            self.settings = self.settings.of_library(implementation.about)
        self.is_reference = is_reference(implementation)
        self.time_limit: AbstractContextManager[None] = nullcontext()
        if self.is_reference and timeout is not None:
            self.time_limit = Limited(timeout)
        self.directml = judged_directml(implementation, self.settings.directml_version)
        precision = self.settings.precision._replace(is_directml=self.directml is not None)
        self.limits = Limits(precision, self.settings.expected_within)
        self.limits.guesses = self.settings.guesses
        self.limits.peer = peer_of(implementation)
        self.limits.deviations = partial(of_values, directml=self.directml, peer=self.limits.peer)


def run_cases(cases: Iterable[Case], implementation: Any = None, feature_level: str | None = None) -> list[CaseResult]:
    """Run cases against an implementation (the reference engine by default) and return their results in order."""
    from dmlcheck.implementations import make

    is_own = implementation is None or isinstance(implementation, str)
    made = make(implementation or "reference") if is_own else implementation
    run = Run(made, Settings(feature_level))
    try:
        return [run_case(case, run) for case in cases]
    finally:
        if is_own:
            made.close()


def run_case(case: Case, run: Run, prepared: Prepared | None = None) -> CaseResult:
    """Run one case; it comes prepared if its values were drawn and not read from a file."""
    if run.against is None:
        return _run_with_one(case, run, prepared)
    prepared = prepared or prepare(case, run.descs)
    result, other = (_run_with_one(case, of, prepared) for of in (run, run.against))
    return result._replace(against=Against(other, _differences(case, prepared, run, result, other)))


def _differences(
    case: Case, prepared: Prepared, run: Run, result: CaseResult, other: CaseResult
) -> dict[str, OutputDifference]:
    """Return the differences between the outputs that two implementations computed for a case."""
    if run.against is None or not (run.outputs and run.against.outputs):
        return {}
    are_right = result.verdict is not False and other.verdict is not False
    try:
        return differences(case, prepared, run.outputs, run.against.outputs, run.limits, are_right=are_right)
    except (MemoryError, TooMuchWork, OutOfTime):
        return {}  # each was judged by itself


def _run_with_one(case: Case, run: Run, prepared: Prepared | None) -> CaseResult:
    run.outputs = {}
    start = time.perf_counter()
    with run.time_limit:
        ending = _ending(case, run, prepared)
    return result_of(case, ending)._replace(seconds=time.perf_counter() - start, level=case.level)


def result_of(case: Case, ending: Ending) -> CaseResult:
    """Return the result of a case that ended so; its diagnostics are warnings if it passed."""
    diagnostics = in_order(case.origin, ending.findings) if ending.findings else ()
    if ending.outcome == PASSED:
        diagnostics = tuple(found._replace(severity=WARNING) for found in diagnostics)
    noted = in_order(case.origin, ending.noted) if ending.noted else ()
    return CaseResult(
        case,
        ending.outcome,
        ending.reason,
        (*diagnostics, *(found._replace(severity=WARNING) for found in noted)),
        ending.outputs,
        known=ending.known,
        is_unrun=ending.is_unrun,
        kept=ending.kept,
        consistent=ending.consistent,
        uncompared=ending.uncompared,
        traceback=ending.traceback,
    )


def _ending(case: Case, run: Run, drawn: Prepared | None) -> Ending:
    unrun = _of_unrun(case, run)
    if unrun is not None:
        return unrun
    prepared = drawn or prepare(case, run.descs)
    if case.is_negative and prepared.excess is None:
        mismatch = check_invalid(case, prepared.findings)
        if mismatch is None:
            return _of_refusal(case, run)
        unlisted = (finding for finding in prepared.findings if not is_listed(finding, case.invalid or ()))
        return Ending(FAILED, "not the listed diagnostics", (mismatch, *unlisted), is_unrun=True)
    if prepared.desc is None or prepared.findings:
        if prepared.desc is None:
            return _of_illegal(prepared.findings)
        return _of_unusable(prepared.findings, prepared.excess)
    why_not = _why_not_run(prepared, prepared.desc, run)
    ending = _of_computed(case, prepared, prepared.desc, run) if why_not is None else ending_without_outputs(why_not)
    uncompared = _uncompared(prepared.desc, prepared.expected) if ending.outputs else ()
    if uncompared:
        ending = ending._replace(uncompared=uncompared)
    return with_known(ending, prepared.desc, run.directml, run.limits.peer)


def _uncompared(desc: OperatorDesc, expected: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the outputs of a desc that a case has no values for, if it has values for others."""
    if not expected:
        return ()
    parts = [part for field in desc.spec.outputs for part in desc.parts[field.name]]
    return () if len(parts) == len(expected) else tuple(part.label for part in parts if part.label not in expected)


def _of_unrun(case: Case, run: Run) -> Ending | None:
    """Return the ending of a case whose values are not needed; None for other cases."""
    beyond = _level_beyond(case, run)
    if beyond is not None:
        return Ending(SKIPPED, beyond)
    if case.is_plain_desc:
        legal = Ending(PASSED, LEGAL, is_unrun=True)
        return _of_asked(case, run, None, FAILED) if run.is_asked else _of_legality(case, run, legal)
    if run.is_only_asked and not case.is_negative:
        return _of_asked(case, run, Ending(SKIPPED, NO_DEVICE), ERRORED)
    if REFERENCE_ONLY in case.tags and not case.is_negative and not run.is_reference:
        return _of_legality(case, run, Ending(SKIPPED, FOR_REFERENCE))
    if run.is_reference and case.is_generated:
        return _of_generated(case, run)
    return None


def _level_beyond(case: Case, run: Run) -> str | None:
    """Return why a case is above the feature level of the run: by its own level, or that of its desc; or None."""
    most = run.settings.feature_level
    if most is None:
        return None
    level = case.feature_level
    if level is None and not case.is_negative:
        level = run.descs.minimum_level(case)
    return above(level, most)


def above(level: str | None, most: str) -> str | None:
    """Return the reason why a run up to a feature level skips what asks for a level, or None where it does not."""
    if level is None or LEVEL_ORDER[level] <= LEVEL_ORDER[most]:
        return None
    return f"asks for {level_name(level)}; this run is at {level_name(most)}"


def _of_legality(case: Case, run: Run, legal: Ending) -> Ending:
    """Return the ending of a case of which only the desc is checked: `legal` if it is valid, else a failure."""
    _, findings = run.descs.validated(case)
    return _of_illegal(findings) if findings else legal


def _of_generated(case: Case, run: Run) -> Ending:
    """Return the ending of a case for implementations only: skipped if its desc and its settings are right."""
    desc, findings = run.descs.validated(case)
    if desc is None:
        return _of_illegal(findings)
    wrong = findings_of_settings(case, desc)
    return _of_unusable(wrong) if wrong else Ending(SKIPPED, FOR_IMPLEMENTATIONS)


def _of_unusable(findings: Sequence[Finding], reason: str | None = None) -> Ending:
    return Ending(ERRORED, reason or "its values cannot be used", tuple(findings), is_unrun=True)


def _of_asked(case: Case, run: Run, taken: Ending | None, refused: str) -> Ending:
    """Return the ending of a valid desc that DirectML itself is asked about: `taken` if it accepts it.

    Without `taken` it passes with the answer's text. `refused` is the outcome of a desc that it refuses.
    """
    desc, findings = run.descs.validated(case)
    if desc is None:
        return _of_illegal(findings)
    answer = asked(desc, run.implementation)
    if isinstance(answer, NoOutputs):
        return ending_without_outputs(answer)
    if answer.is_accepted:
        return taken or Ending(PASSED, answer.text)
    if run.foreseen is None or is_accepted(read_desc(case.operator, case.desc), run.foreseen):
        return Ending(refused, _UNFORESEEN, (unforeseen(answer),))
    if case.is_plain_desc:
        return Ending(PASSED, f"refused, as foreseen: {answer.code}")
    return ending_without_outputs(failed(run.implementation, answer.text))


def _of_illegal(findings: Iterable[Finding]) -> Ending:
    return Ending(FAILED, "the desc is not valid", tuple(findings), is_unrun=True)


def _of_refusal(case: Case, run: Run) -> Ending:
    """Return the ending of a negative case with the right rules: it fails if the implementation accepts the desc."""
    implementation = run.implementation
    refuses = implementation.validates and not run.is_reference
    level = level_of_release(run.foreseen) if run.foreseen else run.settings.feature_level or NEWEST_LEVEL
    wrong = wrong_desc(case, level, is_asked=run.is_asked) if refuses else None
    if wrong is None:
        return Ending(PASSED, is_unrun=True)
    if run.is_asked:
        return _of_answer(case, wrong, run)
    answer = refusal(wrong.desc, zeros(wrong.desc), implementation)
    if isinstance(answer, NoOutputs) and answer.finding is not None:
        return ending_without_outputs(answer)
    if isinstance(answer, NoOutputs):
        return Ending(PASSED, f"checked without the implementation; {answer.reason}", is_unrun=True)
    if answer is None:
        return Ending(FAILED, "accepted an invalid desc", (accepted(case, wrong, implementation),))
    return Ending(PASSED, f"refused: {cut(' '.join(answer.split()), _MOST_WORDS)}")


def _of_answer(case: Case, wrong: InvalidDesc, run: Run) -> Ending:
    """Return the ending of a negative case that DirectML itself is asked about: an unforeseen answer fails."""
    answer = asked(wrong.desc, run.implementation)
    if isinstance(answer, NoOutputs):
        return ending_without_outputs(answer)
    if are_taken(wrong.findings, run.foreseen):
        known = "known to be accepted by the releases"
        return Ending(PASSED, known) if answer.is_accepted else Ending(FAILED, _UNFORESEEN, (unforeseen(answer),))
    if answer.is_accepted:
        return Ending(FAILED, "accepted an invalid desc", (accepted(case, wrong, run.implementation),))
    return Ending(PASSED, f"refused: {answer.code}")


def _why_not_run(prepared: Prepared, desc: OperatorDesc, run: Run) -> NoOutputs | None:
    """Return why a case is not run: the desc is not supported, or there is nothing to compare with; or None."""
    if run.is_reference:  # which runs every desc
        return None if prepared.expected else NoOutputs("no expected outputs: nothing independent to compare with")
    unsupported = why_unsupported(desc, run.implementation)
    if unsupported is not None or prepared.expected:
        return unsupported
    reason = too_much_work(desc, prepared.inputs)
    return None if reason is None else NoOutputs(reason)


def ending_without_outputs(why: NoOutputs) -> Ending:
    """Return the ending of a case without results of the implementation: skipped, or an error."""
    if why.finding is None:
        return Ending(SKIPPED, why.reason)
    return Ending(ERRORED, why.reason, (why.finding,), traceback=why.traceback)


def _of_computed(case: Case, prepared: Prepared, desc: OperatorDesc, run: Run) -> Ending:
    """Compute the outputs of a case and judge them; keep a failure's outputs, with the program's standard error."""
    labels = prepared.expected or [part.label for part in desc.tensors(OUTPUT)]
    given: Computed | NoOutputs | None = None
    try:
        given = computed(desc, prepared.inputs, labels, run.implementation)
        if run.is_compared and isinstance(given, Computed):
            run.outputs = given.values
        ending = _judged(case, prepared, given, run)
    except MemoryError as error:
        is_its_own = given is None and not run.is_reference  # not that of the comparison
        told = traceback_text(error) if is_its_own else ""
        ending = Ending(ERRORED, "out of memory", (out_of_memory(desc),), traceback=told)
    except TooMuchWork as error:
        ending = Ending(SKIPPED, str(error))
    except OutOfTime as error:
        ending = ending_without_outputs(timed_out(error))
    if ending.outcome == FAILED:
        ending = _with_words(ending, run.implementation)
    if ending.outcome in (FAILED, ERRORED) and run.settings.keep is not None:
        values = given.values if isinstance(given, Computed) else {}
        return ending._replace(kept=_kept(case, desc, prepared, values, run))
    return ending


def _judged(case: Case, prepared: Prepared, given: Computed | NoOutputs, run: Run) -> Ending:
    """Return the ending of a case from the implementation's results."""
    if isinstance(given, NoOutputs):
        return ending_without_outputs(given)
    verdict = judge(case, prepared, given.values, run.limits, given.is_undefined, given.is_open)
    return ending_of(verdict, run.settings)


def ending_of(verdict: Verdict, settings: Settings) -> Ending:
    """Return the ending of a case from the verdict on its outputs."""
    outputs, noted, consistent = verdict.outputs, verdict.inaccurate, verdict.consistent
    if verdict.findings:
        is_systematic = all(found.rule == "systematic-error" for found in verdict.findings)
        reason = "systematic error" if is_systematic else "output mismatch"
        return Ending(FAILED, reason, verdict.findings, outputs, verdict.known, noted=noted, consistent=consistent)
    if verdict.is_empty:
        return Ending(SKIPPED, ALL_UNDEFINED, outputs=outputs)
    if not (verdict.unlikely or verdict.unlimited or verdict.inaccurate):
        return Ending(PASSED, None, (), outputs, consistent=consistent)
    doubtful = {
        "unlikely error": verdict.unlikely,
        "unlimited tolerance": verdict.unlimited,
        "inaccurate expectation": verdict.inaccurate,
    }
    findings = tuple(chain.from_iterable(doubtful.values()))
    if findings and settings.is_strict:
        reason = " and ".join(name for name, found in doubtful.items() if found)
        return Ending(FAILED, reason, findings, outputs, consistent=consistent)
    if verdict.is_unlimited:
        return Ending(SKIPPED, _NO_LIMIT, outputs=outputs, noted=(*verdict.unlimited, *noted))
    return Ending(PASSED, None, findings, outputs, consistent=consistent)


def _with_words(ending: Ending, implementation: Any) -> Ending:
    """Return an ending with the text that the program wrote to its standard error during the case."""
    errors, first = implementation.errors, ending.findings[0]
    if not errors or "problem" not in first.params:
        return ending
    from dmlcheck.implementations._program import it_wrote

    told = first._replace(params={**first.params, "problem": f"{first.params['problem']}{it_wrote(errors)}"})
    return ending._replace(findings=(told, *ending.findings[1:]))


def _kept(case: Case, desc: OperatorDesc, prepared: Prepared, actual: Mapping[str, Any], run: Run) -> str:
    """Keep the values of a failed case, and return the folder, or why they could not be kept."""
    from dmlcheck.running.keep import keep

    try:
        values = evidence_of(case, prepared, actual, run.limits)
        return keep(str(run.settings.keep), case, desc, values, run.implementation.errors)
    except (OSError, MemoryError, TooMuchWork) as error:
        return f"nothing: {error or 'out of memory'}"
