"""What `run` runs, when it stops, and what it says."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from commandline import DESC, FILES, GOOD, WRONG, dmlcheck, json_of, write

ROOT = Path(__file__).parent.parent.parent


def test_a_folder_is_searched_for_yaml_and_json(folder: Path) -> None:
    for name in ("f/a.yaml", "f/b.yml", "f/g/c.YAML", "f/notes.txt", "f/.hidden.yaml", "f/.git/d.yaml"):
        write(name, GOOD)
    write("f/d.json", '{"operator": "REDUCE", "cases": []}')
    result = dmlcheck("run", "f", "-v")
    ids = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("PASSED")]
    assert ids == ["f/a.yaml::a", "f/b.yml::b", "f/g/c.YAML::c"]
    absolute = dmlcheck("run", str(folder / "f"), "-v", "-k", "a.yaml")
    assert f"PASSED {(folder / 'f').as_posix()}/a.yaml::a" in absolute.stdout


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a", ["a", "ab", "case"]),
        ("a and not b", ["a", "case"]),
        ("AB or case", ["ab", "case"]),
        ("not (ab or case)", ["a", "x"]),
    ],
)
def test_k_selects_by_substrings_of_the_id(expression: str, names: list[str]) -> None:
    cases = "".join(f"- {{name: {name}, outputs: {{OutputTensor: [6]}}}}\n" for name in ("a", "ab", "case", "x"))
    write("0.yml", GOOD.partition("outputs")[0] + "cases:\n" + cases)
    result = dmlcheck("run", "0.yml", "-v", "-k", expression)
    assert [line.partition("::")[2] for line in result.stdout.splitlines() if line.startswith("PASSED")] == names


def test_one_case_is_run_by_its_id() -> None:
    path = FILES / "case.yaml"
    result = dmlcheck("run", f"{path}::right", "-v")
    assert (result.exit_code, result.stdout.count("PASSED")) == (0, 1)
    assert dmlcheck("run", f"{path}::nobody").exit_code == 5


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are other things there")
def test_a_pipe_in_a_folder_is_not_waited_for(folder: Path) -> None:
    write("f/a.yaml", GOOD)
    os.mkfifo(folder / "f" / "b.yaml")
    result = dmlcheck("run", "f")
    note = "dmlcheck: f/b.yaml is a pipe, a device or a socket, and is not read\n"
    assert (result.exit_code, result.stderr) == (0, note)


def test_the_bundled_cases_run_without_a_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("cases/reduce/sum.yaml", GOOD)
    monkeypatch.setattr("dmlcheck.formats.find.data_folder", lambda name: str(folder / name))
    result = dmlcheck("run", "-v")
    assert (result.exit_code, "passed in" in result.stdout) == (0, True)
    assert "\nPASSED cases/reduce/sum.yaml" in result.stdout


ONE_DESC = "1 desc checked in "


@pytest.mark.slow
def test_a_plain_desc_is_legal_or_fails_whatever_the_implementation() -> None:
    write("legal.yaml", DESC)
    write("not.yaml", DESC.replace("FLOAT32", "FLOAT33"))
    for words, code in (([], 0), (["--implementation", "python:misbehaving:Misbehaving"], 5)):
        legal = dmlcheck("run", "legal.yaml", "-v", "--json", "report.json", *words)
        assert (legal.exit_code, legal.stdout.splitlines()[-1].startswith(ONE_DESC)) == (code, True)
        assert "PASSED legal.yaml::legal   a valid desc" in legal.stdout
        summary = json_of("report.json")["summary"]
        assert (summary["passed"], summary["legal"], summary["computed"]) == (1, 1, 0)
        wrong = dmlcheck("run", "not.yaml", *words)
        assert (wrong.exit_code, "error[unknown-enum-value]" in wrong.stdout) == (1, True)


MIXED = (
    DESC
    + """\
cases:
- {name: plain}
- {name: axis, desc: {Axes: [1]}, invalid: [axis-out-of-range]}
- {name: field, desc: {Axis: 1}, invalid: [unknown-field]}
- {name: early, feature_level: "4_1", desc: {InputTensor: {DataType: INT64, Sizes: [3]}, OutputTensor: {DataType: INT64,
    Sizes: [1]}}, invalid: [unsupported-data-type]}
- {name: sum, inputs: {InputTensor: [1, 2, 3]}, outputs: {OutputTensor: [6]}}
- {name: random, inputs: {InputTensor: {random: {seed: 1, low: 1, high: 2}}}}
"""
)
OUTCOMES = {
    # plain, axis, field, early, sum, random
    "reference": ("passed passed passed passed passed skipped", 1, 0, "1 passed, 4 descs checked, 1 skipped (1 for "),
    "refusing": ("passed passed passed passed error error", 1, 1, "1 passed, 3 descs checked, 2 errors"),
    "zeros": ("passed failed passed passed failed failed", 0, 1, "3 descs checked, 3 failed"),
    "unable": ("passed passed passed passed skipped skipped", 0, 5, "4 descs checked, 2 skipped"),
}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", OUTCOMES)
def test_what_the_implementation_did_not_do_is_not_counted_as_passed(name: str, jobs: str) -> None:
    outcomes, computed, code, last = OUTCOMES[name]
    write("a.yaml", MIXED)
    implementation = name if name == "reference" else f"python:judged:{name}"
    result = dmlcheck("run", "a.yaml", "-j", jobs, "--implementation", implementation, "--json", "report.json")
    report = json_of("report.json")
    assert [case["outcome"] for case in report["cases"]] == outcomes.split()
    assert (report["summary"]["computed"], report["summary"]["legal"]) == (computed, 1)
    assert (result.exit_code, result.stdout.splitlines()[-1].startswith(last)) == (code, True)
    assert ("error[invalid-desc-accepted]: fake accepts a desc" in result.stdout) == (name == "zeros")
    assert ("1 case is for implementations, which are compared with the reference engine" in result.stdout) == (
        name == "reference"
    )
    vain = "dmlcheck: nothing was checked: the implementation computed nothing; 4 descs checked without it\n"
    assert result.stderr == (vain if code == 5 else "")


@pytest.mark.parametrize(
    ("inputs", "rule", "line"),
    [
        ("{InputTensor: {random: {seed: 7, foo: 1}}}", "unknown-key", "random has no key foo"),
        ("{InputTensor: {random: 7}}", "wrong-type", "random is 7"),
        ("{InputTensor: {random: {seed: 7, low: 4, high: 1}}}", "wrong-type", "random.high is 1"),
        ("{InputTensor: {random: {seed: 7}}, Other: [1]}", "unexpected-tensor", "inputs has values for Other"),
    ],
)
def test_what_is_wrong_with_random_inputs_is_an_error_also_where_they_are_not_made(
    inputs: str, rule: str, line: str
) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [32768, 32767]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor}
    for values, code in ((inputs, 1), ("{InputTensor: {random: {seed: 7}}}", 5)):  # of which nothing is made
        write("a.yaml", f"operator: ELEMENT_WISE_IDENTITY\ndesc: {json.dumps(desc)}\ninputs: {values}\n")
        result = dmlcheck("run", "a.yaml")
        assert (result.exit_code, f"error[{rule}]: {line}" in result.stdout) == (code, code == 1)


@pytest.mark.slow
def test_a_desc_that_is_wrong_at_the_level_of_the_run_alone_is_sent_there() -> None:
    """REDUCE sums INT64 from 5_0 on."""
    write("a.yaml", MIXED)
    for level, code in (("4_1", 1), ("5_0", 5)):
        words = ["-k", "early", "--feature-level", level, "--implementation", "python:judged:zeros"]
        assert dmlcheck("run", "a.yaml", *words).exit_code == code


NOTHING_EXPECTED = GOOD.partition("outputs")[0]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_skipped_cases_fail_a_run_that_allows_none(jobs: str) -> None:
    write("f/skipped.yaml", NOTHING_EXPECTED)
    write("f/right.yaml", GOOD)
    result = dmlcheck("run", "f", "--fail-on-skipped", "-j", jobs, "--json", "report.json")
    assert result.exit_code == 1
    cases = json_of("report.json")["cases"]
    assert [("Axes: [0]" in case["desc"]) for case in cases if case["outcome"] == "failed"] == [True]
    assert "FAILED f/skipped.yaml::skipped   skipped-case" in result.stdout
    assert "f/skipped.yaml:1:1: error[skipped-case]: skipped: no expected outputs: nothing independent" in result.stdout


@pytest.mark.parametrize(
    ("values", "pointer", "column"),
    [
        ("[[[6, 6]], [[6, 7]]]", "outputs.OutputTensor[1][0][1]", 41),
        ("[6, 6, 6, 7]", "outputs.OutputTensor[3]", 35),
        ("{fill: 7}", "outputs.OutputTensor", 25),
    ],
)
def test_a_mismatch_points_at_the_value_as_the_file_gives_it(values: str, pointer: str, column: int) -> None:
    desc = GOOD.replace("Sizes: [3]", "Sizes: [2, 3, 2]").replace("Sizes: [1]", "Sizes: [2, 1, 2]")
    write("a.yaml", desc.replace("Axes: [0]", "Axes: [1]").replace("[1, 2, 3]", "{fill: 2}").replace("[6]", values))
    dmlcheck("run", "a.yaml", "--json", "report.json")
    (case,) = json_of("report.json")["cases"]
    (diagnostic,) = case["diagnostics"]
    assert (diagnostic["pointer"], diagnostic["column"]) == (pointer, column)


def test_a_negative_case_may_be_about_a_missing_tensor() -> None:
    write("a.yaml", DESC + "invalid: [missing-tensor]\n")
    assert dmlcheck("run", "a.yaml").exit_code == 0
    write("a.yaml", GOOD.partition("outputs")[0] + "invalid: [missing-tensor]\n")
    assert dmlcheck("run", "a.yaml").exit_code == 1


def test_operators_go_by_their_full_names_in_reports() -> None:
    write("a.yaml", GOOD.replace("DML_OPERATOR_", ""))
    write("b.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "b.yaml", "--json", "report.json")
    cases = json_of("report.json")["cases"]
    assert [case["operator"] for case in cases] == ["DML_OPERATOR_REDUCE"] * 2
    assert len([line for line in result.stdout.splitlines() if line.startswith("REDUCE ")]) == 1


def test_values_are_read_where_nothing_computes_them() -> None:
    desc = "{InputTensor: {DataType: UINT8, Sizes: [2]}, OutputTensor: {DataType: UINT8, Sizes: [2]}}"
    head = f"operator: ELEMENT_WISE_IDENTITY\ndesc: {desc}\n"
    for inputs, code in (("[1, 2]", 0), ("[1, 256]", 1), ("[1]", 1)):
        write("a.yaml", head + f"inputs: {{InputTensor: {inputs}}}\noutputs: {{OutputTensor: [1, 2]}}\n")
        assert dmlcheck("run", "a.yaml").exit_code == code


# ---- what is left out is said

SPLIT = """\
operator: SPLIT
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [2]}
  OutputTensors: [{DataType: FLOAT32, Sizes: [1]}, {DataType: FLOAT32, Sizes: [1]}]
  Axis: 0
inputs: {InputTensor: [1, 2]}
outputs: {OutputTensors: [[1], null]}
"""


def test_an_output_that_is_not_compared_is_said_in_text_and_json() -> None:
    write("a.yaml", SPLIT)
    result = dmlcheck("run", "a.yaml", "--json", "r.json", "-v")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "  not compared, as the case gives no values: OutputTensors[1]" in lines
    at = lines.index("1 case with outputs that are not compared, as no values are given for them:")
    assert lines[at + 1] == "  a.yaml::a: OutputTensors[1]"
    (case,) = json_of("r.json")["cases"]
    assert case["not_compared"] == ["OutputTensors[1]"]


def test_a_file_without_cases_and_an_empty_folder_are_named_beside_others(folder: Path) -> None:
    write("a.yaml", GOOD)
    write("none.yaml", "cases: []\n")
    (folder / "empty").mkdir()
    result = dmlcheck("run", "a.yaml", "none.yaml", "empty")
    assert (result.exit_code, sorted(result.stderr.splitlines())) == (
        0,
        [
            "dmlcheck: empty has no case files (*.yaml, *.yml, *.json)",
            "dmlcheck: none.yaml has no case",
        ],
    )


def test_a_link_that_leads_nowhere_is_wrong(folder: Path) -> None:
    write("f/a.yaml", GOOD)
    link(folder / "f" / "b.yaml", folder / "gone.yaml")
    result = dmlcheck("run", "f")
    assert (result.exit_code, "f/b.yaml: error[file-not-found]: no such file" in result.stdout) == (2, True)
    assert dmlcheck("validate", "f").exit_code == 2


def test_a_linked_folder_is_said_to_be_left_out(folder: Path) -> None:
    write("f/a.yaml", GOOD)
    write("g/b.yaml", WRONG)
    link(folder / "f" / "g", folder / "g")
    note = "dmlcheck: f/g is a link to a folder, and is not searched; give its path to have its files read\n"
    for command in ("run", "validate", "coverage"):
        result = dmlcheck(command, "f")
        assert (result.exit_code, result.stderr) == (0, note)
    assert dmlcheck("run", "f", "f/g").exit_code == 1


def link(place: Path, to: Path) -> None:
    try:
        place.symlink_to(to, target_is_directory=to.is_dir())
    except OSError:
        pytest.skip("links cannot be made here")


def test_of_a_folder_that_does_not_exist_nothing_else_is_said() -> None:
    result = dmlcheck("run", "nope/")
    assert (result.exit_code, result.stdout) == (2, "nope/: error[file-not-found]: no such file or folder\n")


def test_a_case_that_a_file_does_not_have_comes_with_the_closest_that_it_has() -> None:
    write("a.yaml", GOOD.replace("operator:", "name: plain\noperator:", 1))
    for more in ((), ("--list",)):
        result = dmlcheck("run", "a.yaml::plian", *more)
        assert result.stderr == "dmlcheck: a.yaml has no case plian; did you mean plain?\n"
    assert dmlcheck("eval", "a.yaml::plian").stderr == "dmlcheck: a.yaml has no case plian; did you mean plain?\n"


PLAIN = """\
operator: ACTIVATION_RELU
source: by hand
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 2]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 2]}
"""


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ("", 0),
        ("inputs: {InputTensor: [1, 2]}\n", 0),
        ("inputs: {InputTensor: {random: {seed: 1, low: 0, high: 1}}}\n", 0),
        ("inputs: {InputTensor: [1, 2, 3]}\n", 1),
        ("inputs: {InputTensor: [1, 2]}\noutputs: {OutputTensor: [1, 3]}\n", 1),
    ],
)
def test_a_run_that_may_have_no_results_checks_what_there_is(inputs: str, code: int) -> None:
    write("some.yaml", PLAIN + inputs)
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[1]
    words = [*hook["entry"].split()[1:], *hook["args"], "some.yaml"]
    assert dmlcheck(*words).exit_code == code


def test_a_run_that_selects_nothing_is_no_good_run() -> None:
    write("some.yaml", PLAIN)
    assert dmlcheck("run", "some.yaml", "-k", "other", "--allow-no-results").exit_code == 5


def test_options_go_by_the_names_of_other_tools_too() -> None:
    write("a.yaml", WRONG)
    write("b.yaml", GOOD)
    assert dmlcheck("run", ".", "--maxfail", "1", "-n", "1", "--output-format", "concise").exit_code == 1
    assert "\x1b[31m" in dmlcheck("run", "a.yaml", "--color", "always").stdout
    assert "\x1b[" not in dmlcheck("run", "a.yaml", "--color", "never").stdout
    assert "\x1b[31m" in dmlcheck("validate", write("c.yaml", "operator: X\n"), "--color", "always").stdout


def test_the_last_failures_are_those_of_the_report_that_is_written_again() -> None:
    write("a.yaml", WRONG)
    write("b.yaml", GOOD)
    assert "--lf needs --json REPORT.json" in dmlcheck("run", ".", "--lf").stderr
    words = ("run", ".", "--json", "r.json", "--lf")
    assert dmlcheck(*words).stdout.splitlines()[-1].startswith("1 passed, 1 failed")  # there was none
    assert dmlcheck(*words).stdout.splitlines()[-1].startswith("1 failed")
    write("a.yaml", GOOD)
    assert dmlcheck(*words).exit_code == 0


def test_a_quiet_validation_prints_what_is_wrong_alone() -> None:
    good, wrong = write("a.yaml", DESC), write("b.yaml", "operator: ARGMXA\ndesc: {}\n")
    found = dmlcheck("validate", good, "-q")
    assert (found.exit_code, found.output) == (0, "")
    found = dmlcheck("validate", good, wrong, "-q")
    assert found.exit_code == 1
    assert good not in found.stdout
    assert "ARGMXA is not an operator" in found.stdout


# ---- two implementations

SUMS = """\
import os
import numpy as np


class Sums:
    def run(self, desc, inputs):
        return {"OutputTensor": inputs["InputTensor"].sum(keepdims=True)}


class Off(Sums):
    def run(self, desc, inputs):
        return {"OutputTensor": super().run(desc, inputs)["OutputTensor"] + 1}


class Ends:
    may_crash = True

    def run(self, desc, inputs):
        os._exit(3)
"""


def pair(folder: Path, first: str, second: str, *words: str) -> tuple[int, list[str], dict[str, Any]]:
    """Run a right and a wrong case with two implementations; return the exit code, the lines, and the report."""
    write("sums.py", SUMS)
    write("a.yaml", GOOD)
    write("b.yaml", WRONG)
    names = "--implementation", f"python:sums:{first}", "--against", f"python:sums:{second}"
    result = dmlcheck("run", "a.yaml", "b.yaml", *names, "--json", "report.json", *words)
    return result.exit_code, result.stdout.splitlines(), json_of(folder / "report.json")


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("-j", "2"), ("--timeout", "0")])
def test_two_implementations_side_by_side(folder: Path, words: tuple[str, ...]) -> None:
    code, lines, report = pair(folder, "Sums", "Off", *words)
    assert code == 1
    at = lines.index("A is python:sums:Sums, B is python:sums:Off:")
    assert lines[at + 2].split() == ["REDUCE", "1", "1", "2097152", "ULP"]
    assert lines[at + 3] == "2 cases wrong in A, in B, or in both:"
    assert lines[at + 4].startswith("  a.yaml::a: wrong in B: OutputTensor[0]: 6 ")
    assert lines[-1].startswith("1 passed, 1 failed (1 with an inaccurate expectation, 1 failed in the other ")
    assert report["against"]["implementation"] == "python:sums:Off"
    assert [case["against"]["kind"] for case in report["cases"]] == ["wrong_in_second", "wrong_in_first"]
    assert [report["side_by_side"][kind] for kind in ("wrong_in_first", "wrong_in_second", "wrong_in_both")] == [
        1,
        1,
        0,
    ]
    assert "--against python:sums:Off" in report["cases"][0]["command"]
    assert dmlcheck("compare", "report.json", "report.json").exit_code == 0


@pytest.mark.slow
def test_a_failure_of_the_second_one_alone_fails_the_run_unless_it_is_expected(folder: Path) -> None:
    assert pair(folder, "Sums", "Off", "-k", "a.yaml")[0] == 1
    write("known.yaml", "- {cases: a.yaml::a, implementation: 'python:sums:Off', expect: failed, reason: off by one}")
    assert pair(folder, "Sums", "Off", "-k", "a.yaml", "--expectations", "known.yaml")[0] == 0


@pytest.mark.slow
def test_an_end_of_the_process_names_both(folder: Path) -> None:
    _, _, report = pair(folder, "Sums", "Ends", "-k", "a.yaml")
    message = report["cases"][0]["diagnostics"][0]["message"]
    assert message == "python:sums:Sums or python:sums:Ends ended the process with exit code 3"


@pytest.mark.slow
def test_with_q_only_what_is_wrong_is_said(folder: Path) -> None:
    lines = pair(folder, "Sums", "Sums", "-k", "a.yaml", "-q")[1]
    assert len(lines) == 1
    assert lines[0].startswith("1 passed in ")


def test_two_implementations_need_cases_and_a_whole_run() -> None:
    write("a.yaml", GOOD)
    write("model.onnx", "")
    for words, problem in {
        ("a.yaml", "--against", "python:nowhere:Name"): "--against: python:nowhere:Name cannot be made",
        ("a.yaml", "--against", "reference", "--shard", "1/2"): "--against takes no --shard",
        ("model.onnx", "--implementation", "onnxruntime", "--against", "reference"): "--against is for cases",
    }.items():
        result = dmlcheck("run", *words)
        assert result.exit_code == 2
        assert problem in result.stderr
