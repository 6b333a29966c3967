"""When a row of a spec applies, and to what: levels, fields and values, tensors and nested operators."""

from __future__ import annotations

from typing import Any

import pytest
from five_operators import GOOD_ARG, LEVELS
from made_operator import tensor, with_rows

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.records import Constraint
from dmlcheck.validation import check
from dmlcheck.validation.conditions import nested, tensors_of

pytestmark = pytest.mark.usefixtures("made_operators")


def levels_that_find(rule: str, desc: dict[str, Any], *constraints: Constraint) -> list[str]:
    """Return the levels at which a rule is broken by a desc of ARGMAX that has other rows."""
    made, findings = read_desc("ARGMAX", desc)
    assert made is not None
    reading = Reading(made._replace(spec=made.spec._replace(constraints=constraints)), findings)
    return [level for level in LEVELS if rule in {finding.rule for finding in check(reading, level)}]


TWICE = {**GOOD_ARG, "Axes": [1, 1]}
DISTINCT = Constraint("X1", "No axis is named twice.", "distinct_axes", ["Axes"])


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, None, LEVELS),
        ("4_0", None, LEVELS[5:]),
        (None, "4_0", LEVELS[:5]),
        ("2_1", "5_1", LEVELS[2:8]),
        ("6_4", None, ["6_4"]),
        ("1_0", None, LEVELS),
        (None, "1_0", []),
        ("5_0", "5_0", []),
    ],
)
def test_a_row_applies_since_a_level_and_until_below_another(
    since: str | None, until: str | None, expected: list[str]
) -> None:
    row = DISTINCT._replace(since=since, until=until)
    assert levels_that_find("duplicate-axis", TWICE, row) == expected


@pytest.mark.parametrize(
    ("when", "unless", "direction", "applies"),
    [
        (("INCREASING",), None, "INCREASING", True),
        (("INCREASING",), None, "DECREASING", False),
        (("INCREASING", "DECREASING"), None, "DECREASING", True),
        (None, ("INCREASING",), "INCREASING", False),
        (None, ("INCREASING",), "DECREASING", True),
        (("DECREASING",), ("INCREASING",), "DECREASING", True),
        (("INCREASING",), None, None, False),
        (None, ("INCREASING",), None, False),
    ],
)
def test_a_row_applies_when_a_field_has_a_value_and_not_unless_it_has(
    when: tuple[str, ...] | None, unless: tuple[str, ...] | None, direction: str | None, applies: bool
) -> None:
    row = DISTINCT._replace(
        when=None if when is None else {"AxisDirection": when},
        unless=None if unless is None else {"AxisDirection": unless},
    )
    found = levels_that_find("duplicate-axis", {**TWICE, "AxisDirection": direction}, row)
    assert found == (LEVELS if applies else [])


def test_a_row_is_silent_where_the_row_that_it_builds_on_is_broken() -> None:
    within = Constraint("X0", "Every axis is a dimension.", "axes_within", {"Axes": "InputTensor"})
    rows = (within, DISTINCT._replace(given=("X0",)))
    assert levels_that_find("duplicate-axis", TWICE, *rows) == LEVELS
    assert levels_that_find("duplicate-axis", {**TWICE, "Axes": [2, 2]}, *rows) == []
    assert levels_that_find("axis-out-of-range", {**TWICE, "Axes": [2, 2]}, *rows) == LEVELS


@pytest.mark.parametrize(
    ("condition", "fields", "applies"),
    [
        ({"present": ["B"]}, {"B": tensor(4, 6)}, True),
        ({"present": ["B"]}, {}, False),
        ({"absent": ["B"]}, {}, True),
        ({"absent": ["B"]}, {"B": tensor(4, 6)}, False),
        ({"when": {"Flag": [True]}}, {"Flag": True}, True),
        ({"when": {"Flag": [True]}}, {"Flag": False}, False),
        ({"unless": {"Mode": ["EDGE"]}}, {"Mode": "EDGE"}, False),
        ({"unless": {"Mode": ["EDGE"]}}, {"Mode": "CONSTANT"}, True),
        ({"unless": {"Mode": ["EDGE"]}}, {}, True),
        ({"when": {"A": ["UINT8"]}}, {"A": tensor(4, 6, data_type="UINT8")}, True),
        ({"when": {"A": ["UINT8"]}}, {}, False),
        ({"when": {"DataType": ["FLOAT32"]}}, {"Out": tensor(4, 6)}, True),  # that of the first output
        ({"when": {"DataType": ["UINT8"]}}, {"Out": tensor(4, 6)}, False),
        ({"unless": {"A": ["UINT8"]}}, {"A": tensor(4, 6, data_type="UINT8")}, False),
    ],
)
def test_a_row_applies_under_its_conditions(condition: dict[str, Any], fields: dict[str, Any], applies: bool) -> None:
    row = {"id": "C1", "text": "A has 9 rows.", "sizes": {"A": [9, None]}, **condition}
    found = [pointer(finding.path) for finding in check(with_rows(row, **fields), "6_4")]
    assert found == (["desc.A.Sizes[0]"] if applies else [])


def test_a_misspelt_field_is_not_told_by_the_rows_as_missing_or_left_out() -> None:
    rows = [
        {"id": "C1", "text": "B is given.", "required": ["B"]},
        {"id": "C2", "text": "Both or none.", "all_or_none": ["Out", "B"]},
        {"id": "C3", "text": "Without B, Axis is 0.", "value": {"Axis": 0}, "absent": ["B"]},
    ]
    (finding,) = check(with_rows(*rows, Axis=2, Out=tensor(1), b=tensor(1)), "6_4")
    assert (finding.rule, finding.path) == ("unknown-field", ("desc", "b"))


TENSOR = {"DataType": "FLOAT32", "Sizes": [2, 3]}


def desc_of(operator: str, raw: dict[str, Any]) -> OperatorDesc:
    desc = read_desc(operator, raw).desc
    assert desc is not None
    return desc


def test_operators_inside_another_come_with_their_paths() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
    fused = {"Type": "ACTIVATION_RELU"}
    desc = desc_of("ELEMENT_WISE_ADD1", {**dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), tensor)})
    assert list(nested(desc)) == []
    desc = desc_of("ELEMENT_WISE_ADD1", {"FusedActivation": fused})
    assert [(path, inner.spec.short) for path, inner in nested(desc)] == [(("FusedActivation",), "ACTIVATION_RELU")]
    desc = desc_of("RNN", {"ActivationDescs": [fused, {"Type": "ACTIVATION_TANH"}]})
    assert [path for path, _ in nested(desc)] == [("ActivationDescs", 0), ("ActivationDescs", 1)]


def test_tensors_are_found_by_the_name_of_their_field_and_by_their_label() -> None:
    desc = desc_of("SPLIT", {"InputTensor": TENSOR, "OutputTensors": [TENSOR, TENSOR], "Axis": 0})
    assert [part.label for part in tensors_of(desc, "OutputTensors")] == ["OutputTensors[0]", "OutputTensors[1]"]
    assert [part.path for part in tensors_of(desc, "OutputTensors[1]")] == [("OutputTensors", 1)]
    assert tensors_of(desc, "OutputTensors[2]") == ()
    assert [part.label for part in tensors_of(desc, "InputTensor")] == ["InputTensor"]
