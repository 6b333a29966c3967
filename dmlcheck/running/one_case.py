"""One case to its result: validated, computed, compared."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.diagnostics.wording import elements_text
from dmlcheck.running.results import ERRORED, FAILED, PASSED, SKIPPED, CaseResult
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL, level_name
from dmlcheck.specs.records import OUTPUT, Tolerance

if TYPE_CHECKING:
    from dmlcheck.comparison.compare import Limit
from dmlcheck.cases.prepare import content_findings, out_of_memory, read_inputs, read_outputs, too_large
from dmlcheck.diagnostics.wording import error_text, figure
from dmlcheck.running.negatives import check_invalid, is_listed

UNSUPPORTED = "unsupported-by-implementation"  # how the reason of a skipped case begins


class Settings(NamedTuple):
    """What a run asks of its cases and its implementation."""

    feature_level: str | None = None
    accumulate: str = "FLOAT32"


_DEFAULT = Settings()


def run_cases(cases: Iterable[Case], implementation: Any = None, feature_level: str | None = None) -> list[CaseResult]:
    """Run cases against an implementation (the reference engine by default) and return their results in order."""
    from dmlcheck.implementations import close, make

    is_own = implementation is None or isinstance(implementation, str)
    made = make(implementation or "reference") if is_own else implementation
    try:
        return [run_case(case, made, Settings(feature_level)) for case in cases]
    finally:
        if is_own:
            close(made)


def run_case(case: Case, implementation: Any, settings: Settings = _DEFAULT) -> CaseResult:
    """Run one case."""
    return _Run(case, implementation, settings).result()


def _limit(desc: OperatorDesc, own: Tolerance | None, accumulate: str) -> Limit:
    """Return the tolerance of a case, which is mostly that of the case before it: they share their desc."""
    global _kept  # noqa: PLW0603 - one entry of a cache whose keys have no hash
    if _kept is None or _kept[0] is not desc or _kept[1] is not own or _kept[2] != accumulate:
        from dmlcheck.comparison.compare import limit_for

        _kept = (desc, own, accumulate, limit_for(desc, own, accumulate))
    return _kept[3]


_kept: tuple[OperatorDesc, Tolerance | None, str, Limit] | None = None


def all_problems(case: Case, of_form: tuple[Diagnostic, ...], level: str | None = None) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a case that is not well formed: its form, and its desc where that can be read."""
    if not (case.operator and case.desc):
        return of_form
    _, findings = validation.validate(case.operator, case.desc, level or case.feature_level or NEWEST_LEVEL)
    return tuple(sorted([*of_form, *map(case.origin.diagnostic, findings)], key=Diagnostic.place))


class _Run:
    """One case on its way to a result."""

    def __init__(self, case: Case, implementation: Any, settings: Settings) -> None:
        self.case = case
        self.implementation = implementation
        self.settings = settings
        self.level = case.feature_level or NEWEST_LEVEL
        self.start = time.perf_counter()

    def end(
        self,
        outcome: str,
        reason: str | None = None,
        found: Iterable[Diagnostic] = (),
        outputs: Mapping[str, OutputResult] | None = None,
    ) -> CaseResult:
        seconds = time.perf_counter() - self.start
        return CaseResult(self.case, outcome, reason, tuple(found), outputs or {}, seconds, self.level)

    def place(self, findings: Iterable[Finding]) -> list[Diagnostic]:
        placed = [self.case.origin.diagnostic(finding) for finding in findings]
        return sorted(placed, key=Diagnostic.place)

    def result(self) -> CaseResult:
        case = self.case
        if case.is_plain_desc:
            return self.end(SKIPPED, "a plain desc: nothing to run")
        asked = self.asked_level()
        if asked is not None:
            return self.end(
                SKIPPED,
                f"asks for {level_name(asked)}; this run is at {level_name(self.settings.feature_level or '')}",
            )
        desc, findings = _validated(case, self.level)
        if case.invalid is not None:
            return self.negative(desc, findings)
        if findings or desc is None:
            return self.end(FAILED, "the desc is not valid", self.place(findings))
        return self.compute(desc)

    def asked_level(self) -> str | None:
        """Return the level that the case asks for where the run does not reach it."""
        most = self.settings.feature_level
        if most is None:
            return None
        asked = self.case.feature_level
        if asked is None and self.case.invalid is None:
            asked = validation.minimum_level(read_desc(self.case.operator, self.case.desc))
        return asked if asked is not None and LEVEL_ORDER[asked] > LEVEL_ORDER[most] else None

    # ---- negative cases

    def negative(self, desc: OperatorDesc | None, findings: list[Finding]) -> CaseResult:
        needs_inputs = "missing-tensor" in (self.case.invalid or ())
        if desc is not None and not findings and (self.case.inputs or self.case.outputs or needs_inputs):
            self.read(desc, findings, needs_inputs=needs_inputs)
        mismatch = check_invalid(self.case, findings)
        if mismatch is None:
            return self.end(PASSED)
        unlisted = [finding for finding in findings if not is_listed(finding, self.case.invalid or ())]
        return self.end(FAILED, "not the listed diagnostics", self.place([mismatch, *unlisted]))

    # ---- computing

    def compute(self, desc: OperatorDesc) -> CaseResult:
        case = self.case
        reason = self.skips(desc)
        findings: list[Finding] = []
        excess = too_large(desc, case.inputs or {}, case.outputs or {})
        if excess is not None:
            return self.end(ERRORED, "too large for this machine", self.place([excess]))
        try:
            inputs, expected = self.read(desc, findings)
            if findings:
                return self.end(ERRORED, "its values cannot be used", self.place(findings))
            return self.run(desc, inputs, expected) if reason is None else self.end(SKIPPED, reason)
        except MemoryError:
            return self.end(ERRORED, "out of memory", self.place([out_of_memory(desc)]))

    @property
    def is_reference(self) -> bool:
        return bool(self.implementation.name == "reference")

    def skips(self, desc: OperatorDesc) -> str | None:
        """Return why there is nothing to run or to compare with, or None."""
        reason: str | None = self.implementation.unsupported(desc)
        if reason is not None:
            return reason if self.is_reference else f"{UNSUPPORTED}: {reason}"
        if self.case.outputs:
            return None
        if self.is_reference:
            return "no expected outputs: nothing independent to compare with"
        return None if desc.spec.kernel else "no expected outputs, and no reference kernel yet"

    def run(self, desc: OperatorDesc, inputs: dict[str, Any], expected: dict[str, Any]) -> CaseResult:
        from dmlcheck.implementations import Failure, TimedOut, Unsupported

        try:
            actual = self.implementation.run(desc, inputs)
            problem = _not_outputs(actual, expected or [part.label for part in desc.tensors(OUTPUT)])
        except MemoryError:
            raise
        except Unsupported as reason:
            return self.end(SKIPPED, f"{UNSUPPORTED}: {reason}")
        except TimedOut as error:
            return self.end(ERRORED, "timed out", self.place([Finding("timeout", (), {"seconds": str(error)})]))
        except Failure as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run goes on
            problem = f"raised {type(error).__name__}: {error}"
        if problem is None:
            return self.judge(desc, inputs, expected or self.of_reference(desc, inputs), actual)
        params = {"implementation": self.implementation.name, "problem": problem}
        return self.end(ERRORED, "the implementation failed", self.place([Finding("implementation-error", (), params)]))

    def of_reference(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return what the reference engine computes as the expected outputs, with their tensors."""
        from dmlcheck.reference import engine

        results = engine.run(desc, inputs)
        return {part.label: (part.tensor, results[part.label]) for part in desc.tensors(OUTPUT)}

    def judge(
        self,
        desc: OperatorDesc,
        inputs: dict[str, Any],
        expected: dict[str, Any],
        actual: dict[str, Any],
    ) -> CaseResult:
        from dmlcheck.comparison.compare import compare
        from dmlcheck.reference import kernels

        limit = _limit(desc, self.case.tolerance, self.settings.accumulate)
        outputs = {}
        for name, (tensor, values) in expected.items():
            outputs[name] = compare(
                values,
                actual[name],
                tensor,
                limit,
                lambda name=name: kernels.compute(desc, inputs)[name] if desc.spec.kernel else None,  # type: ignore[misc]
            )
        given = self.case.outputs or {}
        wrong = []
        for name, output in outputs.items():
            if output.mismatches:
                tensor, values = expected[name]
                cause = None if output.shape else self.cause(desc, inputs, name, tensor, values, actual[name], limit)
                wrong.append(_mismatch(name, output, given)._replace(help=cause))
        if wrong:
            return self.end(FAILED, "output mismatch", self.place(wrong), outputs)
        return self.end(PASSED, None, (), outputs)

    def cause(
        self, desc: OperatorDesc, inputs: dict[str, Any], name: str, tensor: Any, expected: Any, actual: Any, limit: Any
    ) -> str | None:
        """Return which known fault would have given a wrong output, if any; a guess that fails is none."""
        if self.is_reference:
            return None
        from dmlcheck.comparison.known_faults import likely_cause

        try:
            return likely_cause(desc, inputs, name, tensor, expected, actual, limit)
        except Exception:  # noqa: BLE001 - memory that ends, say: the verdict stands without a cause
            return None

    # ---- values

    def read(
        self, desc: OperatorDesc, findings: list[Finding], *, needs_inputs: bool = True
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the input arrays by field and the expected outputs, with their tensors, by output."""
        from dmlcheck.values.literals import Source

        source = Source(os.path.dirname(self.case.file), self.case.origin.literal)
        inputs = read_inputs(desc, self.case.inputs or {}, source, findings, needed=needs_inputs)
        outputs = read_outputs(desc, self.case.outputs or {}, source, findings)
        findings.extend(content_findings(desc, inputs, self.level))
        return inputs, outputs


_GOOD: dict[tuple[str, str, str], OperatorDesc] = {}  # the last few, since most cases of a file share their desc
_MOST_GOOD = 256
_LONGEST = 4096  # characters of a desc that is kept


def _validated(case: Case, level: str) -> tuple[OperatorDesc | None, list[Finding]]:
    """Validate a case's desc at a level, unless an equal one was found good before."""
    text = repr(case.desc)
    key = (case.operator, level, text)
    desc = _GOOD.get(key)
    if desc is not None:
        return desc, []
    desc, findings = validation.validate(case.operator, case.desc, level)
    if desc is not None and not findings and len(text) <= _LONGEST and "inf" not in text:  # 1e999 is written so too
        if len(_GOOD) == _MOST_GOOD:
            _GOOD.clear()
        _GOOD[key] = desc
    return desc, findings


def _not_outputs(given: Any, labels: Iterable[str]) -> str | None:
    """Return what is wrong with what an implementation returned, as far as it is not arrays at all."""
    import numpy as np

    if not isinstance(given, Mapping):
        return f"returned {type(given).__name__} instead of its outputs by name"
    for label in labels:
        if label not in given:
            return f"returned no {label}"
        if not isinstance(given[label], np.ndarray):
            return f"returned {type(given[label]).__name__} for {label} instead of an array"
    return None


def _mismatch(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    sizes = "{" + ", ".join(map(str, output.sizes)) + "}"
    if output.shape is not None:
        problem = output.shape
    else:
        elements = elements_text(output.elements)
        verb = "is" if output.mismatches == 1 else "are"
        problem = f"{output.data_type} {sizes}: {output.mismatches:,} of {elements} {verb} outside the tolerance"
        if output.worst is not None:
            problem += f"; worst {error_text(output.worst.ulp, output.data_type)}"
            if output.worst.share is not None:
                problem += f", {figure(output.worst.share)} times the bound"
    steps = _steps(name)
    if steps[0] not in given:  # compared with the reference engine's
        return Finding("output-mismatch", ("desc", *steps), {"tensor": name, "problem": problem})
    path: tuple[str | int, ...] = ("outputs", *steps)
    raw = given[steps[0]] if len(steps) == 1 else given[steps[0]][steps[1]]
    if output.first and isinstance(raw, list):
        place = output.first[0].place
        path = (*path, *(place if isinstance(raw[0], list) else (_flat_index(place, output.sizes),)))
    return Finding("output-mismatch", path, {"tensor": name, "problem": problem})


def _flat_index(place: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    index = 0
    for step, size in zip(place, sizes, strict=True):
        index = index * size + step
    return index


def _steps(name: str) -> tuple[Any, ...]:
    """Return `OutputTensors[1]` as the path to its values."""
    field, bracket, index = name.partition("[")
    return (field, int(index[:-1])) if bracket else (field,)
