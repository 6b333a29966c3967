"""The library's public face: what its functions return and raise, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged import Fake

import dmlcheck
from dmlcheck import Case, CaseResult, Diagnostic, InvalidInput

INPUT = {"DataType": "FLOAT32", "Sizes": [3, 3]}
ARGMAX: dict[str, Any] = {
    "InputTensor": INPUT,
    "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 3]},
    "Axes": [0],
    "AxisDirection": "INCREASING",
}
SUM: dict[str, Any] = {
    "Function": "SUM",
    "InputTensor": INPUT,
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3]},
    "Axes": [0],
}
VALUES = [[1, 2, 3], [3, 0, 4], [2, 5, 2]]
CASES = """\
operator: DML_OPERATOR_ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [0]
  AxisDirection: INCREASING
inputs: {InputTensor: [[1, 2, 3], [3, 0, 4], [2, 5, 2]]}
cases:
- {name: right, outputs: {OutputTensor: [[1, 2, 1]]}}
- {name: wrong, outputs: {OutputTensor: [[1, 2, 2]]}}
- {name: refused, desc: {Axes: [5]}, invalid: [ARGMAX/C2]}
- {name: late, feature_level: "4_1", outputs: {OutputTensor: [[1, 2, 1]]}}
"""


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    path = tmp_path / "argmax.yaml"
    path.write_text(CASES, encoding="utf-8")
    return path


def changed(desc: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**desc, **fields}


# ---- validate


def test_a_legal_desc_has_no_diagnostics() -> None:
    assert dmlcheck.validate("ARGMAX", ARGMAX) == []
    assert dmlcheck.validate("DML_OPERATOR_ARGMAX", ARGMAX, "3_0") == []


def test_everything_that_is_wrong_is_returned_as_diagnostics() -> None:
    desc = changed(ARGMAX, InputTensor={"DataType": "INT64", "Sizes": [3, 3]}, Axes=[0, 2])
    found = dmlcheck.validate("ARGMAX", desc, "3_0")
    assert all(isinstance(diagnostic, Diagnostic) for diagnostic in found)
    assert {(diagnostic.rule, diagnostic.pointer, diagnostic.constraint) for diagnostic in found} == {
        ("unsupported-data-type", "desc.InputTensor.DataType", None),
        ("axis-out-of-range", "desc.Axes[1]", "ARGMAX/C2"),
    }
    for diagnostic in found:
        assert diagnostic.severity == "error"
        assert (diagnostic.file, diagnostic.line, diagnostic.column) == (None, None, None)
    by_rule = {diagnostic.rule: diagnostic for diagnostic in found}
    assert by_rule["axis-out-of-range"].message == "Axes[1] is 2, and InputTensor has dimensions 0 to 1"
    assert "DML_FEATURE_LEVEL_4_1" in str(by_rule["unsupported-data-type"].help)


@pytest.mark.parametrize(
    "level",
    ["4_0", "4.0", 4.0, "DML_FEATURE_LEVEL_4_0", "0x4000", 0x4000, " 4_0 "],
    ids=repr,
)
def test_a_level_may_be_spelt_in_every_way_of_the_notation(level: Any) -> None:
    desc = changed(ARGMAX, InputTensor={"DataType": "INT64", "Sizes": [3, 3]})
    assert [diagnostic.rule for diagnostic in dmlcheck.validate("ARGMAX", desc, level)] == ["unsupported-data-type"]
    assert dmlcheck.validate("ARGMAX", desc, "4_1") == []


@pytest.mark.parametrize(
    "level", ["7_0", "4", 4, "", "6_5", True, "0x9999", "0xzz", -1, [], "4_1_0", "latest", 10.0], ids=repr
)
def test_a_level_that_does_not_exist_is_a_usage_error(level: Any) -> None:
    with pytest.raises(ValueError, match=r"is not a feature level; the levels are 1_0 2_0 2_1 3_0 .* 6_4"):
        dmlcheck.validate("ARGMAX", ARGMAX, level)
    with pytest.raises(ValueError, match="is not a feature level"):
        dmlcheck.run_cases([], feature_level=level)


@pytest.mark.parametrize(
    ("operator", "desc", "rule", "pointer"),
    [
        ("ARGMAXX", ARGMAX, "unknown-operator", "operator"),
        ("ARGMAX", None, "field-type", "desc"),
        ("ARGMAX", [], "field-type", "desc"),
        ("ARGMAX", changed(ARGMAX, Extra=1), "unknown-field", "desc.Extra"),
        ("ARGMAX", changed(ARGMAX, InputTensor={"DataType": "FLOAT32", "Sizes": [3, 0]}), "invalid-sizes", None),
    ],
)
def test_a_malformed_desc_is_a_diagnostic_and_no_exception(
    operator: str, desc: Any, rule: str, pointer: str | None
) -> None:
    (diagnostic,) = dmlcheck.validate(operator, desc)
    assert diagnostic.rule == rule
    assert pointer in {None, diagnostic.pointer}


def test_what_is_known_of_directml_is_told_of_a_legal_desc_and_of_a_version_where_one_is_named() -> None:
    hardmax = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "Strides": [8, 8, 4, 1]},
    }
    (note,) = dmlcheck.known_deviations("ACTIVATION_HARDMAX", hardmax)
    assert (note.rule, note.severity, note.pointer) == ("known-deviation", "note", "operator")
    assert note.message.startswith("known of DirectML (before 1.10.0): Wrong results for some strides of OutputTensor.")
    assert dmlcheck.known_deviations("DML_OPERATOR_ACTIVATION_HARDMAX", hardmax, "1.9.1") == [note]
    assert dmlcheck.known_deviations("ACTIVATION_HARDMAX", hardmax, "1.10.0") == []
    assert dmlcheck.validate("ACTIVATION_HARDMAX", hardmax) == []
    other = changed(hardmax, OutputTensor={**hardmax["OutputTensor"], "Sizes": [1, 1, 2, 3]})
    assert dmlcheck.known_deviations("ACTIVATION_HARDMAX", other) == []
    assert dmlcheck.known_deviations("ACTIVATION_HARDMAXX", hardmax) == []
    with pytest.raises(ValueError, match="'eight' is not a version of DirectML; write 1"):
        dmlcheck.known_deviations("ACTIVATION_HARDMAX", hardmax, "eight")


def test_a_desc_is_not_changed_by_being_validated() -> None:
    desc = changed(ARGMAX, InputTensor=dict(INPUT), Axes=[0])
    before = repr(desc)
    dmlcheck.validate("ARGMAX", desc)
    dmlcheck.minimum_feature_level("ARGMAX", desc)
    dmlcheck.evaluate("ARGMAX", desc, {"InputTensor": VALUES})
    assert repr(desc) == before


# ---- minimum_feature_level


def test_the_lowest_level_is_a_short_name_or_none() -> None:
    assert dmlcheck.minimum_feature_level("ARGMAX", ARGMAX) == "3_0"
    int64 = changed(ARGMAX, InputTensor={"DataType": "INT64", "Sizes": [3, 3]})
    assert dmlcheck.minimum_feature_level("DML_OPERATOR_ARGMAX", int64) == "4_1"
    assert dmlcheck.minimum_feature_level("ARGMAX", changed(ARGMAX, Axes=[2])) is None
    assert dmlcheck.minimum_feature_level("ARGMAXX", ARGMAX) is None


# ---- evaluate


@pytest.mark.parametrize(
    "values",
    [
        VALUES,
        [1, 2, 3, 3, 0, 4, 2, 5, 2],
        np.array(VALUES, dtype=np.float32),
        np.array(VALUES, dtype=">f4"),
        np.asfortranarray(np.array(VALUES, dtype=np.float32)),
        np.array(VALUES, dtype=np.float64),
        np.array(VALUES, dtype=np.int64).reshape(9),
        {"buffer": [1, 2, 3, 3, 0, 4, 2, 5, 2]},
        tuple(map(tuple, VALUES)),
        {"buffer": (1, 2, 3, 3, 0, 4, 2, 5, 2)},
    ],
    ids=["nested", "flat", "array", "big-endian", "fortran", "float64", "flat int64", "buffer", "tuples", "a tuple"],
)
def test_evaluate_computes_the_outputs_by_name(values: Any) -> None:
    outputs = dmlcheck.evaluate("ARGMAX", ARGMAX, {"InputTensor": values})
    assert list(outputs) == ["OutputTensor"]
    assert outputs["OutputTensor"].dtype == np.uint32
    assert outputs["OutputTensor"].tolist() == [[1, 2, 1]]


def test_the_values_of_an_array_of_tensors_may_be_a_tuple() -> None:
    parts = [{"DataType": "UINT8", "Sizes": [size]} for size in (1, 2)]
    desc = {"InputTensors": parts, "OutputTensor": {"DataType": "UINT8", "Sizes": [3]}, "Axis": 0}
    outputs = dmlcheck.evaluate("JOIN", desc, {"InputTensors": (np.array([1], np.uint8), (2, 3))})
    assert outputs["OutputTensor"].tolist() == [1, 2, 3]


def test_evaluate_does_not_touch_its_inputs() -> None:
    values = np.array(VALUES, dtype=np.float32)
    dmlcheck.evaluate("REDUCE", SUM, {"InputTensor": values})
    assert values.tolist() == VALUES


@pytest.mark.parametrize(
    ("operator", "desc", "inputs", "rules"),
    [
        ("ARGMAX", changed(ARGMAX, Axes=[2]), {"InputTensor": VALUES}, {"axis-out-of-range"}),
        ("ARGMAXX", ARGMAX, {"InputTensor": VALUES}, {"unknown-operator"}),
        ("ARGMAX", {}, {}, {"missing-field"}),
        ("ARGMAX", ARGMAX, {}, {"missing-tensor"}),
        ("ARGMAX", ARGMAX, [VALUES], {"wrong-type"}),
        ("ARGMAX", ARGMAX, np.array(VALUES), {"wrong-type"}),
        ("ARGMAX", ARGMAX, {"InputTensor": None}, {"missing-tensor"}),
        ("ARGMAX", ARGMAX, {"InputTensor": VALUES, "Input": [1]}, {"unexpected-tensor"}),
        ("ARGMAX", ARGMAX, {"InputTensor": VALUES, "OutputTensor": [[0, 0, 0]]}, {"unexpected-tensor"}),
        ("ARGMAX", ARGMAX, {"InputTensor": [[1, 2], [3, 4]]}, {"element-count"}),
        ("ARGMAX", ARGMAX, {"InputTensor": [[1e39, 2, 3], [3, 0, 4], [2, 5, 2]]}, {"value-not-representable"}),
        ("ARGMAX", ARGMAX, {"InputTensor": [["x", 2, 3], [3, 0, 4], [2, 5, 2]]}, {"wrong-type"}),
        ("ARGMAX", ARGMAX, {"InputTensor": np.full((3, 3), 1e39)}, {"value-not-representable"}),
        ("ARGMAX", ARGMAX, {"InputTensor": np.zeros(8, dtype=np.float32)}, {"element-count"}),
        ("ARGMAX", ARGMAX, {"InputTensor": {"file": "missing.npy"}}, {"file-not-found"}),
    ],
)
def test_evaluate_refuses_what_it_cannot_use(operator: str, desc: Any, inputs: Any, rules: set[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        dmlcheck.evaluate(operator, desc, inputs)
    assert {diagnostic.rule for diagnostic in caught.value.diagnostics} == rules
    assert all(isinstance(diagnostic, Diagnostic) for diagnostic in caught.value.diagnostics)
    first = caught.value.diagnostics[0]
    assert str(caught.value).startswith(f"{first.rule}: {first.message}")


def test_what_is_invalid_is_a_value_error() -> None:
    assert issubclass(InvalidInput, ValueError)
    with pytest.raises(ValueError, match="axis-out-of-range: Axes\\[0\\] is 2"):
        dmlcheck.evaluate("ARGMAX", changed(ARGMAX, Axes=[2]), {"InputTensor": VALUES})


def test_evaluate_refuses_tensors_that_do_not_fit_into_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    large = {"DataType": "FLOAT32", "Sizes": [2**20]}
    desc = changed(SUM, InputTensor=large, OutputTensor={"DataType": "FLOAT32", "Sizes": [1]})
    monkeypatch.setattr("dmlcheck.values.memory.available_bytes", lambda: 2**20)
    with pytest.raises(InvalidInput) as caught:
        dmlcheck.evaluate("REDUCE", desc, {"InputTensor": {"sequence": {"step": 0}}})
    assert [diagnostic.rule for diagnostic in caught.value.diagnostics] == ["tensor-too-large"]
    monkeypatch.setattr("dmlcheck.values.memory.available_bytes", lambda: None)
    assert dmlcheck.evaluate("REDUCE", desc, {"InputTensor": {"fill": 1}})["OutputTensor"].tolist() == [2**20]


# ---- load_cases


def test_the_cases_of_a_file_are_loaded_in_order(case_file: Path) -> None:
    cases = dmlcheck.load_cases(case_file)
    assert all(isinstance(case, Case) for case in cases)
    assert [case.name for case in cases] == ["right", "wrong", "refused", "late"]
    assert cases[0].id == f"{case_file.as_posix()}::right"
    assert cases[0].operator == "DML_OPERATOR_ARGMAX"
    assert cases[0].inputs == {"InputTensor": VALUES}
    assert cases[2].invalid == ("ARGMAX/C2",)
    assert cases[3].feature_level == "4_1"
    assert [case.id for case in dmlcheck.load_cases(str(case_file))] == [case.id for case in cases]


def test_the_cases_of_a_folder_are_loaded_file_by_file(case_file: Path) -> None:
    folder = case_file.parent / "more"
    folder.mkdir()
    (folder / "b.yml").write_text(CASES, encoding="utf-8")
    (folder / "a.json").write_text('{"operator": "ARGMAX", "desc": {}}', encoding="utf-8")
    (folder / "notes.txt").write_text("not a case", encoding="utf-8")
    names = [case.id.rpartition("/")[2] for case in dmlcheck.load_cases(case_file.parent)]
    assert names == [
        "argmax.yaml::right", "argmax.yaml::wrong", "argmax.yaml::refused", "argmax.yaml::late", "a.json::a",
        "b.yml::right", "b.yml::wrong", "b.yml::refused", "b.yml::late",
    ]  # fmt: skip


def test_a_folder_without_files_has_no_cases(tmp_path: Path) -> None:
    assert dmlcheck.load_cases(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("a: [", {"yaml-syntax"}),
        ("", {"wrong-type"}),
        ("[1]", {"wrong-type"}),
        ("operator: ARGMAX\noperator: ARGMIN\ndesc: {}\n", {"duplicate-key"}),
        ("operator: ARGMAX\ndesc: {}\nzzz: 1\n", {"unknown-key"}),
        ("desc: {}\n", {"missing-key"}),
        ("cases:\n- {operator: ARGMAX, desc: {}}\n", {"missing-key"}),
    ],
)
def test_a_file_that_is_not_well_formed_raises_with_its_place(tmp_path: Path, text: str, rules: set[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        dmlcheck.load_cases(path)
    assert {diagnostic.rule for diagnostic in caught.value.diagnostics} == rules
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.file == path.as_posix()
        assert diagnostic.line is not None
        assert diagnostic.column is not None


def test_problems_of_all_files_are_raised_together(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("a: [", encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        dmlcheck.load_cases(tmp_path)
    assert [str(diagnostic.file).rpartition("/")[2] for diagnostic in caught.value.diagnostics] == ["a.yaml", "b.yaml"]


def test_a_path_that_is_not_there_raises(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file or folder") as caught:
        dmlcheck.load_cases(tmp_path / "missing.yaml")
    assert [diagnostic.rule for diagnostic in caught.value.diagnostics] == ["file-not-found"]


# ---- run_cases


def test_cases_are_run_in_order_and_judged(case_file: Path) -> None:
    results = dmlcheck.run_cases(dmlcheck.load_cases(case_file))
    assert all(isinstance(result, CaseResult) for result in results)
    assert [(result.case.name, result.outcome) for result in results] == [
        ("right", "passed"), ("wrong", "failed"), ("refused", "passed"), ("late", "passed"),
    ]  # fmt: skip
    wrong = results[1]
    (diagnostic,) = wrong.diagnostics
    assert (diagnostic.rule, diagnostic.pointer) == ("output-mismatch", "outputs.OutputTensor[0][2]")
    assert (diagnostic.file, diagnostic.line) == (case_file.as_posix(), 10)
    output = wrong.outputs["OutputTensor"]
    assert (output.elements, output.mismatches, output.first[0].place) == (3, 1, (0, 2))
    assert (output.first[0].expected, output.first[0].actual) == (2, 1)


def test_no_cases_have_no_results() -> None:
    assert dmlcheck.run_cases([]) == []


def test_what_is_no_list_of_cases_is_a_type_error(case_file: Path) -> None:
    (case, *_) = dmlcheck.load_cases(case_file)
    wrong: list[Any] = [str(case_file), case, [case, str(case_file)], [None], [case.desc]]
    for cases in wrong:
        with pytest.raises(TypeError, match=r"^run_cases takes a list of cases, as load_cases returns it$"):
            dmlcheck.run_cases(cases)


def test_any_iterable_of_cases_is_run(case_file: Path) -> None:
    cases = dmlcheck.load_cases(case_file)
    assert [result.case for result in dmlcheck.run_cases(case for case in cases[:2])] == cases[:2]


def test_an_implementation_of_ones_own_is_judged(case_file: Path) -> None:
    seen: list[Any] = []

    def run(desc: Any, inputs: Any) -> dict[str, Any]:
        seen.append((desc.spec.short, desc.values["Axes"], inputs["InputTensor"].tolist()))
        return {"OutputTensor": np.array([[1, 2, 2]], dtype=np.uint32)}

    results = dmlcheck.run_cases(dmlcheck.load_cases(case_file), Fake(run))
    assert [result.outcome for result in results] == ["failed", "passed", "passed", "failed"]
    assert seen == [("ARGMAX", (0,), VALUES)] * 3


# ---- names


def test_every_public_name_is_there() -> None:
    for name in dmlcheck.__all__:
        assert getattr(dmlcheck, name) is not None
    assert set(dmlcheck.__all__) >= {"validate", "minimum_feature_level", "evaluate", "load_cases", "run_cases"}


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'dmlcheck' has no attribute 'nothing'"):
        dmlcheck.nothing  # noqa: B018


# ---- what importing costs


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that a fresh Python has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import dmlcheck",
        f"import dmlcheck\nassert dmlcheck.validate('ARGMAX', {ARGMAX!r}) == []",
        f"import dmlcheck\nassert dmlcheck.validate('ARGMAX', {ARGMAX!r}, '2_1') != []",
        f"import dmlcheck\nassert dmlcheck.minimum_feature_level('ARGMAX', {ARGMAX!r}) == '3_0'",
        "import dmlcheck\ndmlcheck.Diagnostic, dmlcheck.Case, dmlcheck.CaseResult, dmlcheck.InvalidInput",
    ],
    ids=["import", "validate", "validate-bad", "minimum-level", "names"],
)
def test_importing_and_validating_load_neither_numpy_nor_what_draws(code: str) -> None:
    loaded = modules_after(code)
    assert "dmlcheck" in loaded
    assert loaded & {"numpy", "rich", "click", "jsonschema"} == set()


@pytest.mark.slow
def test_loading_cases_does_not_load_numpy(case_file: Path) -> None:
    loaded = modules_after(f"import dmlcheck\nassert len(dmlcheck.load_cases({str(case_file)!r})) == 4")
    assert loaded & {"numpy", "rich", "click"} == set()


def test_importing_alone_loads_not_even_yaml() -> None:
    assert "yaml" not in modules_after("import dmlcheck")


@pytest.mark.slow
def test_computing_loads_numpy() -> None:
    code = f"import dmlcheck\ndmlcheck.evaluate('ARGMAX', {ARGMAX!r}, {{'InputTensor': {VALUES!r}}})"
    assert "numpy" in modules_after(code)


def test_a_desc_may_hold_numpys_numbers_and_arrays() -> None:
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": np.array([2, 3])},
        "OutputTensor": {"DataType": "UINT32", "Sizes": (np.int64(2), np.uint32(1))},
        "Axes": np.array([1]),
        "AxisDirection": "INCREASING",
    }
    assert dmlcheck.validate("ARGMAX", desc) == []
    assert dmlcheck.minimum_feature_level("ARGMAX", desc) == "3_0"
    assert dmlcheck.evaluate("ARGMAX", desc, {"InputTensor": [[1, 3, 2], [9, 8, 7]]})["OutputTensor"].tolist() == [
        [1],
        [0],
    ]


def test_what_contains_itself_is_refused() -> None:
    desc: dict[str, Any] = {}
    desc["InputTensor"] = desc
    values: list[Any] = []
    values.append(values)
    for ask in (
        lambda: dmlcheck.validate("ARGMAX", desc),
        lambda: dmlcheck.minimum_feature_level("ARGMAX", desc),
        lambda: dmlcheck.accepted("ARGMAX", desc, "1.15.4"),
        lambda: dmlcheck.evaluate("ARGMAX", desc, {}),
        lambda: dmlcheck.evaluate("ARGMAX", ARGMAX, {"InputTensor": values}),
    ):
        with pytest.raises(ValueError, match="nested deeper than 100 levels; does it contain itself"):
            ask()


def test_what_makes_no_sense_is_told_and_no_bug() -> None:
    nothing: Any = None
    assert [found.rule for found in dmlcheck.validate(nothing, {})] == ["unknown-operator"]
    with pytest.raises(InvalidInput, match="missing-tensor"):
        dmlcheck.evaluate("ARGMAX", ARGMAX, nothing)
    assert "validate" in dir(dmlcheck)


def test_an_implementation_may_be_given_by_its_name(case_file: Path) -> None:
    cases = dmlcheck.load_cases(case_file)
    results = dmlcheck.run_cases(cases, implementation="reference")
    assert [result.outcome for result in results] == [result.outcome for result in dmlcheck.run_cases(cases)]


def test_a_desc_is_judged_by_itself_though_an_equal_looking_one_was_good_before(tmp_path: Path) -> None:
    tensor = "{DataType: FLOAT32, Sizes: [1]}"
    head = f"operator: ACTIVATION_ELU\ndesc: {{InputTensor: {tensor}, OutputTensor: {tensor}}}\ncases:\n"
    case = "- {{name: c{0}, desc: {{Alpha: {1}}}, inputs: {{InputTensor: [1]}}, outputs: {{OutputTensor: [1]}}}}\n"
    alphas = ("inf", "1e999", "1", "1.0", "true", "1", '"1"')
    path = tmp_path / "elu.yaml"
    path.write_text(head + "".join(case.format(*row) for row in enumerate(alphas)), encoding="utf-8")
    outcomes = [result.outcome for result in dmlcheck.run_cases(dmlcheck.load_cases(path))]
    assert outcomes == ["passed", "failed", "passed", "passed", "failed", "passed", "failed"]
