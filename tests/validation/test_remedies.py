"""What would make a desc right."""

from __future__ import annotations

from typing import Any

import pytest
from valid_descs import convolution, product, tensor

from dmlcheck.diagnostics.wording import counted
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate

CONVOLUTION = convolution([1, 3, 8, 8], [64, 3, 3, 3], [1, 64, 6, 6])
GEMM = product([1, 1, 2, 3], [1, 1, 3, 4], [1, 1, 2, 4], Beta=1)
ARGMAX = {
    "InputTensor": tensor(2, 3),
    "OutputTensor": {**tensor(2, 1), "DataType": "UINT32"},
    "AxisDirection": "INCREASING",
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
    assert finding.help == f"no feature level accepts {counted(len(sizes), 'dimension')}; write {fitting}"
    assert validate(f"DML_OPERATOR_{operator}", {**raw, name: tensor(*fitting)}, NEWEST_LEVEL)[1] == []


ADD = {"ATensor": tensor(2, 3), "BTensor": tensor(2, 3), "OutputTensor": tensor(2, 3)}
REDUCE = {"Function": "SUM", "InputTensor": tensor(2, 3, 4), "OutputTensor": tensor(2, 1, 4), "Axes": [1]}
JOIN = {"InputTensors": [tensor(2), tensor(3)], "OutputTensor": tensor(5), "Axis": 0}
RESAMPLE = {
    "InputTensor": tensor(1, 1, 2, 2),
    "OutputTensor": tensor(1, 1, 4, 4),
    "InterpolationMode": "NEAREST_NEIGHBOR",
    "Scales": [1, 1, 2, 2],
}
CLIP = {"InputTensor": tensor(2), "OutputTensor": tensor(2), "MinMaxDataType": "FLOAT32", "Min": 0, "Max": 1}


def help_of(operator: str, raw: dict[str, Any], rule: str, level: str = NEWEST_LEVEL) -> str | None:
    """Return the help of the first finding of a rule."""
    _, findings = validate(f"DML_OPERATOR_{operator}", raw, level)
    return next(one for one in findings if one.rule == rule).help


@pytest.mark.parametrize(
    ("operator", "raw", "help"),
    [
        ("ELEMENT_WISE_ADD", {**ADD, "BTensor": tensor(3)}, "to repeat it, write Sizes: [2, 3], Strides: [0, 1]"),
        ("ELEMENT_WISE_ADD", {**ADD, "BTensor": tensor(2)}, "to repeat it, write Sizes: [2, 3], Strides: [1, 0]"),
        ("ELEMENT_WISE_ADD", {**ADD, "BTensor": tensor(4)}, None),
        ("ELEMENT_WISE_ADD", {**ADD, "OutputTensor": tensor(3)}, None),  # elements of an output have their own places
        (
            "REDUCE",
            {**REDUCE, "OutputTensor": tensor(2, 4)},
            "leave reduced dimensions in place, with size 1: write [2, 1, 4]",
        ),
    ],
)
def test_a_tensor_of_too_few_dimensions_is_told_its_sizes(operator: str, raw: dict[str, Any], help: str | None) -> None:
    assert help_of(operator, raw, "rank-mismatch") == help


def test_axes_count_the_dimensions_that_are_added() -> None:
    help = help_of("JOIN", JOIN, "unsupported-dimension-count", "2_1")
    assert str(help).endswith("; below it, add leading dimensions of size 1 to rank 4, and write Axis: 3")


def test_a_count_that_a_row_fixes_is_right_where_its_array_is_not() -> None:
    wrong = {**RESAMPLE, "Scales": [1, 2, 2]}
    assert help_of("RESAMPLE", {**wrong, "ScaleCount": 4}, "count-mismatch") == "give Scales 4 elements"
    assert (
        help_of("RESAMPLE", {**RESAMPLE, "ScaleCount": 3}, "count-mismatch")
        == "write 4, or leave ScaleCount out; or give Scales 3 elements"
    )


def test_a_type_for_both_is_one_for_the_fields_that_name_it() -> None:
    half = {"DataType": "FLOAT16", "Sizes": [2]}
    help = help_of("ELEMENT_WISE_CLIP1", {**CLIP, "InputTensor": half}, "data-type-mismatch")
    assert help == "use FLOAT16 for both, and for MinMaxDataType"


def test_nothing_is_tried_for_very_many_tensors() -> None:
    many = {**JOIN, "InputTensors": [tensor(1)] * 500, "OutputTensor": tensor(500)}
    help = help_of("JOIN", many, "unsupported-dimension-count", "2_1")
    assert help is not None
    assert "dimensions" not in help


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
    assert helps == ["no feature level accepts 1 dimension; write [1, 64, 1, 1]"]
