"""Case files: defaults and what merges with them, matrices, names and ids, tolerances, and where each part stands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.cases.read import read_cases
from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.diagnostics.record import Finding
from dmlcheck.files import yaml
from dmlcheck.files.document import Position
from dmlcheck.formats.reading import read_document, read_file
from dmlcheck.specs.names import FEATURE_LEVELS, LEVELS
from dmlcheck.specs.records import Tolerance
from dmlcheck.validation import validate

EXPLOSION = 10.0  # seconds; what is read here takes well under one
DESC = "{InputTensor: {DataType: FLOAT32, Sizes: [3]}, OutputTensor: {DataType: UINT32, Sizes: [1]}, Axes: [0]}"
GOOD = {"operator": "ARGMAX", "desc": yaml.parse(DESC.encode(), "desc").value}
PLAIN = f"operator: ARGMAX\ndesc: {DESC}\n"

READ = """\
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
except (ImportError, ValueError, OSError):
    pass
from dmlcheck.formats.reading import read_file
file = read_file(sys.argv[1])
print(json.dumps([len(file.cases), len(file.broken), len(file.problems)]))
"""


def read(text: str, name: str = "folder/argmax.yaml") -> CaseFile:
    """Read text as a case file, whatever is wrong with it."""
    return read_cases(yaml.parse(text.encode(), name, is_json=name.endswith(".json")))


def cases_of(text: str, name: str = "folder/argmax.yaml") -> tuple[Case, ...]:
    """Return the cases of a file in which nothing is wrong."""
    file = read(text, name)
    assert (file.problems, file.broken) == ((), {})
    return file.cases


def names_of(text: str) -> list[str]:
    """Return the names of the cases of a file in which nothing is wrong."""
    return [case.name for case in cases_of(text)]


def rules_of(file: CaseFile) -> list[tuple[str, int | None, int | None]]:
    """Return the rule and the place of everything that is wrong with a file."""
    found = [*file.problems, *(problem for broken in file.broken.values() for problem in broken)]
    return [(problem.rule, problem.line, problem.column) for problem in found]


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


@pytest.mark.parametrize("key", ["inputs: {InputTensor: [1, 2, 3]}", "outputs: {}", "invalid: []"])
def test_a_desc_with_something_to_run_is_not_plain(key: str) -> None:
    (case,) = cases_of(PLAIN + key + "\n")
    assert not case.is_plain_desc


def test_every_key_of_a_case_is_kept() -> None:
    text = (
        PLAIN
        + """\
name: full
feature_level: 4.1
inputs: {InputTensor: [1, 2, 3]}
outputs: {OutputTensor: {fill: 2}}
invalid: [size-mismatch, ARGMAX/C1]
source: example 1
tags: [fast, argmax]
tolerance: {ulp: 2, absolute: 1e-5, relative: 0}
note: of no matter
$schema: case.json
"""
    )
    (case,) = cases_of(text)
    assert case.feature_level == "4_1"
    assert case.inputs == {"InputTensor": [1, 2, 3]}
    assert case.outputs == {"OutputTensor": {"fill": 2}}
    assert case.invalid == ("size-mismatch", "ARGMAX/C1")
    assert case.source == "example 1"
    assert case.tags == ("fast", "argmax")
    assert case.tolerance == Tolerance(ulp=2, absolute=1e-5, relative=0, source="the case")
    assert case.note == "of no matter"


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


def test_one_case_does_not_change_another() -> None:
    first, second, third = cases_of(
        DEFAULTS + "  desc: {Axes: [7]}\n- name: two\n- {name: three, inputs: {Other: []}}\n"
    )
    assert [case.desc["Axes"] for case in (first, second, third)] == [[7], [0], [0]]
    assert [case.inputs and case.inputs["Other"] for case in (first, second, third)] == [[4], [4], []]


def test_a_default_that_only_some_cases_need_may_be_missing() -> None:
    text = f"cases:\n- {{name: a, operator: ARGMAX, desc: {DESC}}}\n- {{name: b, operator: ARGMIN, desc: {{}}}}\n"
    assert [(case.operator, case.name) for case in cases_of(text)] == [("ARGMAX", "a"), ("ARGMIN", "b")]


def test_a_list_of_no_cases_has_no_cases_and_no_problems() -> None:
    assert cases_of(PLAIN + "cases: []\n") == ()


# ---- feature levels


@pytest.mark.parametrize("level", LEVELS)
def test_a_feature_level_may_be_spelt_in_every_way(level: str) -> None:
    dotted = level.replace("_", ".")
    number = hex(FEATURE_LEVELS[level].value)
    for spelt in (level, f'"{level}"', dotted, f"'{dotted}'", f"DML_FEATURE_LEVEL_{level}", number, f'"{number}"'):
        (case,) = cases_of(PLAIN + f"feature_level: {spelt}\n")
        assert case.feature_level == level, spelt


@pytest.mark.parametrize(
    "spelt",
    [
        "4",
        "41",
        "0_9",
        "7_0",
        "4_2",
        "0x4200",
        '"0x"',
        '"0xG"',
        "v4_1",
        "4-1",
        "true",
        "[4_1]",
        "{}",
        "1e999",
        '""',
        "-4.1",
    ],
)
def test_what_is_no_feature_level_is_a_wrong_type(spelt: str) -> None:
    assert rules_of(read(PLAIN + f"feature_level: {spelt}\n")) == [("wrong-type", 3, 16)]


# ---- tolerances


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [
        ("exact", Tolerance(exact=True, source="the case")),
        ("{ulp: 0}", Tolerance(ulp=0, source="the case")),
        ("{ulp: 0.5}", Tolerance(ulp=0.5, source="the case")),
        ("{absolute: 1e-5}", Tolerance(absolute=1e-5, source="the case")),
        ("{relative: 0x10}", Tolerance(relative=16, source="the case")),
        ("{ulp: 1, absolute: 2, relative: 3}", Tolerance(ulp=1, absolute=2, relative=3, source="the case")),
    ],
)
def test_a_tolerance_is_exact_or_has_limits(text: str, tolerance: Tolerance) -> None:
    assert cases_of(PLAIN + f"tolerance: {text}\n")[0].tolerance == tolerance


# ---- matrices


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


@pytest.mark.parametrize(
    ("keys", "field", "expected"),
    [
        ("operator: ${V}\nmatrix: {V: [ARGMAX]}", "operator", "ARGMAX"),
        ("operator: DML_OPERATOR_${V}\nmatrix: {V: [ARGMAX]}", "operator", "DML_OPERATOR_ARGMAX"),
        ("feature_level: ${V}\nmatrix: {V: [4.1]}", "feature_level", "4_1"),
        ('feature_level: "${V}_${V}"\nmatrix: {V: [1]}', "feature_level", None),
        ('feature_level: "${V}_0"\nmatrix: {V: [3]}', "feature_level", "3_0"),
        ("source: ${V}\nmatrix: {V: [page]}", "source", "page"),
        ("note: about ${V}\nmatrix: {V: [1]}", "note", "about 1"),
        ("tags: ['${V}', 'x${V}']\nmatrix: {V: [a]}", "tags", ("a", "xa")),
        ("tags: ${V}\nmatrix: {V: [[a, b]]}", "tags", ("a", "b")),
        ("invalid: ['${V}']\nmatrix: {V: [a]}", "invalid", ("a",)),
        ("outputs: ${V}\nmatrix: {V: [{OutputTensor: [1]}]}", "outputs", {"OutputTensor": [1]}),
        ("tolerance: ${V}\nmatrix: {V: [exact]}", "tolerance", Tolerance(exact=True, source="the case")),
        ("tolerance: ${V}\nmatrix: {V: [{ulp: 1}]}", "tolerance", Tolerance(ulp=1, source="the case")),
        ("tolerance: {ulp: '${V}'}\nmatrix: {V: [1]}", "tolerance", Tolerance(ulp=1, source="the case")),
    ],
)
def test_a_variable_may_stand_in_every_value_of_a_case(keys: str, field: str, expected: Any) -> None:
    text = f"desc: {DESC}\n{keys}\n"
    file = read(text if "operator" in keys else f"operator: ARGMAX\n{text}")
    if expected is None:
        assert [rule for rule, _, _ in rules_of(file)] == ["wrong-type"]
    else:
        assert (file.problems, file.broken) == ((), {})
        assert getattr(file.cases[0], field) == expected


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


def test_the_cases_of_all_matrices_of_a_file_count_together() -> None:
    many = f"{{A: {list(range(9))}, B: {list(range(11_111))}}}"
    file = read(
        PLAIN + f"cases:\n- {{name: few, matrix: {{A: [1, 2]}}}}\n- {{name: many, matrix: {many}}}\n- name: one\n"
    )
    assert [case.name for case in file.cases] == ["few[A=1]", "few[A=2]", "many", "one"]
    assert rules_of(file) == [("file-too-large", 5, 24)]


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
    assert messages == ["the name a is taken by the case on line 4"] * 2
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


@pytest.mark.parametrize(
    "key",
    [
        "name",
        "operator",
        "feature_level",
        "desc",
        "inputs",
        "outputs",
        "invalid",
        "source",
        "tags",
        "tolerance",
        "note",
    ],
)
def test_a_number_of_thousands_of_digits_is_a_wrong_value_like_any_other(key: str) -> None:
    number = "0x" + "F" * 3900
    keys = {"operator": "ARGMAX", "desc": DESC.replace("[0]", "[0], AxisDirection: INCREASING")}
    direct = {**keys, key: number if key != "desc" else DESC.replace("[0]", f"[{number}], AxisDirection: INCREASING")}
    through_a_matrix = {**keys, key: "${Number}", "matrix": f"{{Number: [{number}]}}"}
    for written in (direct, through_a_matrix):
        file = read("".join(f"{name}: {value}\n" for name, value in written.items()))
        rules = [rule for rule, _, _ in rules_of(file)]
        for case in file.cases:
            if case.id not in file.broken:
                rules.extend(finding.rule for finding in validate(case.operator, case.desc, "6_4")[1])
        assert len(rules) == 1
        assert set(rules) <= {"wrong-type", "field-type", "yaml-syntax"}


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


# ---- where the parts of a case stand

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


def test_a_variable_does_not_stand_for_the_matrix(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text('operator: ARGMAX\nmatrix: "${X}"\ndesc: {}\n', encoding="utf-8")
    read = read_file(str(file))
    rules = [problem.rule for found in read.broken.values() for problem in found] + [p.rule for p in read.problems]
    assert rules == ["wrong-type"]
