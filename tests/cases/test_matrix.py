"""Matrices: the cases that they make, and those that they refuse to make."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from case_files import PLAIN, cases_of, names_of, read, rules_of
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.formats.registry import read_file

EXPLOSION = 10.0  # seconds; what is read here takes well under one

READ = """\
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
except (ImportError, ValueError, OSError):
    pass
from dmlcheck.formats.registry import read_file
file = read_file(sys.argv[1])
print(json.dumps([len(file.cases), len(file.broken), len(file.problems)]))
"""


@pytest.mark.parametrize(
    ("matrix", "names"),
    [
        ("{A: [1]}", ["x[A=1]"]),
        ("{A: [1, 2, 3]}", ["x[A=1]", "x[A=2]", "x[A=3]"]),
        ("{A: [1, 2], B: [x, y]}", ["x[A=1,B=x]", "x[A=1,B=y]", "x[A=2,B=x]", "x[A=2,B=y]"]),
        ("{DataType: [FLOAT32, FLOAT16], Axis: [0]}", ["x[DataType=FLOAT32,Axis=0]", "x[DataType=FLOAT16,Axis=0]"]),
        ("{A: [1.5, -2, 0x10, 010]}", ["x[A=1.5]", "x[A=-2]", "x[A=16]", "x[A=10]"]),
        ("{A: [true, null]}", ["x[A=true]", "x[A=null]"]),
        ("{A: ['4_1', '4.1', 0o7]}", ["x[A=4_1]", "x[A=4.1]", "x[A=7]"]),
        ("{A: [[1, 2], [], {b: 3}]}", ["x[A=[1,2]]", "x[A=[]]", 'x[A={"b":3}]']),
        ("{A: [1e999, 1e999999999]}", ["x[A=1e999]", "x[A=1e999999999]"]),
        ("{é: [ü, 😀]}", ["x[é=ü]", "x[é=😀]"]),
    ],
)
def test_a_matrix_makes_a_case_of_every_combination_in_order(matrix: str, names: list[str]) -> None:
    assert names_of(PLAIN + f"name: x\nmatrix: {matrix}\n") == names


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${A}", 7),
        ('"${A}"', 7),
        ("${B}", "text"),
        ("${C}", [1, {"k": None}]),
        ("${D}", True),
        ("${E}", None),
        ("${F}", 0.5),
        ("x${A}", "x7"),
        ("${A}${A}", "77"),
        ("${A}-${B}-${F}", "7-text-0.5"),
        ("${D} ${E}", "true null"),
        ("'[${C}]'", '[[1,{"k":null}]]'),
        ("' ${A}'", " 7"),
        ("['${A}', ['${A}', {key: '${A}'}]]", [7, [7, {"key": 7}]]),
        ('{"${A}": "${A}"}', {"${A}": 7}),
        ("$A", "$A"),
        ("${A", "${A"),
        ("'{A}'", "{A}"),
        ("'$ {A}'", "$ {A}"),
        ("'$${A}'", "$7"),
        ("'a } ${A}'", "a } 7"),
    ],
)
def test_a_variable_is_replaced_and_keeps_its_type_where_it_stands_alone(value: str, expected: Any) -> None:
    text = f"""\
operator: ARGMAX
matrix: {{A: [7], B: [text], C: [[1, {{k: null}}]], D: [true], E: [null], F: [.5]}}
desc:
  Value: {value}
inputs:
  InputTensor:
  - {value}
"""
    (case,) = cases_of(text)
    assert repr(case.desc["Value"]) == repr(expected)
    assert case.inputs is not None
    assert repr(case.inputs["InputTensor"]) == repr([expected])


def test_a_matrix_may_be_a_default_and_a_case_may_replace_it() -> None:
    text = PLAIN + "matrix: {A: [1, 2]}\ncases:\n- name: a\n- {name: b, matrix: {B: [3]}}\n- {name: c, matrix: null}\n"
    assert names_of(text) == ["a[A=1]", "a[A=2]", "b[B=3]", "c"]


def test_a_variable_of_a_default_takes_the_value_of_each_case() -> None:
    text = """\
operator: ARGMAX
desc: {Axes: ["${Axis}"]}
cases:
- {name: a, matrix: {Axis: [0, 1]}}
- {name: b, matrix: {Axis: [2]}}
"""
    assert [case.desc["Axes"] for case in cases_of(text)] == [[0], [1], [2]]


def test_text_without_a_matrix_keeps_its_dollars() -> None:
    (case,) = cases_of(PLAIN + "note: ${A} costs $1\n")
    assert case.note == "${A} costs $1"


def test_an_unknown_variable_is_reported_once_where_it_first_stands() -> None:
    file = read(PLAIN + 'matrix: {A: [1, 2]}\nnote: ${A} ${B}\ntags: ["${B}", "${C}"]\n')
    assert rules_of(file) == [("unknown-key", 4, 7), ("unknown-key", 5, 16)]
    assert [case.id for case in file.cases] == ["folder/argmax.yaml::argmax"]


def test_an_empty_matrix_is_named_as_such_where_a_variable_of_it_stands() -> None:
    file = read(PLAIN + "matrix: {}\nnote: ${A}\n")
    ((found,),) = file.broken.values()
    assert (found.rule, found.help) == ("unknown-key", "it is empty")


def test_a_combination_that_is_wrong_leaves_the_others() -> None:
    file = read(PLAIN + "matrix: {Level: [3_0, 3_2, 4_0]}\nfeature_level: ${Level}\n")
    assert list(file.broken) == ["folder/argmax.yaml::argmax[Level=3_2]"]
    assert [case.feature_level for case in file.cases] == ["3_0", None, "4_0"]
    assert rules_of(file) == [("wrong-type", 4, 16)]


@pytest.mark.parametrize(("width", "variables", "is_read"), [(10, 4, True), (10, 6, False), (2, 40, False)])
def test_a_matrix_of_more_than_100_000_cases_is_refused_without_making_them(
    width: int, variables: int, is_read: bool
) -> None:
    matrix = ", ".join(f"V{number}: {list(range(width))}" for number in range(variables))
    file = read(PLAIN + f"matrix: {{{matrix}}}\n")
    assert len(file.cases) == (width**variables if is_read else 1)
    assert rules_of(file) == ([] if is_read else [("file-too-large", 3, 9)])


@pytest.mark.slow
def test_the_cases_of_all_matrices_of_a_file_count_together() -> None:
    many = f"{{A: {list(range(9))}, B: {list(range(11_111))}}}"
    file = read(
        PLAIN + f"cases:\n- {{name: few, matrix: {{A: [1, 2]}}}}\n- {{name: many, matrix: {many}}}\n- name: one\n"
    )
    assert [case.name for case in file.cases] == ["few[A=1]", "few[A=2]", "many", "one"]
    assert rules_of(file) == [("file-too-large", 5, 24)]


@pytest.mark.slow
def test_a_matrix_over_shared_values_is_bounded_in_time_and_memory(tmp_path: Path) -> None:
    digits = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
    levels = "".join(f"  L{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]\n" for level in range(1, 5))
    text = f"{PLAIN}inputs:\n  L0: &l0 {digits}\n{levels}matrix: {{A: {digits}, B: {digits}, C: {digits}}}\n"
    path = tmp_path / "shared.yaml"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", READ, str(path)]
    finished = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", timeout=EXPLOSION)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert json.loads(finished.stdout) == [1000, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "read"),
    [
        ("note: 'of ${A}'\nmatrix: {A: [[*text, *text]]}", [1, 0, 0]),
        ("note: 'of ${A}'\nmatrix: {A: [" + "[*text], " * 5000 + "]}", [1, 1, 0]),
        ("matrix: {A: [" + "[*text], " * 5000 + "]}", [5000, 0, 0]),
        ("note: '" + "${A}" * 100_000 + "'\nmatrix: {A: [" + "1, " * 1000 + "]}", [1, 1, 0]),
        (
            "tags: ['${A}']\ninputs: {X: [" + "1, " * 100_000 + "'${A}']}\nmatrix: {A: [" + "1, " * 1000 + "]}",
            [1, 1, 0],
        ),
        ("tags: ['${A}']\ninputs: {X: [" + "1, " * 100_000 + "]}\nmatrix: {A: [" + "x, " * 1000 + "]}", [1000, 999, 0]),
    ],
    ids=["long", "long-inside-text", "long-in-names", "in-long-text", "in-long-lists", "beside-long-lists"],
)
def test_what_a_matrix_writes_out_is_bounded(case: str, read: list[int], tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(f'{PLAIN}source: &text "{"x" * 50_000}"\n{case}\n', encoding="utf-8")
    command = [sys.executable, "-c", READ, str(path)]
    finished = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", timeout=EXPLOSION)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert json.loads(finished.stdout) == read


def test_a_value_that_is_too_long_for_a_name_goes_by_its_number() -> None:
    long = list(range(200))
    assert names_of(PLAIN + f"name: x\nmatrix: {{A: [1, {long}, {long[::-1]}]}}\n") == ["x[A=1]", "x[A=#2]", "x[A=#3]"]


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(
    matrix=st.dictionaries(
        st.text("abcAB_", min_size=1, max_size=4),
        st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True),
        min_size=1,
        max_size=3,
    )
)
def test_the_cases_of_a_matrix_are_the_product_of_its_values(matrix: dict[str, list[int]]) -> None:
    text = json.dumps(
        {
            "operator": "ARGMAX",
            "name": "x",
            "desc": {name: f"${{{name}}}" for name in matrix},
            "note": "of " + "/".join(f"${{{name}}}" for name in matrix),
            "matrix": matrix,
        }
    )
    cases = cases_of(text, "argmax.json")
    combinations: list[dict[str, int]] = [{}]
    for name, values in matrix.items():
        combinations = [{**chosen, name: value} for chosen in combinations for value in values]
    assert [dict(case.desc) for case in cases] == combinations
    assert [case.note for case in cases] == ["of " + "/".join(map(str, chosen.values())) for chosen in combinations]
    spelt = [",".join(f"{name}={value}" for name, value in chosen.items()) for chosen in combinations]
    assert [case.name for case in cases] == [f"x[{text}]" for text in spelt]


def test_a_variable_does_not_stand_for_the_matrix(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text('operator: ARGMAX\nmatrix: "${X}"\ndesc: {}\n', encoding="utf-8")
    read = read_file(str(file))
    rules = [problem.rule for found in read.broken.values() for problem in found] + [p.rule for p in read.problems]
    assert rules == ["wrong-type"]


@pytest.mark.parametrize(
    ("values", "said"),
    [('[1, "1"]', 'Axis has both 1 and "1"'), ("[0, 0]", "Axis has 0 twice"), ("[[1], [1]]", "Axis has [1] twice")],
)
def test_a_name_that_the_matrix_makes_twice_is_told_with_the_values_that_make_it(values: str, said: str) -> None:
    file = read(PLAIN + f"name: a\nmatrix: {{Axis: {values}}}\n")
    (problem,) = [problem for broken in file.broken.values() for problem in broken]
    assert problem.rule == "duplicate-name"
    assert problem.message.endswith(f" is used twice by the matrix: {said}")
    assert problem.help == "give each value of a variable once"
