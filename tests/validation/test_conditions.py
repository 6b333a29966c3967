"""When a row of a spec applies, and to what: levels, fields and values, tensors and nested operators."""

from __future__ import annotations

from typing import Any

import pytest
from five_operators import GOOD_ARG, LEVELS
from made_operator import tensor, with_rows

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import Constraint
from dmlcheck.validation import check
from dmlcheck.validation.conditions import evaluate, free_names, nested, of_values, tensors_of

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


# ---- the expressions of constraint rows: what they compute with, and what may not stand in them


SUBJECT = OperatorDesc.of(
    load_spec("DML_OPERATOR_ARGMAX"),
    {"InputTensor": TensorDesc("FLOAT32", (2, 3, 4)), "Axes": (0, 2), "AxisCount": 2},
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("AxisCount", 2),
        ("AxisCount + 1", 3),
        ("AxisCount * 3 - 1", 5),
        ("7 // AxisCount % 2", 1),
        ("-AxisCount", -2),
        ("Axes[1]", 2),
        ("Axes[1:]", (2,)),
        ("InputTensor.Sizes[Axes[1]]", 4),
        ("InputTensor.DimensionCount", 3),
        ("[i * 2 for i in range(3)]", [0, 2, 4]),
        ("[i for i in InputTensor.Sizes if i > 2]", [3, 4]),
        ("[1 if i in Axes else InputTensor.Sizes[i] for i in range(3)]", [1, 3, 1]),
        ("max(InputTensor.Sizes) + min(Axes) + abs(-1) + len(Axes) + sum(i for i in Axes)", 4 + 0 + 1 + 2 + 2),
        ("1 < AxisCount <= 2 and not AxisCount == 3 or AxisCount != 2", True),
        ("1 not in Axes and AxisCount >= 2", True),
    ],
)
def test_an_expression_computes_with_the_fields(expression: str, expected: Any) -> None:
    assert evaluate(expression, SUBJECT) == expected


@pytest.mark.parametrize(
    "expression",
    ["OutputTensor.Sizes[0]", "Nothing + 1", "Axes[2]", "InputTensor.Sizes[3]", "[Axes[i] for i in range(9)]"],
)
def test_an_expression_over_what_is_not_there_has_no_value(expression: str) -> None:
    assert evaluate(expression, SUBJECT) is None


def test_an_expression_over_values_has_operators_of_arrays_and_functions_of_its_own() -> None:
    function, names = of_values("most(x, y ** 2) & ~z | 1", {"most": max})
    assert (names, function(5, 3, 8)) == (("x", "y", "z"), (9 & ~8) | 1)
    with pytest.raises(ValueError, match=r"^MatMult may not stand in a constraint: "):
        of_values("x @ y", {})


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("lambda: 1", "Lambda"),
        ("(x := 1)", "NamedExpr"),
        ("{1: 2}", "Dict"),
        ("{1, 2}", "Set"),
        ("f'{AxisCount}'", "JoinedStr"),
        ("{i for i in Axes}", "SetComp"),
        ("{i: i for i in Axes}", "DictComp"),
        ("max(Axes, key=abs)", "keyword"),
        ("2 ** AxisCount", "Pow"),
        ("AxisCount ^ 2", "BitXor"),
        ("AxisCount << 2", "LShift"),
        ("AxisCount & 1", "BitAnd"),
        ("~AxisCount", "Invert"),
        ("+AxisCount", "UAdd"),
        ("AxisCount is None", "Is"),
        ("AxisCount @ 2", "MatMult"),
        ("Axes.__class__", "__class__"),
    ],
)
def test_what_is_not_allowed_in_an_expression_is_refused(expression: str, what: str) -> None:
    with pytest.raises(ValueError, match=f"^{what} may not stand in a constraint: "):
        evaluate(expression, SUBJECT)


@pytest.mark.parametrize("expression", ["import os", "x = 1", "del Axes", "1; 2", "", "(", "for i in Axes: i", "yield"])
def test_what_is_not_an_expression_is_refused(expression: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        evaluate(expression, SUBJECT)


@pytest.mark.parametrize(
    "expression", ["__import__('os')", "open('x')", "eval('1')", "print(1)", "globals()", "getattr(Axes, 'x')"]
)
def test_functions_of_python_are_fields_that_no_desc_has(expression: str) -> None:
    assert evaluate(expression, SUBJECT) is None


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("AxisCount + 1", {"AxisCount"}),
        ("[Axes[i] * k for k in range(len(Strides))]", {"Axes", "i", "Strides"}),
        ("prod(InputTensor.Sizes)", {"InputTensor"}),
        ("3", set()),
    ],
)
def test_the_names_of_an_expression_are_those_that_it_takes_from_outside(expression: str, names: set[str]) -> None:
    assert free_names(expression) == names


def test_a_number_stands_for_itself_and_i_for_the_number_of_a_dimension() -> None:
    assert [evaluate(claim, SUBJECT, 1) for claim in (2.5, "i + 1", "InputTensor.Sizes[i]")] == [2.5, 2, 3]
    assert evaluate("i + 1", SUBJECT) is None
