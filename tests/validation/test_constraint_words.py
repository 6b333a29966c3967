"""The constraint words, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from made_operator import NESTED, desc, read, tensor

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.validation import constraint_words, value_words

pytestmark = pytest.mark.usefixtures("made_operators")
ARGMAX = load_spec("DML_OPERATOR_ARGMAX")


def argmax(**values: Any) -> OperatorDesc:
    return OperatorDesc.of(ARGMAX, values)


def sized(*sizes: int, data_type: str = "FLOAT32") -> TensorDesc:
    return TensorDesc(data_type, sizes)


def both(first: TensorDesc, second: TensorDesc) -> OperatorDesc:
    return argmax(InputTensor=first, OutputTensor=second)


def check(word: str, subject: OperatorDesc, args: Any) -> list[Finding]:
    return list(constraint_words.WORDS[word](subject, args))


def places_of(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule, pointer(finding.path)) for finding in findings]


BOTH = ["InputTensor", "OutputTensor"]


def test_words_about_the_values_of_tensors_say_nothing_of_a_desc() -> None:
    assert set(constraint_words.VALUE_WORDS) == set(value_words.WORDS)
    for word in constraint_words.VALUE_WORDS:
        assert check(word, argmax(InputTensor=sized(1)), {"InputTensor": [0, 1]}) == []


@pytest.mark.slow
def test_every_constraint_of_every_spec_uses_a_word_that_there_is() -> None:
    words = [row.word for operator in operator_names() for row in load_spec(operator).constraints]
    assert words != []
    assert set(words) <= set(constraint_words.WORDS)


def test_tensors_of_one_data_type_have_the_same_one() -> None:
    assert check("same_data_type", both(sized(1), sized(2, 3)), BOTH) == []


def test_the_order_of_the_names_decides_which_tensor_is_at_fault() -> None:
    subject = both(sized(1), sized(1, data_type="INT8"))
    assert places_of(check("same_data_type", subject, ["OutputTensor", "InputTensor"])) == [
        ("data-type-mismatch", "InputTensor.DataType")
    ]


def test_what_a_level_does_not_take_is_no_model() -> None:
    subject = both(sized(1, data_type="INT4"), sized(1, data_type="INT8"))._replace(
        refused=frozenset([("InputTensor", "DataType")])
    )
    (finding,) = check("same_data_type", subject, BOTH)
    assert (finding.path, finding.claim.limit) == (("InputTensor", "DataType"), ("INT8",))


@pytest.mark.parametrize(("first", "second"), [((1,), (9,)), ((2, 3), (3, 2)), ((1,) * 8, (2,) * 8)])
def test_tensors_with_as_many_dimensions_have_the_same_count(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert check("same_dimension_count", both(sized(*first), sized(*second)), BOTH) == []


def test_tensors_of_equal_sizes_have_the_same_ones() -> None:
    assert check("same_sizes", both(sized(2, 3, 4), sized(2, 3, 4)), BOTH) == []


def test_sizes_of_another_dimension_count_are_left_to_another_word() -> None:
    assert check("same_sizes", both(sized(2, 3), sized(2, 3, 4)), BOTH) == []


REDUCED = {"OutputTensor": "1 if i in Axes else InputTensor.Sizes[i]"}


@pytest.mark.parametrize(
    ("axes", "output"),
    [((), (2, 3, 4)), ((0,), (1, 3, 4)), ((2, 0), (1, 3, 1)), ((0, 1, 2), (1, 1, 1)), ((1, 1), (2, 1, 4))],
)
def test_reduced_sizes_are_1_and_the_others_the_inputs(axes: tuple[int, ...], output: tuple[int, ...]) -> None:
    assert check("sizes", argmax(InputTensor=sized(2, 3, 4), OutputTensor=sized(*output), Axes=axes), REDUCED) == []


@pytest.mark.parametrize("name", ["InputTensor", "OutputTensor", "Axes"])
def test_sizes_that_cannot_be_computed_are_left_to_others(name: str) -> None:
    values = {"InputTensor": sized(2), "OutputTensor": sized(3), "Axes": ()}
    values.pop(name)
    assert check("sizes", argmax(**values), REDUCED) == []


def test_an_output_with_more_dimensions_than_the_input_is_left_to_another_word() -> None:
    assert check("sizes", argmax(InputTensor=sized(2), OutputTensor=sized(3, 3), Axes=()), REDUCED) == []


def test_axes_from_0_to_the_last_dimension_are_within() -> None:
    subject = argmax(InputTensor=sized(1, 1, 1), Axes=(0, 2, 1, 2))
    assert check("axes_within", subject, {"Axes": "InputTensor"}) == []


def test_a_single_axis_is_checked_as_itself() -> None:
    assert check("axes_within", argmax(InputTensor=sized(1, 1), Axes=1), {"Axes": "InputTensor"}) == []
    findings = check("axes_within", argmax(InputTensor=sized(1, 1), Axes=2), {"Axes": "InputTensor"})
    assert places_of(findings) == [("axis-out-of-range", "Axes")]


def test_axes_of_a_tensor_that_is_not_there_are_left_alone() -> None:
    assert check("axes_within", argmax(Axes=(9,)), {"Axes": "InputTensor"}) == []
    assert check("axes_within", argmax(InputTensor=sized(1)), {"Axes": "InputTensor"}) == []


@pytest.mark.parametrize("axes", [(), (0,), (2, 0, 1)])
def test_axes_that_differ_are_distinct(axes: tuple[int, ...]) -> None:
    assert check("distinct_axes", argmax(Axes=axes), ["Axes"]) == []


def test_each_repetition_of_an_axis_is_named_with_the_first() -> None:
    findings = check("distinct_axes", argmax(Axes=(1, 0, 1, 1, 0)), ["Axes"])
    assert [(pointer(finding.path), finding.params["first"]) for finding in findings] == [
        ("Axes[2]", "Axes[0]"),
        ("Axes[3]", "Axes[0]"),
        ("Axes[4]", "Axes[1]"),
    ]
    assert findings[0].rule == "duplicate-axis"
    assert findings[0].message == "Axes[2] is 1, the axis that Axes[0] names already"


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (1, 2, 3), (1, 1, 1, 1, 1, 1, 2, 3), (1,) * 8])
def test_leading_sizes_of_1_do_not_count(sizes: tuple[int, ...]) -> None:
    assert check("effective_dimension_count_at_most", argmax(InputTensor=sized(*sizes)), {"InputTensor": 2}) == []


@pytest.mark.parametrize(
    ("word", "args"),
    [
        ("same_data_type", BOTH), ("same_dimension_count", BOTH), ("same_sizes", BOTH), ("sizes", REDUCED),
        ("axes_within", {"Axes": "InputTensor"}), ("distinct_axes", ["Axes"]),
        ("effective_dimension_count_at_most", {"InputTensor": 2}),
    ],
)  # fmt: skip
def test_a_word_says_nothing_of_fields_that_are_not_there(word: str, args: Any) -> None:
    assert check(word, argmax(), args) == []


# ---- over fields of every type, on an operator made for it


def places(word: str, args: Any, **fields: Any) -> list[tuple[str, str]]:
    """Return what a word finds in a desc: rules and places."""
    return [(finding.rule, pointer(finding.path)) for finding in constraint_words.WORDS[word](desc(**fields), args)]


# ---- words about sizes

SIZE = "size-mismatch"
JOINED = {"whole": "A", "parts": "Parts", "axis": "Axis"}
LAST = [5, "A.Sizes[1]"]


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("sizes", {"B": [4, None, "A.Sizes[1] * 2"]}, {"B": tensor(4, 9, 12)}, []),
        ("sizes", {"B": [4, None, "A.Sizes[1] * 2"]}, {"B": tensor(5, 9, 6)}, ["B.Sizes[0]", "B.Sizes[2]"]),
        ("sizes", {"B": [4, None]}, {"B": tensor(5)}, []),
        ("sizes", {"B": ["half", "quarter"]}, {"B": tensor(2, 1)}, []),
        ("sizes", {"B": ["half", "quarter"]}, {"B": tensor(2, 2)}, ["B.Sizes[1]"]),
        ("sizes", {"Parts": "A.Sizes[i]"}, {"Parts": [tensor(4, 6), tensor(4, 5)]}, ["Parts[1].Sizes[1]"]),
        ("sizes", {"B": [4]}, {}, []),
        ("sizes_are", {"B": "(1, *A.Sizes)"}, {"B": tensor(1, 4, 6)}, []),
        ("sizes_are", {"B": "(1, *A.Sizes)"}, {"B": tensor(2, 4, 7)}, ["B.Sizes[0]", "B.Sizes[2]"]),
        ("sizes_are", {"B": "(1, *A.Sizes)"}, {"B": tensor(4, 6)}, []),
        ("sizes_are", {"B": "Out.Sizes"}, {"B": tensor(4, 6)}, []),
        ("right_aligned_sizes", {"B": [None, "A.Sizes[1]"]}, {"B": tensor(1, 1, 9, 6)}, []),
        ("right_aligned_sizes", {"B": [None, "A.Sizes[1]"]}, {"B": tensor(6)}, []),
        ("right_aligned_sizes", {"B": [1, "A.Sizes[1]"]}, {"B": tensor(6)}, []),
        ("right_aligned_sizes", {"B": LAST}, {"B": tensor(2, 4, 5)}, ["B.Sizes[0]", "B.Sizes[1]", "B.Sizes[2]"]),
        ("broadcastable", {"A": ["B", "Out"]}, {"B": tensor(1, 6), "Out": tensor(4, 1)}, []),
        ("broadcastable", {"A": ["B"]}, {"B": tensor(2, 6)}, ["B.Sizes[0]"]),
        ("broadcastable", {"B": ["A"]}, {}, []),
        ("same_sizes", ["A", "B"], {"B": tensor(4, 5)}, ["B.Sizes[1]"]),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4, 2), tensor(4, 4)]}, []),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4, 2), tensor(4, 3)]}, ["A.Sizes[1]"]),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4, 2), tensor(3, 4)]}, ["Parts[1].Sizes[0]"]),
        ("joined_along", JOINED, {"Axis": 2, "Parts": [tensor(4, 2)]}, []),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4)]}, []),
        ("joined_along", JOINED, {"Axis": 1}, []),
    ],
)  # fmt: skip
def test_words_about_sizes(word: str, args: Any, fields: dict[str, Any], expected: list[str]) -> None:
    assert places(word, args, **fields) == [(SIZE, place) for place in expected]


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("element_count", {"B": 1}, {"B": tensor(1, 1)}, []),
        ("element_count", {"B": 1}, {"B": tensor(1, 2)}, [("size-mismatch", "B.Sizes")]),
        ("element_count", {"B": "half"}, {"B": tensor(2)}, []),
        ("dimension_count", {"B": "A.DimensionCount"}, {"B": tensor(1, 1)}, []),
        ("dimension_count", {"B": "A.DimensionCount"}, {"B": tensor(1)}, [("rank-mismatch", "B.Sizes")]),
        ("data_type", {"B": ["UINT8", "INT64"]}, {"B": tensor(1, data_type="INT64")}, []),
        ("data_type", {"B": ["UINT8"]}, {"B": tensor(1)}, [("data-type-mismatch", "B.DataType")]),
        ("data_type", {"Parts": ["UINT8"]}, {"Parts": [tensor(1)]}, [("data-type-mismatch", "Parts[0].DataType")]),
        ("right_aligned_sizes", {"B": [4, 6]}, {"B": tensor(6)}, [("rank-mismatch", "B.Sizes")]),
        ("data_type_of", {"Kind": "A"}, {"Kind": "FLOAT32"}, []),
        ("data_type_of", {"Kind": "A"}, {"Kind": "FLOAT16"}, [("data-type-mismatch", "Kind")]),
        ("data_type_of", {"Kind": "A"}, {}, []),
        ("holds", {"A": "A.Sizes[0] > A.Sizes[1]"}, {}, [("size-mismatch", "A.Sizes")]),
        ("holds", {"A.DataType": "A.DataType == 'UINT8'"}, {}, [("data-type-mismatch", "A.DataType")]),
        ("holds", {"A.DataType": "A.DataType == 'FLOAT32'"}, {}, []),
        ("not_owned_by_dml", ["A", "B"], {"B": tensor(1)}, []),
        ("not_owned_by_dml", ["A", "B"], {"B": tensor(1, Flags="OWNED_BY_DML")}, [("invalid-flags", "B.Flags")]),
    ],
)
def test_words_about_tensors(word: str, args: Any, fields: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert places(word, args, **fields) == expected


# ---- words about the values of fields


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("at_least", {"Axis": 2}, {"Axis": 2}, []),
        ("at_least", {"Axis": 2}, {"Axis": 1}, ["Axis"]),
        ("at_least", {"Windows": 1}, {"Windows": [1, 0, 2, 0]}, ["Windows[1]", "Windows[3]"]),
        ("at_least", {"Alpha": 0}, {"Alpha": "nan"}, ["Alpha"]),
        ("at_least", {"Scale.Height": 1}, {"Scale": {"Width": 0, "Height": 0}}, ["Scale.Height"]),
        ("at_least", {"Axis": 2}, {}, []),
        ("at_most", {"Windows": "A.Sizes[i]"}, {"Windows": [4, 6]}, []),
        ("at_most", {"Windows": "A.Sizes[i]"}, {"Windows": [5, 7]}, ["Windows[0]", "Windows[1]"]),
        ("at_most", {"Windows": "A.Sizes[i]"}, {"Windows": [1, 1, 99]}, []),
        ("between", {"Alpha": [0, 1]}, {"Alpha": 1.0}, []),
        ("between", {"Alpha": [0, 1]}, {"Alpha": 1.5}, ["Alpha"]),
        ("between", {"Alpha": [0, 1]}, {"Alpha": -0.5}, ["Alpha"]),
        ("between", {"Axis": ["half", "A.Sizes[0]"]}, {"Axis": 1}, ["Axis"]),
        ("value", {"Axis": "A.DimensionCount"}, {"Axis": 2}, []),
        ("value", {"Axis": "A.DimensionCount"}, {"Axis": 3}, ["Axis"]),
        ("value", {"Count": "A.DimensionCount"}, {"Windows": [1]}, ["Windows"]),
        ("value", {"Count": "A.DimensionCount"}, {"Windows": [1], "Count": 1}, ["Count"]),
        ("value", {"ScaleBias.Scale": 1}, {"ScaleBias": {"Scale": 2, "Bias": 1}}, ["ScaleBias.Scale"]),
        ("value", {"ScaleBias.Bias": 1}, {"ScaleBias": {"Scale": 2, "Bias": 1}}, []),
        ("value", {"ScaleBias.Scale": 1}, {}, []),
        ("at_most", {"Fused.Steepness": 2}, {"Fused": {"Type": NESTED, "Steepness": 3}}, ["Fused.Steepness"]),
        (
            "at_most",
            {"Fused.Steepness": 2},
            {"Fused": {"Type": NESTED, "Desc": {"Steepness": 3}}},
            ["Fused.Desc.Steepness"],
        ),
        ("at_most", {"Fused.Steepness": 2}, {"Fused": {"Type": NESTED, "Steepness": 2}}, []),
        ("at_most", {"Fused.Axes": 2}, {"Fused": {"Type": NESTED, "Steepness": 3}}, []),
        ("one_of", {"Axis": [1, 3]}, {"Axis": 3}, []),
        ("one_of", {"Axis": [1, 3]}, {"Axis": 2}, ["Axis"]),
        ("one_of", {"Mode": ["EDGE"]}, {"Mode": "EDGE"}, []),
        ("one_of", {"Mode": ["EDGE"]}, {"Mode": "CONSTANT"}, ["Mode"]),
        ("not_zero", ["Strides"], {"Strides": [1, -1]}, []),
        ("not_zero", ["Strides"], {"Strides": [1, 0]}, ["Strides[1]"]),
        ("holds", {"A": "A.Sizes[0] < A.Sizes[1]"}, {}, []),
        ("holds", {"Axis": "Axis < 1"}, {"Axis": 1}, ["Axis"]),
        ("holds", {"Axis": "Axis > B.Sizes[0]"}, {"Axis": 0}, []),
        ("axes_within", {"Axis": "A"}, {"Axis": 1}, []),
        ("unchecked", "needs the values", {}, []),
    ],
)
def test_words_about_values(word: str, args: Any, fields: dict[str, Any], expected: list[str]) -> None:
    assert places(word, args, **fields) == [("value-out-of-range", place) for place in expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"Fused": {"Type": NESTED, "Steepness": 1}}, ["Fused.Type"]),
        ({"Many": [{"Type": NESTED, "Steepness": 1}]}, []),
    ],
)
def test_operators_inside_others_are_those_of_a_list(fields: dict[str, Any], expected: list[str]) -> None:
    claim = {"Fused": ["ACTIVATION_RELU"], "Many": ["NESTED_FOR_TESTS"]}
    assert places("operators", claim, **fields) == [("value-out-of-range", place) for place in expected]


# ---- words about what is there


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("required", ["Axis", "Mode"], {"Axis": 1}, [("missing-field", "Mode")]),
        ("required", ["B"], {"B": tensor(1)}, []),
        ("excluded", ["Axis", "B"], {"B": tensor(1)}, [("excluded-field", "B")]),
        ("excluded", ["Axis"], {}, []),
        ("some_of", ["B", "Out"], {}, [("missing-field", "B")]),
        ("some_of", ["B", "Out"], {"Out": tensor(1)}, []),
        ("all_or_none", ["B", "Out"], {}, []),
        ("all_or_none", ["B", "Out"], {"B": tensor(1), "Out": tensor(1)}, []),
        ("all_or_none", ["B", "Out"], {"Out": tensor(1)}, [("missing-field", "B")]),
    ],
)
def test_words_about_what_is_there(
    word: str, args: Any, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert places(word, args, **fields) == expected


def test_a_wrong_operator_inside_a_field_is_named() -> None:
    (found,) = check("holds", read(Fused={"Type": NESTED, "Steepness": 1})[0], {"Fused": "Fused.spec.short == 'OTHER'"})
    assert found.params["found"] == NESTED


@pytest.mark.parametrize("word", ["required", "some_of", "all_or_none"])
def test_a_field_that_is_wrong_in_itself_is_not_missing(word: str) -> None:
    subject, findings = read(B={"DataType": "FLOAT32"}, Out=tensor(1))
    assert findings != []
    assert list(constraint_words.WORDS[word](subject, ["B", "Out"])) == []
