"""Machine-readable reports: dmlcheck-report/1 of a run and dmlcheck-validation/1 of descs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from dmlcheck import __version__
from dmlcheck.diagnostics import brief
from dmlcheck.model import PASSED, SKIPPED, CaseResult, Element, OutputResult
from dmlcheck.reports import RunInfo, Summary
from dmlcheck.reports.files import ReportFile
from dmlcheck.reports.text import Validated
from dmlcheck.specs import full_name

MOST = 4000  # characters of a desc
LARGEST = 1.7976931348623157e308  # in the place of infinity, which JSON has no number for
RUN_SCHEMA = "dmlcheck-report/1"
VALIDATION_SCHEMA = "dmlcheck-validation/1"


class JsonReport:
    """A run as JSON, written case by case so that a long run takes no memory, and given its name when it is whole."""

    def __init__(self, path: str, info: RunInfo) -> None:
        self.file = ReportFile(path)
        self.first = True
        self.shard = info.shard
        head = {
            "schema": RUN_SCHEMA,
            "tool": {"name": "dmlcheck", "version": __version__},
            "implementation": info.implementation,
            "implementation_version": info.version or None,
            "implementation_device": info.device or None,
            "feature_level": info.feature_level,
        }
        self.file.write(_dump(head)[:-1] + ', "cases": [')

    def case(self, result: CaseResult) -> None:
        """Write one case."""
        self.file.write(("" if self.first else ",") + "\n" + _dump(case_dict(result)))
        self.first = False

    def finish(self, summary: Summary) -> None:
        """Write the summary and put the report in place."""
        counts = {"total": summary.total, **summary.counts, "seconds": round(summary.seconds, 6)}
        tail: dict[str, Any] = {"summary": counts, "digest": summary.digest}
        if self.shard is not None:
            tail["shard"] = {"index": self.shard[0], "count": self.shard[1]}
        if summary.interrupted:
            tail["interrupted"] = True
        self.file.write("\n], " + _dump(tail)[1:] + "\n")
        self.file.close()


def case_dict(result: CaseResult) -> dict[str, Any]:
    """Return a case's part of the report."""
    case = result.case
    return {
        "id": case.id,
        "name": case.name,
        "file": case.file,
        "line": case.position.line,
        "operator": full_name(case.operator) or case.operator,
        "feature_level": result.level,
        "outcome": result.outcome,
        "reason": result.reason,
        "diagnostics": [diagnostic.as_dict() for diagnostic in result.diagnostics],
        "seconds": round(result.seconds, 6),
        "outputs": {name: output_dict(output) for name, output in result.outputs.items()},
        **_details(result),
        **({} if result.ordinal is None else {"ordinal": result.ordinal}),
    }


def _details(result: CaseResult) -> dict[str, Any]:
    """Return what else a case that did not pass is told with: its desc, briefly its inputs, and its source."""
    case = result.case
    if result.outcome in (PASSED, SKIPPED):
        return {}
    inputs = {name: brief(raw) for name, raw in (case.inputs or {}).items()}
    return {"desc": brief(case.desc, MOST), "inputs": inputs, "source": case.source}


def output_dict(output: OutputResult) -> dict[str, Any]:
    """Return an output's part of the report; infinities and NaN are text, as in case files."""
    found: dict[str, Any] = {
        "max_ulp": output.max_ulp,
        "mismatches": output.mismatches,
        "elements": output.elements,
        "first": _element(output.first[0] if output.first else None),
        "worst": _element(output.most_off),
    }
    if output.mismatches:
        shown = list(dict.fromkeys(element for element in (*output.first, output.worst) if element is not None))
        found["details"] = {
            "data_type": output.data_type,
            "sizes": list(output.sizes),
            "shape": output.shape,
            "bound": output.bound,
            "unspecified": output.unspecified,
            "elements": [_element(element, measured=True) for element in shown],
            "profile": list(output.profile),
        }
    return found


def _element(element: Element | None, *, measured: bool = False) -> dict[str, Any] | None:
    if element is None:
        return None
    found: dict[str, Any] = {
        "index": list(element.place),
        "expected": _value(element.expected),
        "actual": _value(element.actual),
    }
    if measured:
        share = element.share
        found.update(ulp=element.ulp, share=None if share is None else min(share, LARGEST))
    return found


def validation_text(descs: Iterable[Validated]) -> str:
    """Return what `validate --format json` prints."""
    listed = list(descs)
    return json.dumps(
        {
            "schema": VALIDATION_SCHEMA,
            "valid": not any(desc.errors for desc in listed),
            "descs": [
                {
                    "file": desc.file,
                    "name": desc.name,
                    "operator": desc.operator,
                    "feature_level": desc.feature_level,
                    "valid": desc.is_valid,
                    "minimum_feature_level": desc.minimum,
                    "diagnostics": [diagnostic.as_dict() for diagnostic in desc.diagnostics],
                    **_levels(desc),
                }
                for desc in listed
            ],
        },
        indent=2,
        allow_nan=False,
    )


def _levels(desc: Validated) -> dict[str, Any]:
    if not desc.levels:
        return {}
    return {"levels": [{"level": at.level, "valid": at.is_valid, "reason": at.reason} for at in desc.levels]}


def _value(value: float) -> int | float | str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
