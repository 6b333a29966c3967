"""Machine-readable reports: dmlcheck-report/1 of a run and dmlcheck-validation/1 of descs."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Iterable
from typing import IO, Any

from dmlcheck import __version__
from dmlcheck.model import CaseResult, Element, OutputResult
from dmlcheck.reports import RunInfo, Summary
from dmlcheck.reports.text import Validated
from dmlcheck.specs import full_name

RUN_SCHEMA = "dmlcheck-report/1"
VALIDATION_SCHEMA = "dmlcheck-validation/1"


class JsonReport:
    """A run as JSON, written case by case so that a long run takes no memory, and given its name when it is whole."""

    def __init__(self, path: str, info: RunInfo) -> None:
        # What a link leads to is replaced, not the link; a pipe or a device is written to as it is.
        self.path = os.path.realpath(path)
        if os.path.isdir(self.path) or not path:
            raise IsADirectoryError(errno.EISDIR, "is a folder" if path else "no file named", path)
        is_file = os.path.isfile(self.path) or not os.path.exists(self.path)
        self.partial = self.path + ".partial" if is_file else self.path
        self.first = True
        self.file: IO[str] = open(self.partial, "w", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed in finish
        head = {
            "schema": RUN_SCHEMA,
            "tool": {"name": "dmlcheck", "version": __version__},
            "implementation": info.implementation,
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
        self.file.write(f'\n], "summary": {_dump(counts)}}}\n')
        self.file.close()
        if self.partial != self.path:
            os.replace(self.partial, self.path)


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
    }


def output_dict(output: OutputResult) -> dict[str, Any]:
    """Return an output's part of the report; infinities and NaN are text, as in case files."""
    return {
        "max_ulp": output.max_ulp,
        "mismatches": output.mismatches,
        "elements": output.elements,
        "first": _element(output.first[0] if output.first else None),
        "worst": _element(output.most_off),
    }


def _element(element: Element | None) -> dict[str, Any] | None:
    if element is None:
        return None
    return {
        "index": list(element.place),
        "expected": _value(element.expected),
        "actual": _value(element.actual),
    }


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
