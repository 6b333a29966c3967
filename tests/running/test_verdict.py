"""What is said of wrong outputs: how many elements, how far off, and where the first of them stands in the case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from judged import answering, case_of, result_of
from valid_descs import valid

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


def test_causes_are_looked_for_once_a_kind_of_failure() -> None:
    limits = Limits()
    row, other = ({"DataType": "FLOAT32", "Sizes": sizes} for sizes in ([2, 2], [2, 3]))
    relu, of_other_sizes = (
        valid("DML_OPERATOR_ACTIVATION_RELU", InputTensor=tensor, OutputTensor=tensor) for tensor in (row, other)
    )
    leaky = [
        valid("DML_OPERATOR_ACTIVATION_LEAKY_RELU", InputTensor=row, OutputTensor=row, Alpha=alpha)
        for alpha in (0.1, 0.2)
    ]
    large = {"DataType": "FLOAT32", "Sizes": [1, 2**21]}
    of_large = valid("DML_OPERATOR_ACTIVATION_RELU", InputTensor=large, OutputTensor=large)
    assert all(limits.asks_for_causes(relu, off()) for _ in range(3))
    limits.once_a_kind = True
    assert limits.asks_for_causes(of_large, off())  # none is found
    assert [limits.asks_for_causes(desc, off()) for desc in (relu, relu, of_other_sizes)] == [True, False, False]
    assert limits.asks_for_causes(relu, off(mismatches=0, unlikely=1))
    assert [limits.asks_for_causes(desc, off()) for desc in (*leaky, *leaky)] == [True, True, False, False]
    limits.guesses = False
    assert not limits.asks_for_causes(leaky[0], off(unlikely=1))
