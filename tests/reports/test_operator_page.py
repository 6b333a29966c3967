"""The page of an operator, and the lists of all."""

from __future__ import annotations

import re

import pytest

from dmlcheck.inspection.operator_pages import formula_texts, operator_record
from dmlcheck.reports.layout import printed
from dmlcheck.reports.operator_page import errata_lines, operator_lines
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import Erratum, OperatorSpec

SPEC = load_spec("DML_OPERATOR_ARGMAX")


def page(spec: OperatorSpec) -> list[str]:
    return list(printed(operator_lines(operator_record(spec)), None))


def section(operator: str, title: str) -> list[str]:
    lines = [*page(load_spec(operator)), ""]
    start = lines.index(title) + 1
    return lines[start : lines.index("", start)]


@pytest.mark.parametrize("operator", ["ARGMAX", "CAST", "MATRIX_MULTIPLY_INTEGER"])
def test_an_operator_whose_results_are_exact_shows_no_rounding(operator: str) -> None:
    (exact,) = section(f"DML_OPERATOR_{operator}", "Tolerance")
    assert exact.startswith("  -   exact (")


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
