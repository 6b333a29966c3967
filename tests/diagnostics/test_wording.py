"""How messages say things: values, figures, names that were meant."""

from __future__ import annotations

from itertools import permutations

import pytest

from dmlcheck.diagnostics.wording import (
    braces,
    brackets,
    brief,
    closest,
    counted,
    cut,
    describe,
    did_you_mean,
    dimension_counts_text,
    dimensions_text,
    error_text,
    figure,
    first_few,
    is_misspelling,
    is_or_are,
    misspelt,
    plural,
    pointer,
    share_text,
    size_text,
    unknown_names,
)
from dmlcheck.files.document import Overflow
from dmlcheck.specs.load import load_spec, operator_names


def test_a_path_is_printed_as_people_write_it() -> None:
    assert pointer(("desc", "Axes", 0)) == "desc.Axes[0]"
    assert pointer(("outputs", "OutputTensor", 1, 2)) == "outputs.OutputTensor[1][2]"
    assert pointer(()) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        ("abc", "'abc'"),
        ({}, "a mapping"),
        ([], "an empty list"),
        ([1, 2], "a list of 2"),
        (3.5, "3.5"),
        (Overflow("1e999"), "1e999"),
        ("x" * 100, "'" + "x" * 57 + "...'"),
    ],
)
def test_a_value_is_described_in_a_few_words(value: object, expected: str) -> None:
    assert describe(value) == expected


def test_a_misspelt_name_finds_the_closest() -> None:
    known = ["InputTensor", "OutputTensor", "Axes", "AxisDirection"]
    assert closest("axes", known) == "Axes"
    assert did_you_mean("AxisDirektion", known) == "did you mean AxisDirection?"
    assert did_you_mean("Exponent", known) is None


def test_the_first_unknown_names_come_with_what_may_be_meant_or_with_all_that_is_known() -> None:
    known = ["cases", "reason"]
    assert list(unknown_names({"case": 0, "reason": "", "x": 0}, known)) == [
        ("case", "did you mean cases?"),
        ("x", "its keys are cases, reason"),
    ]
    assert len(list(unknown_names(dict.fromkeys(map(str, range(100))), known))) == 20


def test_a_misspelt_key_stands_for_one_that_is_not_there() -> None:
    known = ["InputTensor", "OutputTensor", "Axes"]
    assert misspelt({"InputTensr": {}, "OutputTensor": {}, "Axis": [0]}, known) == {
        "InputTensr": "InputTensor",
        "Axis": "Axes",
    }
    assert misspelt({"inputtensor": {}, "InputTensor": None}, known) == {"inputtensor": "InputTensor"}
    assert misspelt({"InputTensr": {}, "InputTensor": {}, "Function": "SUM"}, known) == {}
    assert misspelt({"InputTensor": {}, "Axes": [0]}, known) == {}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("InputTensr", "InputTensor"),
        ("InpuutTensor", "InputTensor"),
        ("InputTesnor", "InputTensor"),
        ("inputTensor", "InputTensor"),
        ("input_tensor", "InputTensor"),
        ("AxisDirektoin", "AxisDirection"),
        ("Axis", "Axes"),
        ("Stride", "Strides"),
        ("feature-level", "feature_level"),
    ],
)
def test_another_case_or_a_wrong_letter_or_two_in_a_word_is_a_misspelling(word: str, name: str) -> None:
    assert is_misspelling(word, name)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("ATensor", "BTensor"),
        ("Beta1", "Beta2"),
        ("InputTensor", "OutputTensor"),
        ("InputGradientTensor", "OutputGradientTensor"),
        ("InputScaleTensor", "InputStateTensor"),
        ("MaximumSamplesPerOutput", "MinimumSamplesPerOutput"),
        ("Min", "Max"),
        ("Axis", "AxisDirection"),
        ("Input", "InputTensor"),
        ("Shape", "Sizes"),
        ("", "Axes"),
        ("A" * 100_000, "Axes"),
    ],
)
def test_another_name_is_no_misspelling(word: str, name: str) -> None:
    assert not is_misspelling(word, name)


@pytest.mark.slow
def test_no_field_of_an_operator_is_a_misspelling_of_another_of_its_fields() -> None:
    for operator in operator_names():
        fields = load_spec(operator).fields
        assert not [pair for pair in permutations(fields, 2) if is_misspelling(*pair)]


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1234567, "1,234,567 cases")]
)
def test_a_number_of_things_is_counted_in_singular_or_plural(number: int, expected: str) -> None:
    assert counted(number, "case") == expected


def test_nouns_and_verbs_agree_with_their_number() -> None:
    assert [plural(number, "error") for number in (0, 1, 2)] == ["errors", "error", "errors"]
    assert [is_or_are(number) for number in (0, 1, 2)] == ["are", "is", "are"]


def test_a_text_is_cut_only_where_it_is_too_long() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abc..."


def test_sizes_stand_in_braces_and_places_in_brackets() -> None:
    assert braces((2, 3)) == "{2, 3}"
    assert braces(()) == "{}"
    assert brackets((0, 10)) == "[0, 10]"
    assert brackets(()) == "[]"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Axes": [0, 1], "On": True}, "{Axes: [0, 1], On: true}"),
        ([[1.5], "text"], "[[1.5], text]"),
        (list(range(1000)), "[" + ", ".join(map(str, range(1000)))[:156] + "..."),
    ],
)
def test_a_value_is_written_briefly_as_a_case_file_has_it(value: object, expected: str) -> None:
    assert brief(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (0.12345, "0.123"),
        (1.0, "1"),
        (1.0000001, "1.000001"),
        (1.0012, "1.0012"),
        (2.5, "2.5"),
        (123.4, "123"),
        (123456789012345.0, "123456789012345"),
        (2.1267e37, "2.13e+37"),
        (1e300, "1e+300"),
        (2**64 - 1, "18446744073709551615"),
        (float("inf"), "infinite"),
        (1.7976931348623157e308, "infinite"),
    ],
)
def test_a_figure_is_short_and_never_says_1_of_what_is_more_than_1(value: float, expected: str) -> None:
    assert figure(value) == expected


def test_floats_are_off_by_ulp_and_integers_by_a_number() -> None:
    assert error_text(2.5, "FLOAT16") == "2.5 ULP"
    assert error_text(0.5, "FLOAT16", is_unrounded=True) == "0.5 ULP from the unrounded result"
    assert error_text(1.7976931348623157e308, "FLOAT16", is_unrounded=True) == "infinite ULP"
    assert error_text(3, "UINT32") == "off by 3"
    assert error_text(3017373352682495228, "INT64") == "off by 3017373352682495228"


def test_memory_is_said_in_gib() -> None:
    assert size_text(3 * 2**29) == "1.5 GiB"


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        ((4,), "4"),
        ((4, 5), "4 or 5"),
        ((1, 2, 3, 4, 5, 6, 7, 8), "1 to 8"),
        ((3, 4, 5), "3 to 5"),
        ((2, 4, 8), "2 or 4 or 8"),
    ],
)
def test_dimension_counts_are_written_as_people_write_them(dims: tuple[int, ...], text: str) -> None:
    assert dimension_counts_text(dims) == text


def test_dimensions_are_counted_in_words() -> None:
    assert [dimensions_text(count) for count in (0, 1, 2)] == ["0 dimensions", "1 dimension", "2 dimensions"]


def test_a_merge_key_is_told_from_a_misspelt_one() -> None:
    ((name, help),) = unknown_names({"<<": {}, "Axes": [0]}, ["Axes", "K"])
    assert (name, help.startswith("YAML 1.2 has no merge keys")) == ("<<", True)


def test_the_key_of_an_operator_in_a_dxdispatch_model_is_known() -> None:
    given = {"type": "DML_OPERATOR_ARGMAX", "desc": {}}
    assert list(unknown_names(given, ("operator", "desc"))) == [("type", "did you mean operator?")]
    assert misspelt(given, ("operator", "desc")) == {"type": "operator"}
    assert misspelt({**given, "operator": "ARGMAX"}, ("operator", "desc")) == {}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.2, "20 % of the tolerance"),
        (0.0309, "3.09 % of the tolerance"),
        (1.0, "100 % of the tolerance"),
        (1.5, "1.5 times the tolerance"),
        (72944.0, "72944 times the tolerance"),
    ],
)
def test_a_share_is_a_percentage_up_to_all_of_the_tolerance(share: float, text: str) -> None:
    assert share_text(share) == text


def test_of_many_words_the_first_few_are_named() -> None:
    assert first_few("abc", 3) == "a, b, c"
    assert first_few("abcd", 3, " + ") == "a + b + c and 1 more"
    assert first_few(["x"] * 2002, 2) == "x, x and 2,000 more"
