"""What is said of wrong outputs: how many elements, how far off, and where the first of them stands in the case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from judged import answering, case_of, result_of

from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.running.verdict import Limits

SQUARE = {"DataType": "FLOAT32", "Sizes": [2, 2]}
ABS = {"InputTensor": SQUARE, "OutputTensor": SQUARE}


def wrong(outputs: Any, given: Any, desc: Any = None, operator: str = "ELEMENT_WISE_ABS") -> list[Diagnostic]:
    """Return what is said of outputs beside those that a case gives."""
    inputs = {"InputTensor": [[1, 2], [3, 4]]}
    arrays = {name: np.array(values, np.float32) for name, values in given.items()}
    result = result_of(case_of(operator, desc or ABS, inputs, outputs), answering(arrays, is_directml=False))
    assert result.outcome == "failed"
    return list(result.diagnostics)


def test_faults_are_tried_for_the_first_wrong_outputs_of_a_file_only() -> None:
    limits = Limits()
    assert [limits.try_once_more("a.yaml") for _ in range(22)] == [True] * 20 + [False] * 2
    assert limits.try_once_more("b.yaml")


def off(**more: Any) -> Mapping[str, OutputResult]:
    return {"OutputTensor": OutputResult(4, 1)._replace(**more)}
