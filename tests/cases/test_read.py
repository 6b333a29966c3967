"""Case files: defaults and what merges with them, names and ids, and what is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_files import DESC, PLAIN, cases_of, names_of, read, rules_of
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.files import yaml
from dmlcheck.files.document import Position
from dmlcheck.formats.registry import read_document, read_file
from dmlcheck.specs.records import Tolerance
from dmlcheck.validation import validate

GOOD = {"operator": "ARGMAX", "desc": yaml.parse(DESC.encode(), "desc").value}


# ---- plain descs and single cases


def test_a_file_without_cases_is_one_case_named_after_its_stem() -> None:
    (case,) = cases_of(PLAIN, "a/b.c/argmax.first.yaml")
    assert (case.id, case.name, case.file) == (
        "a/b.c/argmax.first.yaml::argmax.first",
        "argmax.first",
        "a/b.c/argmax.first.yaml",
    )
    assert case.operator == "ARGMAX"
    assert case.desc["Axes"] == [0]
    assert case.is_plain_desc
    assert case[6:13] == (None, None, None, None, None, (), None)
    assert case.position == Position(1, 1)


def test_a_file_without_cases_may_have_a_name_of_its_own() -> None:
    assert names_of(PLAIN + "name: other\n") == ["other"]


@pytest.mark.parametrize(
    "key", ["feature_level", "inputs", "outputs", "invalid", "source", "tags", "tolerance", "note"]
)
def test_a_key_that_is_null_is_left_out(key: str) -> None:
    assert cases_of(PLAIN + f"{key}: null\n")[0][:13] == cases_of(PLAIN)[0][:13]
    assert cases_of(PLAIN + f"{key}:\nmatrix: ~\n")[0][:13] == cases_of(PLAIN)[0][:13]


def test_a_json_file_is_a_case_file_too() -> None:
    text = json.dumps({"operator": "ARGMAX", "desc": {"Axes": [0]}, "cases": [{"name": "a"}, {"name": "b"}]}, indent=1)
    first, second = cases_of(text, "argmax.json")
    assert (first.id, second.id) == ("argmax.json::a", "argmax.json::b")
    assert (first.position.line, second.position.line) == (9, 12)


# ---- defaults

DEFAULTS = """\
operator: ARGMAX
feature_level: "3_0"
source: example 1
tags: [slow]
tolerance: {ulp: 1, absolute: 1}
note: default
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: UINT32, Sizes: [1]}
  Axes: [0]
inputs:
  InputTensor: [1, 2, 3]
  Other: [4]
outputs: {OutputTensor: [2], Other: [5]}
invalid: [a]
cases:
- name: own
"""


@pytest.mark.parametrize(
    ("own", "field", "expected"),
    [
        ("", "operator", "ARGMAX"),
        ("", "feature_level", "3_0"),
        ("", "source", "example 1"),
        ("", "tags", ("slow",)),
        ("", "note", "default"),
        ("", "tolerance", Tolerance(ulp=1, absolute=1, source="the case")),
        ("", "inputs", {"InputTensor": [1, 2, 3], "Other": [4]}),
        ("", "outputs", {"OutputTensor": [2], "Other": [5]}),
        ("", "invalid", ("a",)),
        # desc and inputs merge field by field
        ("desc: {Axes: []}", "desc", {"InputTensor", "OutputTensor", "Axes"}),
        ("desc: {AxisDirection: INCREASING}", "desc", {"InputTensor", "OutputTensor", "Axes", "AxisDirection"}),
        ("desc: {}", "desc", {"InputTensor", "OutputTensor", "Axes"}),
        ("inputs: {Other: [6]}", "inputs", {"InputTensor": [1, 2, 3], "Other": [6]}),
        ("inputs: {New: [7]}", "inputs", {"InputTensor": [1, 2, 3], "Other": [4], "New": [7]}),
        ("inputs: {}", "inputs", {"InputTensor": [1, 2, 3], "Other": [4]}),
        # other keys are replaced
        ("operator: ARGMIN", "operator", "ARGMIN"),
        ("feature_level: 4.1", "feature_level", "4_1"),
        ("outputs: {OutputTensor: [0]}", "outputs", {"OutputTensor": [0]}),
        ("outputs: {}", "outputs", {}),
        ("tags: [fast]", "tags", ("fast",)),
        ("tags: []", "tags", ()),
        ("tolerance: {relative: 1}", "tolerance", Tolerance(relative=1, source="the case")),
        ("invalid: [b, c]", "invalid", ("b", "c")),
        ("invalid: []", "invalid", ()),
        # null takes a default away
        ("feature_level: null", "feature_level", None),
        ("inputs: null", "inputs", None),
        ("outputs: ~", "outputs", None),
        ("invalid:", "invalid", None),
        ("tolerance:", "tolerance", None),
        ("tags: null", "tags", ()),
    ],
)
def test_what_a_case_says_itself_goes_before_the_default_of_its_file(own: str, field: str, expected: Any) -> None:
    (case,) = cases_of(f"{DEFAULTS}  {own}\n")
    found = getattr(case, field)
    assert (set(found) if field == "desc" else found) == expected


def test_a_field_of_a_desc_is_replaced_whole() -> None:
    (case,) = cases_of(DEFAULTS + "  desc: {InputTensor: {Sizes: [4]}, Axes: [1]}\n")
    assert case.desc["InputTensor"] == {"Sizes": [4]}
    assert case.desc["Axes"] == [1]
    assert case.desc["OutputTensor"] == {"DataType": "UINT32", "Sizes": [1]}


def test_a_default_that_only_some_cases_need_may_be_missing() -> None:
    text = f"cases:\n- {{name: a, operator: ARGMAX, desc: {DESC}}}\n- {{name: b, operator: ARGMIN, desc: {{}}}}\n"
    assert [(case.operator, case.name) for case in cases_of(text)] == [("ARGMAX", "a"), ("ARGMIN", "b")]


def test_a_list_of_no_cases_has_no_cases_and_no_problems() -> None:
    assert cases_of(PLAIN + "cases: []\n") == ()


# ---- names and ids


def test_an_id_is_the_path_as_given_and_the_name(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "argmax.yaml"
    path.parent.mkdir()
    path.write_text(PLAIN + "cases:\n- {name: one, matrix: {A: [1]}}\n- name: two words::é\n", encoding="utf-8")
    name = path.as_posix()
    assert [case.id for case in read_file(str(path)).cases] == [f"{name}::one[A=1]", f"{name}::two words::é"]
    given = read_file(str(path), "cases/argmax.yaml").cases
    assert [case.id for case in given] == ["cases/argmax.yaml::one[A=1]", "cases/argmax.yaml::two words::é"]
    assert [case.file for case in given] == [name, name]


def test_an_id_stands_for_one_case_even_where_cases_are_broken() -> None:
    text = """\
operator: ARGMAX
desc: {}
cases:
- {name: a, note: the good one}
- {name: a, notes: the bad one}
- {name: a, notes: another bad one}
"""
    file = read(text)
    ids = [case.id for case in file.cases]
    assert len(set(ids)) == len(ids) == 3
    assert ids[0] not in file.broken
    assert [place for place in rules_of(file) if place[0] == "unknown-key"] == [
        ("unknown-key", 5, 13),
        ("unknown-key", 6, 13),
    ]


def test_an_unknown_key_is_reported_even_without_a_value() -> None:
    file = read("operator: ARGMAX\ndesc: {}\ncases:\n- {name: a, output: null}\n- name: b\n  tag:\n")
    assert rules_of(file) == [("unknown-key", 4, 13), ("unknown-key", 6, 3)]


def test_cases_without_a_name_on_one_line_are_each_reported() -> None:
    file = read('{"operator": "ARGMAX", "desc": {}, "cases": [{"note": "a"}, {"note": "b"}]}', "argmax.json")
    assert rules_of(file) == [("missing-key", 1, 46), ("missing-key", 1, 61)]


@pytest.mark.parametrize(
    ("cases", "ids", "rules"),
    [
        ("{note: a}, {note: b}, {note: c}", ["line 2", "line 2, column 12", "line 2, column 23"], ["missing-key"] * 3),
        ("{name: a, x: 1}, {name: a}", ["a", "a (line 2)"], ["unknown-key", "duplicate-name"]),
        (
            "{name: a}, {name: a, x: 1}, {name: a, x: 1}",
            ["a", "a (line 2)", "a (line 2, column 29)"],
            ["duplicate-name", "unknown-key"] * 2,
        ),
        (
            "{name: 3}, {name: ''}, {name: line 2}",
            ["line 2, column 1", "line 2, column 12", "line 2"],
            ["wrong-type"] * 2,
        ),
        ("{name: a, matrix: {V: []}}, {name: a}", ["a (line 2)", "a"], ["wrong-type"]),
        ("{name: a, matrix: {V: [1, 1]}}", ["a[V=1]", "a[V=1] (line 2)"], ["duplicate-name"]),
        (
            "{name: a, matrix: {V: [1, 1, 1, 1, 1]}}",
            [
                "a[V=1]",
                *(f"a[V=1] (line 2{more}" for more in (")", ", column 1)", ", column 1) (2)", ", column 1) (3)")),
            ],
            ["duplicate-name"] * 4,
        ),
    ],
)
def test_every_case_has_an_id_of_its_own_and_all_that_is_wrong_with_it(
    cases: str, ids: list[str], rules: list[str]
) -> None:
    file = read(f"{{operator: ARGMAX, desc: {{}}, cases: [\n{cases}]}}")
    assert [case.id for case in file.cases] == [f"folder/argmax.yaml::{name}" for name in ids]
    assert [case.id for case in file.cases] == [f"folder/argmax.yaml::{case.name}" for case in file.cases]
    assert sorted(rule for rule, _, _ in rules_of(file)) == sorted(rules)


def test_a_name_that_is_null_is_left_out() -> None:
    assert names_of(PLAIN + "name: null\n") == ["argmax"]
    assert names_of(PLAIN + "name: one\ncases: null\n") == ["one"]


def test_a_name_that_is_taken_is_reported_with_the_line_of_the_first() -> None:
    file = read(PLAIN + "cases:\n- name: a\n- note: b\n  name: a\n- name: b\n- name: a\n")
    assert rules_of(file) == [("duplicate-name", 6, 9), ("duplicate-name", 8, 9)]
    messages = [problem.message for broken in file.broken.values() for problem in broken]
    assert messages == ["the name a is used twice, first by the case on line 4"] * 2
    assert [case.name for case in file.cases if case.id not in file.broken] == ["a", "b"]


# ---- a file of the wrong form


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "---\n", "[]\n", "- name: a\n", "3\n", "text\n", "false\n", "0\n", "''\n"]
)
def test_what_is_no_mapping_is_no_case_file(text: str) -> None:
    file = read(text)
    (problem,) = file.problems
    assert (problem.rule, problem.pointer) == ("wrong-type", None)
    assert file.cases == ()


def test_a_file_that_cannot_be_read_has_only_that_problem() -> None:
    file = read("operator: [\n")
    assert rules_of(file) == [("yaml-syntax", 2, 1)]
    assert file.cases == ()


KEYS = (
    *CASE_KEYS,
    *("cases", "resources", "dispatchables", "commands", "type", "dispatchable", "bindings", "resource", "targetPath"),
    *("initialValues", "initialValuesDataType", "ulp", "absolute", "A", "", "Type", "Desc", "DataType", "Sizes"),
    *("InputTensor", "OutputTensor", "Axes", "AxisCount", "AxisDirection", "Function", "Strides", "Flags"),
    *("DimensionCount", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment"),
)
TEXTS = (
    "ARGMAX",
    "REDUCE",
    "FLOAT32",
    "SUM",
    "BUFFER",
    "OWNED_BY_DML",
    "${A}",
    "x${B}",
    "exact",
    "3_0",
    "print",
    "hlsl",
    "",
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from((*TEXTS, 4.1, -1.5, 2**32, 10**300, 1e300)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(own=ANY, kind=st.sampled_from(["file", "case", "model"]), is_json=st.booleans())
def test_whatever_a_file_says_is_read_without_an_exception_and_reported_inside_it(
    own: Any, kind: str, is_json: bool
) -> None:
    value = {**GOOD, **(own if isinstance(own, dict) else {"note": own})} if kind == "case" else own
    if kind == "model":
        value = {"resources": {}, "dispatchables": {"a": own}, "commands": own if isinstance(own, list) else [own]}
    document = yaml.parse(json.dumps(value, indent=1).encode(), "any", is_json=is_json)
    file = read_document(document)
    found = [*file.problems, *file.notes, *(problem for broken in file.broken.values() for problem in broken)]
    for case in file.cases:
        assert 1 <= case.position.line <= document.text.count("\n") + 1
        if case.id not in file.broken:
            _, findings = validate(case.operator, case.desc, case.feature_level or "1_0")
            found.extend(case.origin.diagnostic(finding) for finding in findings)
    for problem in found:
        assert problem.line is not None
        assert problem.column is not None
        assert 1 <= problem.column <= len(document.line(problem.line)) + 1
        assert problem.message


# ---- what cases share


def test_a_desc_that_is_the_default_is_that_of_all_cases() -> None:
    first, second = cases_of(f"operator: ARGMAX\ndesc: {DESC}\ncases:\n- name: a\n- {{name: b, tags: [t]}}\n")
    assert first.desc is second.desc


def test_two_cases_on_one_line_may_not_have_one_name_either() -> None:
    file = read(f"operator: ARGMAX\ndesc: {DESC}\ncases: [{{name: a}}, {{name: a}}]\n")
    assert rules_of(file) == [("duplicate-name", 3, 27)]
