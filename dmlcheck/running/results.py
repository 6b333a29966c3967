"""The results of cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.specs.records import Deviation

if TYPE_CHECKING:
    from dmlcheck.comparison.difference import OutputDifference

PASSED = "passed"
FAILED = "failed"
ERRORED = "error"
SKIPPED = "skipped"
XFAILED = "xfailed"
XPASSED = "xpassed"
LEGAL = "a valid desc"  # why a plain desc passes
NO_DEVICE = "no device"  # why a case is skipped that DirectML takes, and nothing here computes
FOR_IMPLEMENTATIONS = "for implementations, which are compared with the reference engine"
FOR_REFERENCE = "for the reference engine, whose results are exact and rounded once"
ALL_UNDEFINED = "nothing to compare: every expected element is undefined"
NO_ELEMENTS = "nothing to compare: it has no elements"
MISSING = "missing-tensor"  # the rule of what depends on a tensor that is not there
OUTCOMES = (PASSED, FAILED, ERRORED, SKIPPED, XFAILED, XPASSED)
NO_ANSWER = ("implementation-error", "timeout")  # rules that say that an implementation gave nothing
FAILURES = (FAILED, ERRORED, XPASSED)


class Drift(NamedTuple):
    """An output that is less accurate than in an earlier report: its largest error then and now, as `max_ulp` has it.

    `is_failure` where that is more than the run allows.
    """

    output: str
    old_ulp: float
    new_ulp: float
    is_failure: bool


class NotFinite(NamedTuple):
    """A tensor in which a node makes NaN or infinities of finite inputs: how many of both."""

    tensor: str
    nan: int
    infinite: int


class NodeOfCase(NamedTuple):
    """The node of a model that a case is about: its name, its operator with the version, and the basis of its verdict.

    `dml_operators` are the operators that it becomes, valid together from `level` on, None if no level has them.
    `meaning` is "onnx" if it was judged by ONNX's meaning, "provider" if by the descs that ONNX Runtime's DirectML
    provider makes, "" if it was not judged. `module` and `line` are its origin in the user's program. `largest` has the
    largest magnitude of its FLOAT16 tensors that are close to overflow.
    """

    name: str
    operator: str
    dml_operators: tuple[str, ...] = ()
    meaning: str = ""
    level: str | None = None
    module: str = ""
    line: str = ""
    not_finite: tuple[NotFinite, ...] = ()
    largest: Mapping[str, float] = {}


class ModelOutput(NamedTuple):
    """The output of a model that a case is about: its name, and its distance from the reference's chain.

    `error` is the largest error, and `tolerance` the largest tolerance that was carried there, as shares of the largest
    element; infinite ones are None. `shares` are the nodes that add the most to the errors, with the share of each.
    `choice` is the first node before it of which the chain took the implementation's results: errors decide them.
    """

    name: str
    error: float | None
    tolerance: float | None
    shares: tuple[tuple[str, float], ...] = ()
    choice: str | None = None


class Together(NamedTuple):
    """The nodes of a model that a case is about, which are wrong only when they run together: names and operators.

    `dml_operators` are the operators that they become, if known.
    """

    names: tuple[str, ...]
    operators: tuple[str, ...]
    dml_operators: tuple[str, ...] = ()


class Bisected(NamedTuple):
    """The result of the search for nodes that are wrong only together, in words, and the number of runs."""

    text: str
    runs: int = 0


class Ending(NamedTuple):
    """The end of a case: its outcome and the reason, its diagnostics, and the comparison of its outputs.

    `is_unrun` says that the implementation had no part in it, `kept` is the folder of a failed case. `noted` are
    warnings with any outcome, `consistent` the type of inputs with which it would have passed. `uncompared` are the
    outputs that the case leaves out although it gives others, `traceback` that of an exception that the
    implementation raised.
    """

    outcome: str
    reason: str | None = None
    findings: tuple[Finding, ...] = ()
    outputs: Mapping[str, OutputResult] = {}
    known: tuple[Deviation, ...] = ()
    is_unrun: bool = False
    kept: str = ""
    noted: tuple[Finding, ...] = ()
    consistent: str | None = None
    uncompared: tuple[str, ...] = ()
    traceback: str = ""


class CaseResult(NamedTuple):
    """The result of one case; `is_malformed` if the file is wrong, and nothing was run.

    `ordinal` counts the earlier cases of the whole set, if the run is one shard of several. `warned` names the outputs
    of a passed case that are close to their tolerance, if the run asks for it; `drift` has those that became less
    accurate. `known` has the known deviations of versions of DirectML for such a desc, if DirectML is under test, and
    the case failed. `is_unrun` says that the implementation had no part in the result: a plain desc, a negative case
    that it was not asked about, a mistake in the file. `kept` is the folder of a failed case, or why there is none.
    `consistent` is the type of inputs, TF32 or BFLOAT16, with which no output would be wrong or unlikely. `uncompared`
    names the outputs for which the case gives no values, although it gives others. `traceback` is that of an
    exception that the implementation raised. `is_flaky` says that a passed case failed before, and ran again. `node` is
    set if the case is a node of a model, `output` if it is one of its outputs, `together` if it is several nodes that
    are wrong together. `against` has the result of a second implementation, if the run has one.
    """

    case: Case
    outcome: str
    reason: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    outputs: Mapping[str, OutputResult] = {}
    seconds: float = 0.0
    level: str | None = None
    is_malformed: bool = False
    ordinal: int | None = None
    warned: tuple[str, ...] = ()
    drift: tuple[Drift, ...] = ()
    known: tuple[Deviation, ...] = ()
    is_unrun: bool = False
    kept: str = ""
    consistent: str | None = None
    uncompared: tuple[str, ...] = ()
    traceback: str = ""
    is_flaky: bool = False
    node: NodeOfCase | None = None
    output: ModelOutput | None = None
    together: Together | None = None
    against: Against | None = None

    @property
    def is_computed(self) -> bool:
        """Whether the implementation had a part in it: it computed, failed to, or was asked to refuse the desc."""
        return self.outcome != SKIPPED and not self.is_unrun

    @property
    def max_ulp(self) -> float | None:
        """The largest error of its outputs, in units for integers; None where there is none to measure."""
        outputs = self.outputs.values()
        if not outputs or any(output.shape is not None for output in outputs):
            return None
        return max(output.max_ulp for output in outputs)

    @property
    def is_for_another(self) -> bool:
        """Whether it is skipped because it is not for what is under test: for the reference, or for implementations."""
        return self.outcome == SKIPPED and self.reason in (FOR_IMPLEMENTATIONS, FOR_REFERENCE)

    @property
    def verdict(self) -> bool | None:
        """Whether the outputs of the implementation are right, or its refusal; None if it was not judged."""
        return self.outcome in (PASSED, XPASSED) if self.is_computed else None


class Against(NamedTuple):
    """The result of a second implementation for a case, and the differences between the outputs of the two."""

    result: CaseResult
    differences: Mapping[str, OutputDifference] = {}
