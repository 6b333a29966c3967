"""Reading dmlcheck-report/1 files back: heads, outcomes, and whole results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dmlcheck.diagnostics import Diagnostic
from dmlcheck.document import Position
from dmlcheck.model import OUTCOMES, Case, CaseResult, Element, OutputResult, Placed
from dmlcheck.reports.json import RUN_SCHEMA


class ReportError(Exception):
    """A file that is no report of a run."""


def read_report(path: str) -> dict[str, Any]:
    """Return a report as it was written; ReportError where it is none."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not JSON"
        raise ReportError(f"{path}: {reason or error}") from None
    if not isinstance(report, dict) or report.get("schema") != RUN_SCHEMA:
        raise ReportError(f"{path}: not a report of a run ({RUN_SCHEMA})")
    cases = report.get("cases")
    if (
        not isinstance(cases, list)
        or not all(map(_is_case, cases))
        or not isinstance(report.get("implementation"), str)
    ):
        raise ReportError(f"{path}: not a whole report: its cases or its implementation are missing")
    return report


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and isinstance(case.get("id"), str) and case.get("outcome") in OUTCOMES


def read_head(path: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a report without its cases, and the outcome of each case by its id."""
    report = read_report(path)
    return report, {case["id"]: case["outcome"] for case in report.pop("cases")}


def case_result(raw: Mapping[str, Any]) -> CaseResult:
    """Return a case's result as a report tells it."""
    case = Case(
        id=raw["id"],
        name=raw.get("name", raw["id"]),
        file=raw.get("file", ""),
        operator=raw.get("operator", ""),
        feature_level=raw.get("feature_level"),
        desc=raw.get("desc", {}),
        inputs=raw.get("inputs"),
        outputs=None,
        invalid=None,
        tolerance=None,
        source=raw.get("source"),
        tags=(),
        note=None,
        origin=Placed(Position(raw.get("line") or 1, 1)),
    )
    diagnostics = tuple(Diagnostic(**found) for found in raw.get("diagnostics", ()))
    outputs = {name: _output(output) for name, output in raw.get("outputs", {}).items()}
    return CaseResult(
        case, raw["outcome"], raw.get("reason"), diagnostics, outputs, raw.get("seconds", 0.0), raw.get("feature_level")
    )


def _output(raw: Mapping[str, Any]) -> OutputResult:
    details = raw.get("details") or {}
    elements = [_element(element) for element in details.get("elements", ())]
    return OutputResult(
        elements=raw["elements"],
        mismatches=raw["mismatches"],
        max_ulp=raw["max_ulp"],
        unspecified=details.get("unspecified", 0),
        first=tuple(elements[:3]),
        worst=max(elements, key=lambda element: (element.share or 0.0, element.ulp), default=None),
        most_off=None if raw.get("worst") is None else _element(raw["worst"])._replace(ulp=raw["max_ulp"]),
        data_type=details.get("data_type", ""),
        sizes=tuple(details.get("sizes", ())),
        bound=details.get("bound", ""),
        shape=details.get("shape"),
        profile=tuple(details.get("profile", ())),
    )


def _element(raw: Mapping[str, Any]) -> Element:
    expected, actual = (float(value) if isinstance(value, str) else value for value in (raw["expected"], raw["actual"]))
    return Element(tuple(raw["index"]), expected, actual, raw.get("ulp", 0.0), raw.get("share"))
