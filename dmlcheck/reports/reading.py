"""Reading dmlcheck-report/1 files back: heads, outcomes, and whole results."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.comparison.records import LARGEST, Element, OutputResult
from dmlcheck.diagnostics.record import ERROR, Diagnostic
from dmlcheck.diagnostics.wording import cut
from dmlcheck.files.document import Position
from dmlcheck.files.plain import MAX_REPORT, read_plain
from dmlcheck.files.plain import reason as reason_of
from dmlcheck.reference.limits.precision import FACTORS
from dmlcheck.reports.json import RUN_SCHEMA
from dmlcheck.running.results import (
    ERRORED,
    FAILURES,
    LEGAL,
    NO_ANSWER,
    OUTCOMES,
    SKIPPED,
    CaseResult,
    Drift,
    ModelOutput,
    NodeOfCase,
    NotFinite,
    Together,
)
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import Deviation


class ReportError(Exception):
    """A file that is no report of a run."""


def read_report(path: str) -> dict[str, Any]:
    """Return a report as it was written; ReportError if it is none."""
    return _read(path, _is_case)


def _read(
    path: str, is_case: Callable[[Any], bool], hook: Callable[[dict[str, Any]], Any] | None = None
) -> dict[str, Any]:
    try:
        data = read_plain(path, MAX_REPORT)
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: {reason_of(error)}") from None
    try:
        report = json.loads(data.decode(), object_hook=hook, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        raise ReportError(f"{path}: not JSON") from None
    if not isinstance(report, dict) or report.get("schema") != RUN_SCHEMA:
        raise ReportError(f"{path}: not a report of a run ({RUN_SCHEMA})")
    cases = report.get("cases")
    if not isinstance(cases, list) or not all(map(is_case, cases)) or not isinstance(report.get("implementation"), str):
        raise ReportError(f"{path}: not a whole report: its cases or its implementation are missing")
    return report


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)  # NaN and infinities are not JSON, and no report has a number beyond float64
    return value


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and isinstance(case.get("id"), str) and case.get("outcome") in OUTCOMES


class Head(NamedTuple):
    """A report without its cases, the outcome and the file of each case by its id, and the malformed ones.

    Malformed are also cases whose values cannot be used.
    """

    report: dict[str, Any]
    outcomes: dict[str, str]
    malformed: frozenset[str]
    files: dict[str, str]


def read_head(path: str) -> Head:
    """Return a report without its cases, and their outcomes."""
    report = read_report(path)
    cases = report.pop("cases")
    malformed = frozenset(case["id"] for case in cases if _is_malformed(case))
    files = {case["id"]: str(case.get("file", "")) for case in cases}
    return Head(report, {case["id"]: case["outcome"] for case in cases}, malformed, files)


def _is_malformed(case: Mapping[str, Any]) -> bool:
    """Whether a case is malformed, or has values that cannot be used anywhere; too large ones can be elsewhere."""
    if case.get("malformed"):
        return True
    is_unrun = case["outcome"] == ERRORED and case.get("computed") is False
    return is_unrun and not any(found.get("rule") == "tensor-too-large" for found in case.get("diagnostics", ()))


def read_failures(path: str) -> frozenset[str]:
    """Return the ids of the cases that made a run fail."""
    cases = read_report(path)["cases"]
    return frozenset(case["id"] for case in cases if case["outcome"] in FAILURES or _has_drifted(case))


def _has_drifted(case: Mapping[str, Any]) -> bool:
    drift = case.get("drift")
    return isinstance(drift, list) and any(isinstance(found, dict) and found.get("failure") is True for found in drift)


class _Errors(NamedTuple):
    """The kept part of a case: its id and the largest error of each output, infinite if the output was wrong."""

    case: str
    ulp: dict[str, float]


def read_errors(path: str) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Return a report without its cases, and the largest error of each output by case; no more is kept in memory."""
    report = _read(path, lambda case: isinstance(case, _Errors), _errors_of)
    return report, {case.case: case.ulp for case in report.pop("cases")}


def _errors_of(raw: dict[str, Any]) -> Any:
    """Return the kept part of a case, any other object as it is."""
    if not _is_case(raw) or not isinstance(raw.get("outputs"), dict):
        return raw
    found = {name: _error_of(output) for name, output in raw["outputs"].items()}
    known = {name: ulp for name, ulp in found.items() if ulp is not None}
    return _Errors(raw["id"], known) if len(known) == len(found) else raw


def _error_of(output: Any) -> int | float | None:
    if not isinstance(output, dict) or not all(_is_number(output.get(key)) for key in ("max_ulp", "mismatches")):
        return None
    return float("inf") if output["mismatches"] else output["max_ulp"]


class Brief(NamedTuple):
    """The compared part of a case: its outcome, its rules, the largest error of each output."""

    id: str
    outcome: str
    fails: bool  # the run, if only because an output drifted
    rule: str | None  # of its first diagnostic, None where it has none
    message: str  # of that, or else the reason
    ulp: dict[str, int | float]


def read_briefs(path: str) -> tuple[dict[str, Any], dict[str, Brief]]:
    """Return a report without its cases, and the compared part of each by its id; no more is kept in memory.

    Of several cases with one id, one that fails counts.
    """

    def is_case(case: Any) -> bool:
        if _is_case(case):
            raise ReportError(f"{path}: {case['id']}: not a case as `dmlcheck run` reports it")
        return isinstance(case, Brief)

    report = _read(path, is_case, _brief_of)
    briefs: dict[str, Brief] = {}
    for case in report.pop("cases"):
        if case.id not in briefs or case.fails:
            briefs[case.id] = case
    return report, briefs


def _brief_of(raw: dict[str, Any]) -> Any:
    """Return the compared part of a case, any other object as it is."""
    if not _is_case(raw):
        return raw
    try:
        errors = {name: _largest_error(output) for name, output in raw.get("outputs", {}).items()}
        has_drifted = any(found["failure"] is True for found in raw.get("drift", ()))
        rule, message = _first_said(raw)
    except (AttributeError, KeyError, TypeError):
        return raw
    fails = raw["outcome"] in FAILURES or has_drifted
    return Brief(raw["id"], raw["outcome"], fails, rule, message, errors)


def _largest_error(output: Any) -> int | float:
    if not _is_number(output["max_ulp"]):
        raise TypeError("max_ulp")
    error: int | float = output["max_ulp"]
    return error


def _first_said(raw: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the rule and the message of the first error of a case, without errors its reason."""
    diagnostics = raw.get("diagnostics", [])
    first = next((found for found in diagnostics if found["severity"] == ERROR), None)
    if first is None:
        return None, cut(value_of(raw, "reason", TEXT_OR_NONE) or "", MOST_SAID)
    return value_of(first, "rule", TEXT), cut(value_of(first, "message", TEXT), MOST_SAID)


MOST_SAID = 300  # characters of a message that are kept


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LARGEST


def case_result(raw: Mapping[str, Any]) -> CaseResult:
    """Return a case's result as a report tells it; ReportError if it is not as `run` writes it."""
    try:
        return _case_result(raw)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ReportError(f"{raw['id']}: not a case as `dmlcheck run` reports it") from None


TEXT = (str,)
TEXT_OR_NONE = (str, type(None))
WHOLE = (int,)
NUMBER = (int, float)
NUMBER_OR_NONE = (int, float, type(None))


def value_of(raw: Mapping[str, Any], key: str, kinds: tuple[type, ...], default: Any = None) -> Any:
    """Return the value of a report's key; TypeError if its type is not what `run` writes."""
    value = raw.get(key, default)
    if not isinstance(value, kinds) or isinstance(value, bool) or _is_beyond(value):
        raise TypeError(key)
    return value


def texts_of(raw: Mapping[str, Any], key: str, default: Any = None) -> tuple[str, ...]:
    """Return the texts of a list that a report has under a key; TypeError for anything else."""
    return tuple(value_of({key: text}, key, TEXT) for text in value_of(raw, key, (list,), default))


_LARGEST_WHOLE = 2**65  # no count, place, integer of an output or difference of two is larger


def _is_beyond(value: Any) -> bool:
    """Whether a number is larger than any that a run writes."""
    return isinstance(value, int) and abs(value) > _LARGEST_WHOLE


def _case_result(raw: Mapping[str, Any]) -> CaseResult:
    diagnostics = tuple(_diagnostic(found) for found in raw.get("diagnostics", ()))
    outputs = {name: _output(output) for name, output in raw.get("outputs", {}).items()}
    warned = tuple(found["output"] for found in raw.get("warnings", ()))
    drift = tuple(_drift(found) for found in raw.get("drift", ()))
    if not outputs.keys() >= {*warned, *(found.output for found in drift)}:
        raise ValueError("an output that the case does not have")
    case, reason = _case(raw), value_of(raw, "reason", TEXT_OR_NONE)
    return CaseResult(
        case,
        raw["outcome"],
        _OF_EARLIER.get(reason, reason),
        diagnostics,
        outputs,
        value_of(raw, "seconds", NUMBER, 0.0),
        case.feature_level,
        warned=warned,
        drift=drift,
        is_malformed=raw.get("malformed") is True,
        known=tuple(
            Deviation(*(value_of(row, key, TEXT) for key in _KNOWN)) for row in raw.get("known_deviations", ())
        ),
        is_unrun=raw["outcome"] != SKIPPED and not raw.get("computed", _is_computed(outputs, diagnostics)),
        consistent=_consistent(raw),
        uncompared=texts_of(raw, "not_compared", []),
        traceback=value_of(raw, "traceback", TEXT, ""),
        is_flaky=raw.get("flaky") is True,
        node=_node(raw),
        output=_model_output(value_of(raw, "output", (dict,), {})),
        together=_together(raw),
    )


def _number_or_none(raw: Mapping[str, Any], key: str) -> float | None:
    return None if raw.get(key) is None else float(value_of(raw, key, NUMBER))


def _model_output(raw: Mapping[str, Any]) -> ModelOutput | None:
    """Return the output of a model that a case is about, or None if it is about none."""
    if not raw:
        return None
    shares = value_of(raw, "shares", (list,), [])
    return ModelOutput(
        value_of(raw, "name", TEXT),
        _number_or_none(raw, "error"),
        _number_or_none(raw, "tolerance"),
        tuple((value_of(share, "node", TEXT), value_of(share, "share", NUMBER)) for share in shares),
        value_of(raw, "choice", TEXT, "") or None,
    )


def _together(raw: Mapping[str, Any]) -> Together | None:
    """Return the nodes that are wrong only together that a case is about, or None if it is about none."""
    if "nodes" not in raw:
        return None
    return Together(*(texts_of(raw, key) for key in ("nodes", "onnx_operators", "dml_operators")))


def _node(raw: Mapping[str, Any]) -> NodeOfCase | None:
    """Return the node that a case is about, or None if it is none."""
    if "node" not in raw:
        return None
    largest = value_of(raw, "largest", (dict,), {})
    return NodeOfCase(
        value_of(raw, "node", TEXT),
        value_of(raw, "onnx_operator", TEXT),
        texts_of(raw, "dml_operators"),
        value_of(raw, "judged_by", TEXT, ""),
        value_of(raw, "level", TEXT_OR_NONE, None),
        value_of(raw, "module", TEXT, ""),
        value_of(raw, "origin", TEXT, ""),
        tuple(
            NotFinite(value_of(found, "tensor", TEXT), *(value_of(found, key, WHOLE) for key in ("nan", "infinite")))
            for found in value_of(raw, "not_finite", (list,), [])
        ),
        {name: value_of(largest, name, NUMBER) for name in largest},
    )


def _consistent(raw: Mapping[str, Any]) -> str | None:
    name: str = value_of(raw, "consistent_with", TEXT, "").upper()
    if name and name not in FACTORS:
        raise ValueError(name)
    return name or None


def _is_computed(outputs: Mapping[str, OutputResult], diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether an implementation was asked about a case, by the report of an earlier version."""
    return bool(outputs) or any(found.rule in NO_ANSWER for found in diagnostics)


_OF_EARLIER = {"a legal desc": LEGAL}  # reasons as earlier versions have them
_KNOWN = ("text", "versions", "source")


def _case(raw: Mapping[str, Any]) -> Case:
    return Case(
        id=raw["id"],
        name=value_of(raw, "name", TEXT, raw["id"]),
        file=value_of(raw, "file", TEXT, ""),
        operator=value_of(raw, "operator", TEXT, ""),
        feature_level=value_of(raw, "feature_level", TEXT_OR_NONE),
        desc=value_of(raw, "desc", (str, dict), {}),
        inputs=value_of(raw, "inputs", (dict, type(None))),
        source=value_of(raw, "source", TEXT_OR_NONE),
        origin=DetachedOrigin(Position(_line(raw), 1)),
    )


def _line(raw: Mapping[str, Any]) -> int:
    line: int = value_of(raw, "line", (int, type(None))) or 1
    if not 0 < line < _MOST_PLACE:
        raise ValueError("line")
    return line


def _drift(raw: Mapping[str, Any]) -> Drift:
    old, new = value_of(raw, "old_ulp", NUMBER), value_of(raw, "new_ulp", NUMBER)
    return Drift(raw["output"], old, new, bool(raw["failure"]))


def _diagnostic(raw: Mapping[str, Any]) -> Diagnostic:
    for key, value in raw.items():
        if key in ("line", "column"):
            is_wrong = value is not None and not (type(value) is int and 0 < value < _MOST_PLACE)
        else:
            is_wrong = not isinstance(value, TEXT if key in ("rule", "severity", "message") else TEXT_OR_NONE)
        if is_wrong or key == "width":
            raise TypeError(key)
    return Diagnostic(**raw)


_MOST_PLACE = 2**31  # lines of a file, and characters of a line


def _output(raw: Mapping[str, Any]) -> OutputResult:
    details = raw.get("details") or {}
    elements = [_element(element) for element in details.get("elements", ())]
    max_ulp = value_of(raw, "max_ulp", NUMBER)
    return OutputResult(
        elements=value_of(raw, "elements", (int,)),
        mismatches=value_of(raw, "mismatches", (int,)),
        max_ulp=max_ulp,
        max_share=value_of(raw, "max_share", NUMBER_OR_NONE),
        undefined=value_of(raw, "unspecified", (int,), 0),
        first=tuple(elements[:3]),
        worst=max(elements, key=lambda element: (element.share or 0.0, element.ulp), default=None),
        most_off=None if raw.get("worst") is None else _element(raw["worst"])._replace(ulp=max_ulp),
        closest=None if raw.get("closest") is None else _element(raw["closest"]),
        data_type=_data_type(raw, details),
        sizes=_numbers(details, "sizes"),
        bound=value_of(details, "bound", TEXT, ""),
        decided_by=value_of(details, "decided_by", TEXT, ""),
        shape=value_of(details, "shape", TEXT_OR_NONE),
        profile=_numbers(details, "profile"),
        likely_share=value_of(raw, "likely_share", NUMBER_OR_NONE),
        region=value_of(details, "region", TEXT_OR_NONE, None),
        unlimited=value_of(raw, "unlimited", (int,), 0),
        systematic=value_of(raw, "systematic", NUMBER_OR_NONE, None),
    )


def _data_type(raw: Mapping[str, Any], details: Mapping[str, Any]) -> str:
    data_type: str = value_of(raw, "data_type", TEXT, "") or value_of(details, "data_type", TEXT, "")
    if data_type and data_type not in DATA_TYPES:
        raise ValueError(data_type)
    return data_type


def _numbers(details: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    numbers = tuple(details.get(key, ()))
    if not all(map(_is_number, numbers)):
        raise TypeError(key)
    return numbers


def _element(raw: Mapping[str, Any]) -> Element:
    expected, actual = (float(value) if isinstance(value, str) else value for value in (raw["expected"], raw["actual"]))
    place = tuple(raw["index"])
    if not all(isinstance(value, NUMBER) and not _is_beyond(value) for value in (expected, actual)):
        raise TypeError("expected")
    if not all(type(value) is int and 0 <= value <= _LARGEST_WHOLE for value in place):
        raise TypeError("index")
    ulp, share = value_of(raw, "ulp", NUMBER, 0.0), value_of(raw, "share", NUMBER_OR_NONE)
    is_unrounded, is_unlimited = (raw.get(key) is True for key in ("unrounded", "unlimited"))
    return Element(place, expected, actual, ulp, share, is_unrounded=is_unrounded, is_unlimited=is_unlimited)
