"""One desc at one level, at all levels, and the lowest level that accepts it."""

from __future__ import annotations

from typing import Any

import made_operator
import pytest
from five_operators import LEVELS, X4, arg, hardmax, reduce, tensor

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.validation import check, minimum_level, validate

pytestmark = pytest.mark.usefixtures("made_operators")


def places(operator: str, desc: Any, level: str) -> set[tuple[str, str]]:
    return {(finding.rule, pointer(finding.path)) for finding in validate(operator, desc, level)[1]}


LOWEST: list[tuple[str, dict[str, Any], str | None]] = [
    ("ARGMAX", arg("FLOAT32", "UINT32", 3, 3), "3_0"),
    ("ARGMAX", arg("UINT8", "INT64", *X4), "3_0"),
    ("ARGMAX", arg("INT64", "UINT32", 3, 3), "4_1"),
    ("ARGMAX", arg("UINT64", "INT32", 1, 1, 1, 1, 1, 1, 2, 3), "4_1"),
    ("ARGMAX", arg("FLOAT64", "UINT32", 3, 3), None),
    ("ARGMAX", arg("FLOAT32", "UINT16", 3, 3), None),
    ("ARGMIN", arg("FLOAT16", "UINT64", 5), "3_0"),
    ("ARGMIN", arg("INT64", "INT64", 5), "4_1"),
    ("ARGMIN", arg("INT4", "INT32", 5), None),
    ("REDUCE", reduce("ARGMAX", "FLOAT32", *X4, output="UINT32"), "1_0"),
    ("REDUCE", reduce("ARGMIN", "INT8", *X4, output="UINT32"), "2_1"),
    ("REDUCE", reduce("ARGMIN", "FLOAT32", *X4, output="INT32"), "3_0"),
    ("REDUCE", reduce("ARGMAX", "FLOAT32", 2, 3, output="UINT32"), "3_0"),
    ("REDUCE", reduce("ARGMAX", "UINT64", *X4, output="UINT32"), "4_1"),
    ("REDUCE", reduce("ARGMAX", "FLOAT32", *X4, output="FLOAT32"), None),
    ("REDUCE", reduce("AVERAGE", "FLOAT16", *X4), "1_0"),
    ("REDUCE", reduce("L2", "FLOAT32", 3), "3_0"),
    ("REDUCE", reduce("LOG_SUM", "INT32", *X4), None),
    ("REDUCE", reduce("LOG_SUM_EXP", "FLOAT32", 1, 1, 1, 2, 3), "3_0"),
    ("REDUCE", reduce("L1", "FLOAT32", *X4), "1_0"),
    ("REDUCE", reduce("L1", "INT32", *X4), "5_0"),
    ("REDUCE", reduce("SUM_SQUARE", "UINT64", 2, 3), "5_0"),
    ("REDUCE", reduce("SUM_SQUARE", "INT16", 2, 3), None),
    ("REDUCE", reduce("MIN", "INT32", *X4), "2_1"),
    ("REDUCE", reduce("MIN", "INT32", 2, 3), "3_0"),
    ("REDUCE", reduce("MAX", "UINT8", *X4), "3_0"),
    ("REDUCE", reduce("MAX", "INT64", *X4), "5_0"),
    ("REDUCE", reduce("MAX", "UINT4", *X4), None),
    ("REDUCE", reduce("SUM", "UINT32", *X4), "2_1"),
    ("REDUCE", reduce("SUM", "UINT32", 1, *X4), "3_0"),
    ("REDUCE", reduce("MULTIPLY", "INT64", *X4), "5_0"),
    ("REDUCE", reduce("SUM", "INT8", *X4), None),
    ("REDUCE", reduce("SUM", "FLOAT32", 1, 1, 1, 1, 1, *X4), None),
    ("REDUCE", reduce("SUM", "FLOAT32", *X4, output="FLOAT16"), None),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", *X4), "1_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT16", 1, *X4), "2_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", 7), "3_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", 1, 1, 1, 1, *X4), "3_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", 2, 1, 2, 3), None),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT64", *X4), None),
    ("ACTIVATION_HARDMAX1", hardmax("FLOAT32", 2, 2, 2, 3, axes=[0, 3]), "5_1"),
    ("ACTIVATION_HARDMAX1", hardmax("INT32", 2, 3, axes=[1]), None),
    ("ACTIVATION_HARDMAX1", hardmax("FLOAT32", 2, 3, axes=[2]), None),
]


def test_a_desc_is_accepted_from_its_lowest_level_on_and_refused_below() -> None:
    for operator, desc, lowest in LOWEST:
        reading = read_desc("DML_OPERATOR_" + operator, desc)
        refused = [validate(operator, desc, level)[1] for level in LEVELS]
        good = [] if lowest is None else LEVELS[LEVELS.index(lowest) :]
        assert minimum_level(reading) == lowest
        assert [level for level, found in zip(LEVELS, refused, strict=True) if not found] == good
        assert [check(reading, level) for level in LEVELS] == refused


@pytest.mark.parametrize(
    ("operator", "desc"),
    [
        ("ARGMAXX", arg("FLOAT32", "UINT32", 3)),
        ("ARGMAX", None),
        ("ARGMAX", {}),
        ("ARGMAX", {**arg("FLOAT32", "UINT32", 3), "AxisCount": 2}),
        ("ARGMAX", {**arg("FLOAT32", "UINT32", 3), "AxisDirection": "UP"}),
        ("ARGMAX", {**arg("FLOAT32", "UINT32", 3), "Extra": 1}),
        ("REDUCE", {**reduce("SUM", "FLOAT32", 2, 3), "Axes": [1, 1]}),
    ],
)
def test_a_desc_that_is_wrong_in_itself_has_no_lowest_level(operator: str, desc: Any) -> None:
    assert minimum_level(read_desc(operator, desc)) is None


def test_a_desc_of_a_wrong_operator_is_not_read_at_any_level() -> None:
    desc, findings = validate("ARGMAXX", {}, "6_4")
    assert desc is None
    assert [finding.rule for finding in findings] == ["unknown-operator"]


# ---- operators of a higher level


@pytest.mark.parametrize(
    ("operator", "desc", "level", "came", "older"),
    [
        ("ARGMAX", arg("FLOAT32", "UINT32", 3), "2_1", "DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)", "REDUCE"),
        ("ARGMIN", arg("FLOAT32", "UINT32", 3), "1_0", "DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)", "REDUCE"),
        (
            "ACTIVATION_HARDMAX1",
            hardmax("FLOAT32", 3, axes=[0]),
            "5_0",
            "DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0)",
            "ACTIVATION_HARDMAX",
        ),
    ],
)
def test_an_operator_that_came_later_is_told_when_and_what_it_supersedes(
    operator: str, desc: Any, level: str, came: str, older: str
) -> None:
    (finding,) = [found for found in validate(operator, desc, level)[1] if found.path == ("operator",)]
    assert finding.rule == "operator-unavailable"
    assert finding.message == f"DML_OPERATOR_{operator} does not exist at DML_FEATURE_LEVEL_{level}"
    assert finding.help == (
        f"it came with {came}; DML_OPERATOR_{older}, which it supersedes, exists from DML_FEATURE_LEVEL_1_0"
    )


def test_an_operator_inside_another_must_exist_at_the_level() -> None:
    raw = {"A": made_operator.tensor(4, 6), "Fused": {"Type": made_operator.LATER, "Steepness": 1}}
    _, (finding,) = validate(made_operator.OPERATOR, raw, "5_0")
    assert (finding.rule, pointer(finding.path)) == ("operator-unavailable", "desc.Fused.Type")
    assert finding.help == "it came with DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0)"
    assert minimum_level(read_desc(made_operator.OPERATOR, raw)) == "5_1"


# ---- all findings


@pytest.mark.parametrize("name", ["Function", "InputTensor", "OutputTensor", "Axes"])
def test_a_missing_field_is_the_only_thing_said_of_it(name: str) -> None:
    desc = {**reduce("SUM", "FLOAT32", 2, 3), "OutputTensor": tensor("INT64", 2, 1)}
    del desc[name]
    found = places("REDUCE", desc, "4_1")
    assert ("missing-field", f"desc.{name}") in found
    assert all(rule == "missing-field" or not path.startswith(f"desc.{name}") for rule, path in found)
    # Without the function, neither the table nor the unless of C4 can be told.
    if name == "Function":
        assert found == {("missing-field", "desc.Function")}
