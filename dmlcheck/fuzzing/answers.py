"""The answer of an implementation to a trial, short, and enough to tell one fault from another."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import ERROR, Diagnostic
from dmlcheck.diagnostics.wording import cut
from dmlcheck.running.results import ERRORED, FAILED, SKIPPED, CaseResult

_CAUSE = "likely cause: "
_MOST = 120  # characters of what an implementation said that tell one failure from another
_NUMBERS = re.compile(r"0x[0-9A-Fa-f]+|\d[\d.,]*(?:e[+-]?\d+)?")


class FailureKind(NamedTuple):
    """How a trial fails: the rule, the field of the output, and the kind of the difference, or the error."""

    rule: str
    output: str = ""
    kind: str = ""


class TrialAnswer(NamedTuple):
    """The end of a trial: the outcome with its reason, and for a failure its kind, the message and the likely cause.

    `max_ulp` is the largest error of its outputs, in units for integers; None where there is none to measure.
    `is_of_directml` says that it was judged by what DirectML gives where the documentation leaves results undefined.
    """

    outcome: str
    reason: str = ""
    difference: FailureKind | None = None
    message: str = ""
    cause: str = ""
    max_ulp: float | None = None
    is_of_directml: bool = False

    @property
    def is_finding(self) -> bool:
        """Whether the implementation failed."""
        return self.difference is not None

    @property
    def is_compared(self) -> bool:
        """Whether the implementation had a part in it."""
        return self.outcome != SKIPPED

    @property
    def fault(self) -> tuple[FailureKind | None, str]:
        """The difference with its likely cause, without the numbers of this trial: the same for the same fault."""
        return self.difference, _without_numbers(self.cause)


def answer_of(result: CaseResult) -> TrialAnswer:
    """Return the answer in the result of a trial."""
    first = next((found for found in result.diagnostics if found.severity == ERROR), None)
    if result.outcome not in (FAILED, ERRORED) or first is None or not result.is_computed:
        return TrialAnswer(SKIPPED if result.is_unrun else result.outcome, result.reason or "")
    named = [label for label in result.outputs if re.search(rf"(?<!\w){re.escape(label)}(?![\w\[])", first.message)]
    output = named[0] if named else ""
    found = result.outputs.get(output)
    kind = _kind(found) if first.rule == "output-mismatch" and found is not None else _said(first)
    kind = " ".join(result.case.invalid or ()) or kind
    help = first.help or ""
    cause = help.partition(_CAUSE)[2] if _CAUSE in help else ""
    difference = FailureKind(first.rule, output.partition("[")[0], kind)
    return TrialAnswer(result.outcome, result.reason or "", difference, first.message, cause, result.max_ulp)


def _kind(output: OutputResult) -> str:
    """Return the kind of a difference: of values if any values differ, else the first other kind."""
    if output.shape is not None:
        return "shape"
    kinds = {_kind_of(element) for element in output.first}
    return next((kind for kind in ("value", "infinity", "nan", "sign of zero") if kind in kinds), "value")


def _kind_of(element: Element) -> str:
    expected, actual = float(element.expected), float(element.actual)
    if math.isnan(expected) or math.isnan(actual):
        return "nan"
    if math.isinf(expected) or math.isinf(actual):
        return "infinity"
    return "sign of zero" if expected == actual == 0 else "value"


def _said(found: Diagnostic) -> str:
    """Return the text that identifies an error other than a difference: its first line, without numbers."""
    if found.rule in ("timeout", "systematic-error"):
        return ""
    return cut(_without_numbers(found.message.partition("\n")[0]), _MOST)


def _without_numbers(text: Any) -> str:
    return _NUMBERS.sub("#", str(text))
