"""FLOAT32 denormals that an implementation flushes, where results jump at 0: as right as those that it keeps."""

from __future__ import annotations

import math
from typing import Any

import pytest
from judged import case_of, giving, result_of

NAN = math.nan
SMALL = 1e-40  # below 2^-126, 1.2e-38


def outcome(operator: str, inputs: list[float], found: float, data_type: str = "FLOAT32", **fields: Any) -> str:
    """Return how a strict run ends of an operator of single elements, when an implementation gives `found`."""
    names = ["InputTensor"] if len(inputs) == 1 else ["ATensor", "BTensor"]
    tensor = {"DataType": data_type, "Sizes": [1]}
    desc = {**dict.fromkeys([*names, "OutputTensor"], tensor), **fields}
    values = {name: [value] for name, value in zip(names, inputs, strict=True)}
    return result_of(case_of(operator, desc, values), giving(found, is_directml=False), is_strict=True).outcome


JUMPS: list[tuple[str, list[float], float, float, float, dict[str, Any]]] = [
    ("ELEMENT_WISE_CEIL", [SMALL], 1, 0, 0.5, {}),
    ("ELEMENT_WISE_FLOOR", [-SMALL], -1, 0, -0.5, {}),
    ("ELEMENT_WISE_SIGN", [SMALL], 1, 0, 0.5, {}),
    ("ELEMENT_WISE_SIGN", [-SMALL], -1, 0, 1, {}),
    ("ACTIVATION_RELU", [SMALL], SMALL, 0, 2e-40, {}),
    ("ELEMENT_WISE_MAX", [SMALL, -1], SMALL, 0, 2e-40, {}),
    ("ELEMENT_WISE_MIN", [SMALL, 1], SMALL, 0, 2e-40, {}),
    ("ELEMENT_WISE_CLIP", [SMALL], SMALL, 0, 2e-40, {"Min": -1, "Max": 1}),
    ("ELEMENT_WISE_CLIP1", [SMALL], SMALL, 0, 2e-40, {"MinMaxDataType": "FLOAT32", "Min": -1, "Max": 1}),
    ("ELEMENT_WISE_SQRT", [-SMALL], NAN, 0, 1e-3, {}),
    ("ELEMENT_WISE_CONSTANT_POW", [-SMALL], NAN, 0, 1e-3, {"Exponent": 0.5}),
]


@pytest.mark.parametrize(("operator", "inputs", "kept", "flushed", "wrong", "fields"), JUMPS)
def test_both_sides_of_a_jump_are_right_and_nothing_else(
    operator: str, inputs: list[float], kept: float, flushed: float, wrong: float, fields: dict[str, Any]
) -> None:
    assert outcome(operator, inputs, kept, **fields) == "passed"
    assert outcome(operator, inputs, flushed, **fields) == "passed"
    assert outcome(operator, inputs, wrong, **fields) == "failed"


def test_denormals_of_float16_are_kept() -> None:
    assert outcome("ELEMENT_WISE_CEIL", [2.0**-20], 1, "FLOAT16") == "passed"
    assert outcome("ELEMENT_WISE_CEIL", [2.0**-20], 0, "FLOAT16") == "failed"
