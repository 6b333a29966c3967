"""Reading dmlcheck-report/1 files back: heads, outcomes, and whole results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.comparison.records import Element, OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Position
from dmlcheck.reports.json import LARGEST, RUN_SCHEMA
from dmlcheck.running.results import OUTCOMES, CaseResult, Drift
from dmlcheck.specs.names import DATA_TYPES


class ReportError(Exception):
    """A file that is no report of a run."""


def read_report(path: str) -> dict[str, Any]:
    """Return a report as it was written; ReportError where it is none."""
    return _read(path, _is_case)


def _read(
    path: str, is_case: Callable[[Any], bool], hook: Callable[[dict[str, Any]], Any] | None = None
) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file, object_hook=hook, parse_constant=_no_constant)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not JSON"
        raise ReportError(f"{path}: {reason or error}") from None
    if not isinstance(report, dict) or report.get("schema") != RUN_SCHEMA:
        raise ReportError(f"{path}: not a report of a run ({RUN_SCHEMA})")
    cases = report.get("cases")
    if not isinstance(cases, list) or not all(map(is_case, cases)) or not isinstance(report.get("implementation"), str):
        raise ReportError(f"{path}: not a whole report: its cases or its implementation are missing")
    return report


def _no_constant(text: str) -> None:
    raise ValueError(text)  # NaN and infinities, which are not JSON


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and isinstance(case.get("id"), str) and case.get("outcome") in OUTCOMES


def read_head(path: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a report without its cases, and the outcome of each case by its id."""
    report = read_report(path)
    return report, {case["id"]: case["outcome"] for case in report.pop("cases")}


class _Errors(NamedTuple):
    """What is kept of a case: its id and the largest error of each output, infinite where the output was wrong."""

    case: str
    ulp: dict[str, float]


def read_errors(path: str) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Return a report without its cases, and the largest error of each output by case; no more is kept in memory."""
    report = _read(path, lambda case: isinstance(case, _Errors), _errors_of)
    return report, {case.case: case.ulp for case in report.pop("cases")}


def _errors_of(raw: dict[str, Any]) -> Any:
    """Return what is kept of a case, anything else as it is."""
    if not _is_case(raw) or not isinstance(raw.get("outputs"), dict):
        return raw
    found = {name: _error_of(output) for name, output in raw["outputs"].items()}
    known = {name: ulp for name, ulp in found.items() if ulp is not None}
    return _Errors(raw["id"], known) if len(known) == len(found) else raw


def _error_of(output: Any) -> float | None:
    if not isinstance(output, dict) or not all(_is_number(output.get(key)) for key in ("max_ulp", "mismatches")):
        return None
    return float("inf") if output["mismatches"] else float(output["max_ulp"])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LARGEST


def case_result(raw: Mapping[str, Any]) -> CaseResult:
    """Return a case's result as a report tells it; ReportError where it is not as `run` writes it."""
    try:
        return _case_result(raw)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ReportError(f"{raw['id']}: not a case as `dmlcheck run` reports it") from None


_TEXT = (str,)
_TEXT_OR_NONE = (str, type(None))
_NUMBER = (int, float)
_NUMBER_OR_NONE = (int, float, type(None))


def _of(raw: Mapping[str, Any], key: str, kinds: tuple[type, ...], default: Any = None) -> Any:
    """Return what a report has under a key; TypeError where it is nothing that `run` writes there."""
    value = raw.get(key, default)
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise TypeError(key)
    return value


def _case_result(raw: Mapping[str, Any]) -> CaseResult:
    case = Case(
        id=raw["id"],
        name=_of(raw, "name", _TEXT, raw["id"]),
        file=_of(raw, "file", _TEXT, ""),
        operator=_of(raw, "operator", _TEXT, ""),
        feature_level=_of(raw, "feature_level", _TEXT_OR_NONE),
        desc=_of(raw, "desc", (str, dict), {}),
        inputs=_of(raw, "inputs", (dict, type(None))),
        source=_of(raw, "source", _TEXT_OR_NONE),
        origin=DetachedOrigin(Position(_of(raw, "line", (int, type(None))) or 1, 1)),
    )
    diagnostics = tuple(_diagnostic(found) for found in raw.get("diagnostics", ()))
    outputs = {name: _output(output) for name, output in raw.get("outputs", {}).items()}
    warned = tuple(found["output"] for found in raw.get("warnings", ()))
    drift = tuple(
        Drift(found["output"], _of(found, "old_ulp", _NUMBER), _of(found, "new_ulp", _NUMBER), bool(found["failure"]))
        for found in raw.get("drift", ())
    )
    if not outputs.keys() >= {*warned, *(found.output for found in drift)}:
        raise ValueError("an output that the case does not have")
    return CaseResult(
        case,
        raw["outcome"],
        _of(raw, "reason", _TEXT_OR_NONE),
        diagnostics,
        outputs,
        _of(raw, "seconds", _NUMBER, 0.0),
        case.feature_level,
        warned=warned,
        drift=drift,
    )


def _diagnostic(raw: Mapping[str, Any]) -> Diagnostic:
    texts, numbers = ("rule", "severity", "message"), ("line", "column")
    for key, value in raw.items():
        kinds = (int, type(None)) if key in numbers else _TEXT if key in texts else _TEXT_OR_NONE
        if not isinstance(value, kinds):
            raise TypeError(key)
    return Diagnostic(**raw)


def _output(raw: Mapping[str, Any]) -> OutputResult:
    details = raw.get("details") or {}
    elements = [_element(element) for element in details.get("elements", ())]
    max_ulp = _of(raw, "max_ulp", _NUMBER)
    sizes, profile = (tuple(details.get(key, ())) for key in ("sizes", "profile"))
    if not all(map(_is_number, (*sizes, *profile))):
        raise TypeError("details")
    data_type = _of(raw, "data_type", _TEXT, "") or _of(details, "data_type", _TEXT, "")
    if data_type and data_type not in DATA_TYPES:
        raise ValueError(data_type)
    return OutputResult(
        elements=_of(raw, "elements", (int,)),
        mismatches=_of(raw, "mismatches", (int,)),
        max_ulp=max_ulp,
        max_share=_of(raw, "max_share", _NUMBER_OR_NONE),
        unspecified=_of(details, "unspecified", (int,), 0),
        first=tuple(elements[:3]),
        worst=max(elements, key=lambda element: (element.share or 0.0, element.ulp), default=None),
        most_off=None if raw.get("worst") is None else _element(raw["worst"])._replace(ulp=max_ulp),
        closest=None if raw.get("closest") is None else _element(raw["closest"]),
        data_type=data_type,
        sizes=sizes,
        bound=_of(details, "bound", _TEXT, ""),
        decided_by=_of(details, "decided_by", _TEXT, ""),
        shape=_of(details, "shape", _TEXT_OR_NONE),
        profile=profile,
    )


def _element(raw: Mapping[str, Any]) -> Element:
    expected, actual = (float(value) if isinstance(value, str) else value for value in (raw["expected"], raw["actual"]))
    place = tuple(raw["index"])
    if not all(isinstance(value, _NUMBER) for value in (expected, actual, *place)):
        raise TypeError("index")
    return Element(place, expected, actual, _of(raw, "ulp", _NUMBER, 0.0), _of(raw, "share", _NUMBER_OR_NONE))
