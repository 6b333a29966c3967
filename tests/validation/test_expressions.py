"""The expressions of constraint rows: what they compute with, and what may not stand in them."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.load import load_spec
from dmlcheck.validation.expressions import evaluate, free_names, of_values

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
