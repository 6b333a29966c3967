"""The page of an operator, and the lists of all."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from commandline import dmlcheck

from dmlcheck.inspection.operator_pages import formula_texts, operator_record
from dmlcheck.reports.layout import printed
from dmlcheck.reports.operator_page import errata_lines, operator_lines, operators_lines
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import Erratum, OperatorSpec

SPEC = load_spec("DML_OPERATOR_ARGMAX")


def page(spec: OperatorSpec) -> list[str]:
    return list(printed(operator_lines(operator_record(spec)), None))


def test_a_page_has_every_section_that_its_spec_has() -> None:
    lines = page(SPEC)
    assert lines[0] == "DML_OPERATOR_ARGMAX   from DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)"
    titles = [title for before, title in pairwise(lines) if before == ""]
    assert titles[:3] == ["Fields", "Support", "Constraints"]
    assert "Errata: errors and gaps of Microsoft's page" not in page(SPEC._replace(errata=()))
    bare = SPEC._replace(constraints=(), tolerance=(), undefined=(), errata=(), support=(), let={})
    assert not {"Support", "Constraints", "Tolerance"} & set(page(bare))


def section(operator: str, title: str) -> list[str]:
    lines = [*page(load_spec(operator)), ""]
    start = lines.index(title) + 1
    return lines[start : lines.index("", start)]


def test_an_operator_shows_its_formula_and_what_the_names_in_it_are() -> None:
    assert section("DML_OPERATOR_ACTIVATION_SIGMOID", "Formula") == ["  1 / (1 + exp(-x))."]
    formula, names = section("DML_OPERATOR_CONVOLUTION_INTEGER", "Formula")
    assert formula.startswith("  The sum over c and w of (Input[c, i] - InputZeroPoint) * ")
    assert names.startswith("  i = o * Strides + w * Dilations - StartPadding; ")
    assert section("DML_OPERATOR_LSTM", "Formula")[:3] == [
        "  H(t) = ot . h(C(t)) and C(t) = ft . C(t-1) + it . gt.",
        "  it = f(clip(X(t) Wi^T + H(t-1) Ri^T + Pi . C(t-1) + Wbi + Rbi)).",
        "  ft = f(clip(X(t) Wf^T + H(t-1) Rf^T + Pf . C(t-1) + Wbf + Rbf)); with CoupleInputForget, ft = 1 - it.",
    ]
    assert "Formula" not in page(load_spec("DML_OPERATOR_ELEMENT_WISE_EXP"))


def test_an_operator_that_rounds_shows_the_functions_in_its_formula() -> None:
    derived, divide, exp, *published = section("DML_OPERATOR_ACTIVATION_SIGMOID", "Tolerance")
    assert "the rounding of each operation in FLOAT32 (FLOAT16 with `--accumulate float16`)" in derived
    assert divide.strip().startswith("divide: 4.5 ULP (HLSL, div (sm4 - asm): ")
    assert exp.strip().startswith("exp: 4 ULP, and 1 ULP of the operand (HLSL, exp (sm4 - asm): ")
    assert published
    assert all(line.startswith("  -   ") for line in published)


@pytest.mark.parametrize(("operator", "is_said"), [("GEMM", True), ("LSTM", True), ("RESAMPLE", False)])
def test_an_operator_with_sums_of_products_shows_which_inputs_may_be_accepted(operator: str, *, is_said: bool) -> None:
    text = " ".join(section(f"DML_OPERATOR_{operator}", "Tolerance"))
    assert (
        "FLOAT32 factors in sums of products: not rounded; rounded to TF32 or BFLOAT16 with `--input-precision tf32`"
        in text
    ) is is_said


@pytest.mark.parametrize("operator", ["ARGMAX", "CAST", "MATRIX_MULTIPLY_INTEGER"])
def test_an_operator_whose_results_are_exact_shows_no_rounding(operator: str) -> None:
    (exact,) = section(f"DML_OPERATOR_{operator}", "Tolerance")
    assert exact.startswith("  -   exact (")


def test_an_operator_whose_integers_are_exact_shows_the_rounding_of_floats() -> None:
    derived, *_, exact = section("DML_OPERATOR_ELEMENT_WISE_ADD", "Tolerance")
    assert derived.startswith("  -   floats: the rounding of each operation in FLOAT32")
    assert exact.startswith("  -   exact (integers are exact")


def test_a_field_says_what_it_is_and_where_it_follows_from() -> None:
    lines = page(SPEC)
    (count,) = (line for line in lines if line.startswith("  AxisCount "))
    assert "optional UINT" in count
    assert count.endswith("Follows from Axes when left out.")
    (direction,) = (line for line in lines if line.startswith("  AxisDirection "))
    assert "DML_AXIS_DIRECTION" in direction
    assert "One of INCREASING DECREASING." in direction


def test_the_rows_of_a_support_table_stand_newest_first_under_their_level() -> None:
    lines = page(SPEC)
    start = lines.index("Support")
    assert [line.split()[0] for line in lines[start + 2 : start + 6]] == ["4_1", "OutputTensor", "3_0", "OutputTensor"]
    assert "4_1 and above  InputTensor   1 to 8" in lines[start + 2]


def test_every_operator_has_a_page() -> None:
    for name in operator_names():
        assert page(load_spec(name))[0].startswith(name)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [79, 99])
def test_every_page_fits_a_terminal_and_no_name_is_cut(columns: int) -> None:
    for name in operator_names():
        spec = load_spec(name)
        lines = [
            line
            for made in (lambda spec: operator_lines(operator_record(spec)), lambda spec: errata_lines([spec]))
            for line in printed(made(spec), columns)
        ]
        assert [line for line in lines if len(line) > columns] == []
        words = {word for line in lines for word in line.split()}
        assert {spec.operator, *spec.fields, *(row.id for row in spec.constraints)} <= words


def test_errata_are_told_with_what_is_correct_and_what_that_rests_on() -> None:
    first = Erratum("E1", "error", "says A", "B is right", "header", measured=True, source="DirectML.h")
    second = Erratum("E2", "silence", "is silent", "C is right", "our decision", measured=False)
    third = Erratum(
        "E3", "error", "says D", "E is right", "measured", measured=True, source="DirectML 1.4.0, 2026-11-29"
    )
    spec = SPEC._replace(errata=(first, second, third))
    assert list(printed(errata_lines([spec, SPEC._replace(errata=())]), None)) == [
        f"DML_OPERATOR_ARGMAX   {SPEC.page['url']}",
        "  E1  Microsoft's page (error): says A",
        "      Correct: B is right",
        "      Basis: header, measured",
        "      Source: DirectML.h",
        "  E2  Microsoft's page (silence): is silent",
        "      Correct: C is right",
        "      Basis: our decision, not measured",
        "  E3  Microsoft's page (error): says D",
        "      Correct: E is right",
        "      Basis: measured",
        "      Source: DirectML 1.4.0, 2026-11-29",
    ]
    assert [line for line in page(spec) if "B is right" in line] == ["      Correct: B is right"]


def test_of_all_operators_each_has_a_line() -> None:
    assert list(printed(operators_lines([SPEC, SPEC._replace(operator="DML_OPERATOR_X")]), None)) == [
        "operator             from",
        "DML_OPERATOR_ARGMAX  3_0",
        "DML_OPERATOR_X       3_0",
    ]


def test_a_formula_does_not_repeat_what_is_undefined() -> None:
    said = [line for name in operator_names() for line in formula_texts(name) if re.search(r"\bopen\b|ndefined", line)]
    assert said == []


def test_no_sentence_of_a_spec_has_two_words_for_one_thing() -> None:
    """The glossary: valid, undefined, tolerance. Messages, rules and keys are not sentences of a spec."""
    other = re.compile(r"\b(left open|leaves? open|unspecified|legal|accepted|decided here|[Bb]ounds?|holds?)\b")
    texts = ((name, text) for name in operator_names() for text in sentences(load_spec(name)))
    assert [(name, text) for name, text in texts if other.search(text)] == []


def test_the_text_of_a_field_names_it_by_a_noun() -> None:
    abouts = [field.about for name in operator_names() for field in load_spec(name).fields.values() if field.about]
    assert len(abouts) > 800
    assert [text for text in abouts if text.startswith("What ")] == []


def sentences(spec: OperatorSpec) -> list[str]:
    """Return all that the authors of a spec wrote in words."""
    return [
        *(field.about for field in spec.fields.values()),
        *(row.text for row in spec.constraints),
        *(row.help or "" for row in spec.constraints),
        *(text for row in spec.undefined for text in (row.condition, row.reason, *row.outcomes, row.reference)),
        *(row.source for row in spec.tolerance),
        *(text for row in spec.errata for text in (row.page, row.correct, row.source)),
        *(text for row in spec.differences for text in (row.text, row.source)),
    ]


def test_equal_numbers_of_dimensions_have_one_wording() -> None:
    rows = [
        row.text
        for name in operator_names()
        for row in load_spec(name).constraints
        if row.word == "same_dimension_count"
    ]
    assert len(rows) > 150
    assert [text for text in rows if not text.endswith(" have the same number of dimensions.")] == []


@pytest.mark.parametrize(("operator", "has_floats"), [("ELEMENT_WISE_MAX", True), ("CONVOLUTION_INTEGER", False)])
def test_operators_with_float_outputs_say_that_signs_of_zeros_are_undefined(operator: str, has_floats: bool) -> None:
    text = dmlcheck("show", operator).stdout
    assert ("The sign of a zero, and the bits of a NaN" in text) is has_floats
