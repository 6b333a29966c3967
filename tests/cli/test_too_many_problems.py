"""Files of a few lines that a matrix, or one long list, makes thousands of mistakes of: the first are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import dmlcheck, json_of, write

MATRIX = """\
operator: DML_OPERATOR_ELEMENT_WISE_ADD
matrix: {A: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], B: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], C: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
inputs: {ATensor: {fill: 0}}
desc:
  ATensor: {DataType: FLOAT3, Sizes: ["${A}", 0]}
  BTensor: {DataType: FLOAT32, Sizes: [0, "${B}"]}
  OutputTensor: {DataType: FLOAT32, Sizes: ["${C}", 0]}
"""
WORDS = "more than 1,000 problems"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_validate_stops_after_so_many_problems_and_says_so(form: str) -> None:
    write("a.yaml", MATRIX)
    result = dmlcheck("validate", "a.yaml", "--format", form)
    assert (result.exit_code, result.output.count("more descs are not checked")) == (1, 1)
    assert WORDS in result.output


@pytest.mark.slow
def test_the_descs_that_are_not_checked_are_no_valid_ones() -> None:
    write("a.yaml", MATRIX)
    report = json.loads(dmlcheck("validate", "a.yaml", "--format", "json").stdout)
    told = [found for desc in report["descs"] for found in desc["diagnostics"]]
    assert 1000 < len(told) < 1010
    last = report["descs"][-1]
    assert (last["operator"], last["valid"], last["minimum_feature_level"]) == (None, False, None)
    assert [(found["rule"], found["severity"], found["file"]) for found in last["diagnostics"]] == [
        ("too-many-problems", "warning", "a.yaml")
    ]
    left = 1000 - (len(report["descs"]) - 1)
    assert f"; {left} more descs are not checked" in last["diagnostics"][0]["message"]


@pytest.mark.slow
def test_a_run_ends_each_case_and_tells_the_diagnostics_of_the_first() -> None:
    write("a.yaml", MATRIX)
    files = {f"--{kind}": f"r.{kind}" for kind in ("json", "junitxml", "html", "sarif")}
    result = dmlcheck("run", "a.yaml", *(word for pair in files.items() for word in pair))
    assert result.exit_code == 1
    cases = json_of("r.json")["cases"]
    assert (len(cases), {case["outcome"] for case in cases}) == (1000, {"failed"})
    assert 1000 < sum(len(case["diagnostics"]) for case in cases) < 1010
    silent = [case for case in cases if not case["diagnostics"]]
    reason = "the desc is not valid (not listed: the file has more than 1,000 problems)"
    assert {case["reason"] for case in silent} == {reason}
    assert len(silent) > 500
    for name in ("r.junitxml", "r.html", "r.sarif"):
        assert WORDS in Path(name).read_text("utf-8"), name
    assert WORDS in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "run", "eval", "coverage"])
def test_a_matrix_whose_cases_are_not_well_formed_is_read_no_further(command: str) -> None:
    write("a.yaml", MATRIX.replace("9], B", "9, 10], B") + 'tolerance: {ulp: "${A}x"}\n')
    result = dmlcheck(command, "a.yaml")
    assert (result.exit_code, WORDS in result.output) == (2, True)
    assert len(result.output) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "run", "eval", "coverage", "export"])
def test_a_file_of_very_many_empty_cases_is_read_no_further(command: str) -> None:
    write("a.yaml", "cases:\n" + "- {}\n" * 5000)
    result = dmlcheck(command, "a.yaml", *(["--to", "dxdispatch", "-o", "out"] if command == "export" else []))
    assert (result.exit_code, WORDS in result.output) == (2, True)
    assert "its other cases are not read" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "run", "eval"])
def test_one_list_of_very_many_mistakes_is_told_in_part(command: str) -> None:
    axes = ", ".join(["-1"] * 3000)
    desc = "{Function: SUM, InputTensor: {DataType: FLOAT32, Sizes: [3]}, OutputTensor: {DataType: FLOAT32, Sizes: [1]}"
    write("a.yaml", f"operator: REDUCE\ninputs: {{InputTensor: [1, 2, 3]}}\ndesc: {desc}, Axes: [{axes}]}}\n")
    result = dmlcheck(command, "a.yaml")
    assert (result.exit_code, result.output.count("Axes[")) == (1, result.output.count("error[field-type]"))
    assert 900 < result.output.count("error[field-type]") <= 1000
    assert f"{WORDS}; the others are not listed" in result.output


@pytest.mark.slow
def test_a_file_of_known_results_is_told_in_part() -> None:
    write("a.yaml", MATRIX)
    write("known.yaml", "- {cases: 1}\n" * 1000)
    result = dmlcheck("run", "a.yaml", "--expectations", "known.yaml")
    assert (result.exit_code, result.stderr.count("error[")) == (2, 1000)
    assert f"known.yaml has {WORDS}; the others are not listed" in result.stderr


@pytest.mark.slow
def test_of_very_many_variables_the_first_are_named_and_no_closest_is_looked_for() -> None:
    variables = {f"variable{number}": [1] for number in range(5000)}
    desc = {f"field{number}": f"${{varable{number}}}" for number in range(5000)}
    write("a.json", json.dumps({"operator": "REDUCE", "matrix": variables, "desc": desc}))
    result = dmlcheck("validate", "a.json")
    assert (result.exit_code, result.stdout.count("error[unknown-key]")) == (2, 20)
    assert "help: it has variable0, variable1, " in result.stdout
    assert "variable19, ...\n" in result.stdout
    assert len(result.stdout) < 100_000


@pytest.mark.slow
def test_a_model_of_very_many_unknown_names_is_read_no_further() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1]}
    names = ("ATensor", "BTensor", "OutputTensor")
    add = {"type": "DML_OPERATOR_ELEMENT_WISE_ADD", "desc": dict.fromkeys(names, tensor)}
    resource = {"initialValuesDataType": "FLOAT32", "initialValues": [1]}
    resources = {f"resource{number}": resource for number in range(500)}
    commands = [
        {"type": "dispatch", "dispatchable": "add", "bindings": dict.fromkeys(names, f"resorce{number}")}
        for number in range(2000)
    ]
    write("a.json", json.dumps({"resources": resources, "dispatchables": {"add": add}, "commands": commands}))
    result = dmlcheck("validate", "a.json")
    assert (result.exit_code, WORDS in result.stdout) == (2, True)
    assert "commands[400]" not in dmlcheck("validate", "a.json", "--format", "json").stdout
