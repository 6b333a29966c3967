"""What would make a desc right."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate


def tensor(*sizes: int) -> dict[str, Any]:
    return {"DataType": "FLOAT32", "Sizes": list(sizes)}


CONVOLUTION = {
    "InputTensor": tensor(1, 3, 8, 8),
    "FilterTensor": tensor(64, 3, 3, 3),
    "OutputTensor": tensor(1, 64, 6, 6),
    "Mode": "CROSS_CORRELATION",
    "Direction": "FORWARD",
    "Strides": [1, 1],
    "Dilations": [1, 1],
    "StartPadding": [0, 0],
    "EndPadding": [0, 0],
    "OutputPadding": [0, 0],
    "GroupCount": 1,
}
ARGMAX = {
    "InputTensor": tensor(2, 3),
    "OutputTensor": {**tensor(2, 1), "DataType": "UINT32"},
    "AxisDirection": "INCREASING",
}
GEMM = {
    "ATensor": tensor(1, 1, 2, 3),
    "BTensor": tensor(1, 1, 3, 4),
    "OutputTensor": tensor(1, 1, 2, 4),
    "TransA": "NONE",
    "TransB": "NONE",
    "Alpha": 1,
    "Beta": 1,
}


@pytest.mark.parametrize(
    ("operator", "raw", "name", "sizes", "fitting"),
    [
        ("CONVOLUTION", CONVOLUTION, "BiasTensor", [64], [1, 64, 1, 1]),
        ("CONVOLUTION", CONVOLUTION, "FilterTensor", [3, 3], None),  # no place of 1 makes 64 filters of 3 channels
        ("GEMM", GEMM, "BTensor", [4], None),
    ],
)
def test_sizes_that_fit_are_told_and_are_right(
    operator: str, raw: dict[str, Any], name: str, sizes: list[int], fitting: list[int] | None
) -> None:
    _, findings = validate(f"DML_OPERATOR_{operator}", {**raw, name: tensor(*sizes)}, NEWEST_LEVEL)
    (finding,) = [one for one in findings if one.rule == "unsupported-dimension-count"]
    if fitting is None:
        assert "write [" not in str(finding.help)
        return
    assert finding.help == f"no feature level accepts that many; write {fitting}"
    assert validate(f"DML_OPERATOR_{operator}", {**raw, name: tensor(*fitting)}, NEWEST_LEVEL)[1] == []


@pytest.mark.parametrize(
    ("axis", "help"),
    [
        (-1, "axes count from 0 to 1: write 1"),
        (-2, "axes count from 0 to 1: write 0"),
        (-3, "axes count from 0 to 1"),
        ("x", None),
        (2**32, None),
    ],
)
def test_an_axis_below_0_is_advised_with_the_one_that_it_stands_for(axis: object, help: str | None) -> None:
    (finding,) = validate("ARGMAX", {**ARGMAX, "Axes": [axis]}, NEWEST_LEVEL)[1]
    assert (finding.rule, finding.help) == ("field-type", help)


def test_sizes_are_advised_beside_another_mistake() -> None:
    desc = {**CONVOLUTION, "BiasTensor": tensor(64), "GroupCount": 2}  # 2 does not divide the 3 channels
    helps = [finding.help for finding in validate("CONVOLUTION", desc, NEWEST_LEVEL)[1] if "Bias" in finding.message]
    assert helps == ["no feature level accepts that many; write [1, 64, 1, 1]"]
