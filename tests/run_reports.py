"""Reports of runs written by hand, as `run --json` writes them, for the tests of what compares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WRONG = {
    "rule": "output-mismatch",
    "severity": "error",
    "message": "OutputTensor: 1 of 1 element is outside the tolerance",
    "file": "a.yaml",
    "line": 8,
    "column": 1,
    "pointer": "outputs.OutputTensor[0]",
    "help": None,
}


def ran(name: str, outcome: str, ulp: float | None = None, **more: Any) -> dict[str, Any]:
    """Return a case of a report, with an output where there is an error to tell of."""
    output = {"max_ulp": ulp, "mismatches": int(outcome == "failed"), "elements": 1, "first": None}
    return {
        "id": name,
        "name": name,
        "file": "a.yaml",
        "line": 8,
        "operator": "DML_OPERATOR_REDUCE",
        "feature_level": None,
        "outcome": outcome,
        "reason": None,
        "diagnostics": [WRONG] if outcome in ("failed", "error", "xfailed") else [],
        "seconds": 0.0,
        "outputs": {} if ulp is None else {"OutputTensor": output},
        **more,
    }


def write_run(path: str | Path, *cases: Any, **more: Any) -> str:
    """Write a report with these cases and return its path."""
    head = {"schema": "dmlcheck-report/1", "tool": {"name": "dmlcheck", "version": "0.1.0"}, "feature_level": None}
    report = {**head, "implementation": "onnxruntime", "summary": {}, "cases": list(cases), **more}
    Path(path).write_text(json.dumps(report), encoding="utf-8")
    return str(path)
