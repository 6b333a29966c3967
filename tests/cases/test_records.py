"""Cases and their origins: where the parts of a case stand."""

from __future__ import annotations

from typing import Any

import pytest
from case_files import PLAIN, cases_of

from dmlcheck.cases.read import read_cases
from dmlcheck.cases.records import Case, DetachedOrigin, Origin, in_order
from dmlcheck.diagnostics.record import Finding
from dmlcheck.files import yaml
from dmlcheck.files.document import Position
from dmlcheck.specs.names import LEVELS

PLACES = """\
operator: ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 4]}
  Axes: [0]
inputs: {InputTensor: [1, 2]}
cases:
- name: a
  desc:
    Axes: [5, 6]
    OutputTensor:
      DataType: UINT32
- {name: b, matrix: {A: [1]}, tags: [x, y], feature_level: "3_0"}
-   name: c
    desc: {}
- {name: d, desc: {InputTensor: {DataType: INT8}}}
"""


@pytest.mark.parametrize(
    ("name", "path", "line", "column", "text"),
    [
        ("a", (), 7, 3, "n"),
        ("a", ("name",), 7, 9, "a"),
        ("a", ("operator",), 1, 11, "ARGMAX"),
        ("a", ("desc",), 8, 3, "desc"),
        ("a", ("desc", "Axes"), 9, 11, "[5, 6]"),
        ("a", ("desc", "Axes", 1), 9, 15, "6"),
        ("a", ("desc", "InputTensor", "Sizes", 1), 3, 47, "4"),
        ("a", ("desc", "OutputTensor", "DataType"), 11, 17, "UINT32"),
        ("a", ("desc", "OutputTensor", "Sizes"), 10, 5, "OutputTensor"),
        ("a", ("inputs", "InputTensor", 1), 5, 27, "2"),
        ("a", ("desc", "AxisDirection"), 8, 3, "desc"),
        ("a", ("outputs",), 7, 3, "n"),
        ("b[A=1]", (), 12, 3, "{"),
        ("b[A=1]", ("desc", "Axes", 0), 4, 10, "0"),
        ("b[A=1]", ("desc", "AxisDirection"), 2, 1, "desc"),
        ("b[A=1]", ("tags", 1), 12, 41, "y"),
        ("b[A=1]", ("feature_level",), 12, 60, '"3_0"'),
        ("b[A=1]", ("matrix", "A", 0), 12, 26, "1"),
        ("b[A=1]", ("outputs", "OutputTensor"), 12, 3, "{"),
        ("c", (), 13, 5, "n"),
        ("c", ("desc", "Axes"), 4, 9, "[0]"),
        ("c", ("desc", "AxisDirection"), 14, 5, "desc"),
        # a field of desc that the case has is the case's own, also where the default's has more in it
        ("a", ("desc", "OutputTensor", "Flags"), 10, 5, "OutputTensor"),
        ("d", ("desc", "InputTensor", "Sizes", 1), 15, 20, "InputTensor"),
    ],
)
def test_a_part_of_a_case_stands_in_the_case_or_in_the_defaults(
    name: str, path: tuple[str | int, ...], line: int, column: int, text: str
) -> None:
    document = yaml.parse(PLACES.encode(), "argmax.yaml", is_json=False)
    case = next(case for case in read_cases(document).cases if case.name == name)
    assert case.origin.locate(path) == Position(line, column, len(text))
    assert document.line(line)[column - 1 :].startswith(text)


def test_a_case_stands_where_its_item_begins() -> None:
    assert [case.position[:2] for case in cases_of(PLACES)] == [(7, 3), (12, 3), (13, 5), (15, 3)]
    as_json = '{"operator": "ARGMAX", "desc": {}, "cases": [\n  {"name": "a"},\n\n {"name": "b"}]}'
    assert [case.position[:2] for case in cases_of(as_json, "argmax.json")] == [(2, 3), (4, 2)]


def test_a_finding_becomes_a_diagnostic_at_its_place_in_the_file() -> None:
    case = cases_of(PLACES)[0]
    params = {"operator": "DML_OPERATOR_ARGMAX", "field": "Axes"}
    finding = Finding("unknown-field", ("desc", "Axes"), params, help="a help", note="a note", at_key=True)
    diagnostic = case.origin.diagnostic(finding)
    assert diagnostic.as_dict() == {
        "rule": "unknown-field",
        "severity": "error",
        "message": "DML_OPERATOR_ARGMAX has no field Axes",
        "file": "folder/argmax.yaml",
        "line": 9,
        "column": 5,
        "pointer": "desc.Axes",
        "help": "a help",
        "constraint": None,
    }
    assert (diagnostic.width, diagnostic.note) == (4, "a note")


def test_the_literal_of_a_number_comes_from_the_case_or_the_defaults() -> None:
    cases = "cases:\n- {name: a, desc: {Value: 0x1F}}\n- name: b\n"
    text = f"operator: ARGMAX\ndesc: {{Value: 1.50}}\ninputs: {{X: [1e5, 2]}}\n{cases}"
    first, second = cases_of(text)
    assert (first.origin.literal(("desc", "Value")), second.origin.literal(("desc", "Value"))) == ("0x1F", "1.50")
    assert first.origin.literal(("inputs", "X", 0)) == "1e5"
    assert first.origin.literal(("outputs", "X", 0)) is None


# ---- cases and other origins


def test_a_case_is_validated_at_its_level_or_the_newest() -> None:
    case = cases_of(PLAIN)[0]
    assert (case.level, case._replace(feature_level="3_0").level) == (LEVELS[-1], "3_0")


def test_an_origin_gives_the_lines_of_its_file() -> None:
    case = cases_of(PLAIN)[0]
    assert (case.origin.line(1), case.origin.line(99)) == ("operator: ARGMAX", "")


def test_findings_come_in_the_order_of_their_places() -> None:
    origin = cases_of(PLACES)[0].origin
    found = [Finding("missing-tensor", path, {"tensor": "T", "section": "s"}) for path in (("name",), ("operator",))]
    assert [(diagnostic.line, diagnostic.pointer) for diagnostic in in_order(origin, found)] == [
        (1, "operator"),
        (7, "name"),
    ]


def test_without_its_file_a_case_keeps_its_place_and_some_lines() -> None:
    origin: Origin = DetachedOrigin(Position(4, 2), {7: "seven"})
    assert (origin.position(), origin.line(7), origin.line(8)) == (Position(4, 2), "seven", "")
    assert origin.literal(("desc", "Value")) is None
    finding = Finding("missing-tensor", ("inputs", "T"), {"tensor": "T", "section": "inputs"})
    assert origin.diagnostic(finding) == finding.diagnostic()


def test_a_case_without_a_file_starts_at_the_first_line() -> None:
    assert Case("", "", "", "ARGMAX", None, {}).position == Position(1, 1)


RANDOM = {"random": {"seed": 1}}


@pytest.mark.parametrize(
    ("fields", "is_so"),
    [
        ({"inputs": {"A": RANDOM}}, True),
        ({"inputs": {"A": [1, 2], "B": RANDOM}, "outputs": {}}, True),
        ({"inputs": {"A": [[1, 2], RANDOM]}}, True),  # an array of tensors
        ({"inputs": {"A": [1, 2], "B": {"fill": 1}}}, False),
        ({"inputs": {}}, True),  # there is nothing to give
        ({"inputs": {}, "outputs": {"B": [1]}}, False),
        ({}, False),
        ({"inputs": {"A": RANDOM}, "outputs": {"B": [1]}}, False),
        ({"inputs": {"A": RANDOM}, "invalid": ()}, False),
        ({"inputs": {"A": RANDOM}, "invalid": ("size-mismatch",)}, False),
    ],
)
def test_a_case_with_random_values_or_none_and_nothing_that_is_expected_is_for_implementations(
    fields: dict[str, Any], *, is_so: bool
) -> None:
    made = Case("f::a", "a", "f", "REDUCE", None, {}, **fields)
    assert made.is_generated is is_so
