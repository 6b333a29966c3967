"""The constraint words, one by one, and the expressions that they may hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.validation import constraint_words

ARGMAX = load_spec("DML_OPERATOR_ARGMAX")


def desc(**values: Any) -> OperatorDesc:
    return OperatorDesc.of(ARGMAX, values)


def tensor(*sizes: int, data_type: str = "FLOAT32") -> TensorDesc:
    return TensorDesc(data_type, sizes)


def both(first: TensorDesc, second: TensorDesc) -> OperatorDesc:
    return desc(InputTensor=first, OutputTensor=second)


def check(word: str, subject: OperatorDesc, args: Any) -> list[Finding]:
    return list(constraint_words.WORDS[word](subject, args))


def places(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule, pointer(finding.path)) for finding in findings]


BOTH = ["InputTensor", "OutputTensor"]


def test_the_words_are_these() -> None:
    assert set(constraint_words.WORDS) >= {
        "same_data_type", "same_dimension_count", "same_sizes", "sizes", "axes_within", "distinct_axes",
        "effective_dimension_count_at_most",
    }  # fmt: skip


def test_every_constraint_of_every_spec_uses_a_word_that_there_is() -> None:
    words = [row.word for operator in operator_names() for row in load_spec(operator).constraints]
    assert words != []
    assert set(words) <= set(constraint_words.WORDS)


# ---- same_data_type


def test_tensors_of_one_data_type_have_the_same_one() -> None:
    assert check("same_data_type", both(tensor(1), tensor(2, 3)), BOTH) == []


def test_tensors_of_two_data_types_do_not_have_the_same_one() -> None:
    (finding,) = check("same_data_type", both(tensor(1), tensor(1, data_type="FLOAT16")), BOTH)
    assert places([finding]) == [("data-type-mismatch", "OutputTensor.DataType")]
    assert finding.message == "OutputTensor is FLOAT16, and InputTensor is FLOAT32"
    assert finding.help == "use FLOAT32 for both"


def test_the_order_of_the_names_decides_which_tensor_is_at_fault() -> None:
    subject = both(tensor(1), tensor(1, data_type="INT8"))
    assert places(check("same_data_type", subject, ["OutputTensor", "InputTensor"])) == [
        ("data-type-mismatch", "InputTensor.DataType")
    ]


def test_each_tensor_of_an_array_is_compared_with_the_first() -> None:
    several = (tensor(1), tensor(1, data_type="INT8"), tensor(1), tensor(1, data_type="INT4"))
    subject = desc(InputTensor=several, OutputTensor=tensor(1, data_type="UINT8"))
    assert places(check("same_data_type", subject, BOTH)) == [
        ("data-type-mismatch", "InputTensor[1].DataType"),
        ("data-type-mismatch", "InputTensor[3].DataType"),
        ("data-type-mismatch", "OutputTensor.DataType"),
    ]


# ---- same_dimension_count


@pytest.mark.parametrize(("first", "second"), [((1,), (9,)), ((2, 3), (3, 2)), ((1,) * 8, (2,) * 8)])
def test_tensors_with_as_many_dimensions_have_the_same_count(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert check("same_dimension_count", both(tensor(*first), tensor(*second)), BOTH) == []


@pytest.mark.parametrize(
    ("first", "second", "message", "help"),
    [
        (
            (2, 3),
            (2,),
            "OutputTensor has 1 dimension, and InputTensor has 2",
            "add dimensions of size 1 to rank 2",
        ),
        ((2,), (2, 3), "OutputTensor has 2 dimensions, and InputTensor has 1", None),
        (
            (1,) * 8,
            (1,) * 7,
            "OutputTensor has 7 dimensions, and InputTensor has 8",
            "add dimensions of size 1 to rank 8",
        ),
    ],
)
def test_tensors_with_other_dimension_counts_do_not(
    first: tuple[int, ...], second: tuple[int, ...], message: str, help: str | None
) -> None:
    (finding,) = check("same_dimension_count", both(tensor(*first), tensor(*second)), BOTH)
    assert places([finding]) == [("rank-mismatch", "OutputTensor.Sizes")]
    assert (finding.message, finding.help) == (message, help)


# ---- same_sizes


def test_tensors_of_equal_sizes_have_the_same_ones() -> None:
    assert check("same_sizes", both(tensor(2, 3, 4), tensor(2, 3, 4)), BOTH) == []


def test_every_size_that_differs_is_named() -> None:
    findings = check("same_sizes", both(tensor(2, 3, 4), tensor(2, 1, 5)), BOTH)
    assert places(findings) == [("size-mismatch", "OutputTensor.Sizes[1]"), ("size-mismatch", "OutputTensor.Sizes[2]")]
    assert findings[0].message == "OutputTensor.Sizes[1] is 1; it must be 3"


def test_sizes_of_another_dimension_count_are_left_to_another_word() -> None:
    assert check("same_sizes", both(tensor(2, 3), tensor(2, 3, 4)), BOTH) == []


# ---- sizes

REDUCED = {"OutputTensor": "1 if i in Axes else InputTensor.Sizes[i]"}


@pytest.mark.parametrize(
    ("axes", "output"),
    [((), (2, 3, 4)), ((0,), (1, 3, 4)), ((2, 0), (1, 3, 1)), ((0, 1, 2), (1, 1, 1)), ((1, 1), (2, 1, 4))],
)
def test_reduced_sizes_are_1_and_the_others_the_inputs(axes: tuple[int, ...], output: tuple[int, ...]) -> None:
    assert check("sizes", desc(InputTensor=tensor(2, 3, 4), OutputTensor=tensor(*output), Axes=axes), REDUCED) == []


def test_each_size_that_does_not_follow_is_named() -> None:
    findings = check("sizes", desc(InputTensor=tensor(2, 3, 4), OutputTensor=tensor(2, 2, 1), Axes=(0,)), REDUCED)
    assert [(pointer(finding.path), finding.params["found"], finding.params["expected"]) for finding in findings] == [
        ("OutputTensor.Sizes[0]", 2, 1),
        ("OutputTensor.Sizes[1]", 2, 3),
        ("OutputTensor.Sizes[2]", 1, 4),
    ]


@pytest.mark.parametrize("name", ["InputTensor", "OutputTensor", "Axes"])
def test_sizes_that_cannot_be_computed_are_left_to_others(name: str) -> None:
    values = {"InputTensor": tensor(2), "OutputTensor": tensor(3), "Axes": ()}
    values.pop(name)
    assert check("sizes", desc(**values), REDUCED) == []


def test_an_output_with_more_dimensions_than_the_input_is_left_to_another_word() -> None:
    assert check("sizes", desc(InputTensor=tensor(2), OutputTensor=tensor(3, 3), Axes=()), REDUCED) == []


# ---- axes_within


def test_axes_from_0_to_the_last_dimension_are_within() -> None:
    subject = desc(InputTensor=tensor(1, 1, 1), Axes=(0, 2, 1, 2))
    assert check("axes_within", subject, {"Axes": "InputTensor"}) == []


def test_each_axis_past_the_last_dimension_is_named() -> None:
    findings = check("axes_within", desc(InputTensor=tensor(1, 1, 1), Axes=(3, 0, 2**32 - 1)), {"Axes": "InputTensor"})
    assert places(findings) == [("axis-out-of-range", "Axes[0]"), ("axis-out-of-range", "Axes[2]")]
    assert findings[0].message == "Axes[0] is 3, and InputTensor has dimensions 0 to 2"
    assert findings[1].message == "Axes[2] is 4294967295, and InputTensor has dimensions 0 to 2"


def test_a_single_axis_is_checked_as_itself() -> None:
    assert check("axes_within", desc(InputTensor=tensor(1, 1), Axes=1), {"Axes": "InputTensor"}) == []
    findings = check("axes_within", desc(InputTensor=tensor(1, 1), Axes=2), {"Axes": "InputTensor"})
    assert places(findings) == [("axis-out-of-range", "Axes")]


def test_axes_of_a_tensor_that_is_not_there_are_left_alone() -> None:
    assert check("axes_within", desc(Axes=(9,)), {"Axes": "InputTensor"}) == []
    assert check("axes_within", desc(InputTensor=tensor(1)), {"Axes": "InputTensor"}) == []


# ---- distinct_axes


@pytest.mark.parametrize("axes", [(), (0,), (2, 0, 1)])
def test_axes_that_differ_are_distinct(axes: tuple[int, ...]) -> None:
    assert check("distinct_axes", desc(Axes=axes), ["Axes"]) == []


def test_each_repetition_of_an_axis_is_named_with_the_first() -> None:
    findings = check("distinct_axes", desc(Axes=(1, 0, 1, 1, 0)), ["Axes"])
    assert [(pointer(finding.path), finding.params["first"]) for finding in findings] == [
        ("Axes[2]", "Axes[0]"),
        ("Axes[3]", "Axes[0]"),
        ("Axes[4]", "Axes[1]"),
    ]
    assert findings[0].rule == "duplicate-axis"
    assert findings[0].message == "Axes[2] is 1, the axis that Axes[0] names already"


# ---- effective_dimension_count_at_most


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (1, 2, 3), (1, 1, 1, 1, 1, 1, 2, 3), (1,) * 8])
def test_leading_sizes_of_1_do_not_count(sizes: tuple[int, ...]) -> None:
    assert check("effective_dimension_count_at_most", desc(InputTensor=tensor(*sizes)), {"InputTensor": 2}) == []


@pytest.mark.parametrize(
    ("sizes", "at"), [((2, 1, 1), [0]), ((1, 2, 2, 3), [1]), ((4, 1, 5, 1, 1), [0, 2]), ((1, 1, 3, 1, 1), [2])]
)
def test_any_other_leading_size_counts(sizes: tuple[int, ...], at: list[int]) -> None:
    findings = check("effective_dimension_count_at_most", desc(InputTensor=tensor(*sizes)), {"InputTensor": 2})
    assert places(findings) == [("size-mismatch", f"InputTensor.Sizes[{axis}]") for axis in at]
    assert findings[0].message == f"InputTensor.Sizes[{at[0]}] is {sizes[at[0]]}; it must be 1"


@pytest.mark.parametrize(
    ("word", "args"),
    [
        ("same_data_type", BOTH), ("same_dimension_count", BOTH), ("same_sizes", BOTH), ("sizes", REDUCED),
        ("axes_within", {"Axes": "InputTensor"}), ("distinct_axes", ["Axes"]),
        ("effective_dimension_count_at_most", {"InputTensor": 2}),
    ],
)  # fmt: skip
def test_a_word_says_nothing_of_fields_that_are_not_there(word: str, args: Any) -> None:
    assert check(word, desc(), args) == []


# ---- expressions

SUBJECT = desc(InputTensor=tensor(2, 3, 4), Axes=(0, 2), AxisCount=2)


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
    assert constraint_words.evaluate(expression, SUBJECT) == expected


@pytest.mark.parametrize(
    "expression",
    ["OutputTensor.Sizes[0]", "Nothing + 1", "Axes[2]", "InputTensor.Sizes[3]", "[Axes[i] for i in range(9)]"],
)
def test_an_expression_over_what_is_not_there_has_no_value(expression: str) -> None:
    assert constraint_words.evaluate(expression, SUBJECT) is None


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
        constraint_words.evaluate(expression, SUBJECT)


@pytest.mark.parametrize("expression", ["import os", "x = 1", "del Axes", "1; 2", "", "(", "for i in Axes: i", "yield"])
def test_what_is_not_an_expression_is_refused(expression: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        constraint_words.evaluate(expression, SUBJECT)


@pytest.mark.parametrize(
    "expression", ["__import__('os')", "open('x')", "eval('1')", "print(1)", "globals()", "getattr(Axes, 'x')"]
)
def test_functions_of_python_are_fields_that_no_desc_has(expression: str) -> None:
    assert constraint_words.evaluate(expression, SUBJECT) is None
