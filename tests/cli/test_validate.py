"""What `validate` reads and says."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from asked_library import E_INVALIDARG, AskedLibrary
from commandline import DESC, GOOD, dmlcheck, write

from dmlcheck.cli.validate import validation_lines
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.yaml import parse
from dmlcheck.implementations.directml import DirectMLLibrary
from dmlcheck.reports.layout import PLAIN
from dmlcheck.running.legality import Validated


@pytest.mark.slow
def test_validation_starts_without_numpy_and_rich() -> None:
    write("a.yaml", DESC)
    code = (
        "import sys\nfrom dmlcheck.cli import main\n"
        "try:\n    main(['validate', 'a.yaml'])\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        "assert not {'numpy', 'rich'} & sys.modules.keys()\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


def test_what_is_legal_is_said_without_making_the_values() -> None:
    write("a.yaml", GOOD.replace("Sizes: [3]", "Sizes: [33554432]").replace("[1, 2, 3]", "{sequence: {step: 0}}"))
    tracemalloc.start()
    try:
        result = dmlcheck("validate", "a.yaml")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0
    assert most < 2**26  # half of the values


def test_a_negative_case_about_values_is_left_to_a_run() -> None:
    write("a.yaml", DESC + "invalid: [missing-tensor]\n")
    assert dmlcheck("validate", "a.yaml").exit_code == 0
    assert dmlcheck("run", "a.yaml").exit_code == 0


WRONG_DEFAULTS = """\
operator: ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 4]}
  Axes: [0]
  AxisDirection: INCREASING
inputs: {InputTensor: [1, 2, 3]}
cases:
  - {name: takes-the-desc}
  - {name: takes-it-too}
  - {name: takes-the-values, desc: {OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}}
  - {name: takes-them-too, desc: {OutputTensor: {DataType: UINT32, Sizes: [1, 3]}}}
"""


@pytest.mark.parametrize(
    ("command", "of_values"),
    [("validate", 0), ("validate --format sarif", 0), ("validate --format github", 0), ("run", 1), ("eval", 1)],
)
def test_a_wrong_default_is_told_once_and_not_for_each_case_that_takes_it(command: str, of_values: int) -> None:
    write("a.yaml", WRONG_DEFAULTS)
    result = dmlcheck(*command.split(), "a.yaml")
    assert result.exit_code == 1
    told = "".join(line for line in result.output.splitlines() if not line.startswith(("FAILED", "ERROR")))
    assert told.count("it must be 3") == 1
    assert told.count("InputTensor has 3 elements") == of_values


def test_in_a_run_the_other_cases_name_the_one_that_tells_a_wrong_default() -> None:
    write("a.yaml", WRONG_DEFAULTS)
    lines = dmlcheck("run", "a.yaml").stdout.splitlines()
    assert "FAILED a.yaml::takes-it-too   size-mismatch" in lines
    assert "FAILED a.yaml::takes-it-too - size-mismatch, as in a.yaml::takes-the-desc" in lines
    assert "  a.yaml:4:47: size-mismatch, as in a.yaml::takes-the-desc" in lines


def test_the_json_report_says_of_every_desc_why_it_is_not_valid() -> None:
    write("a.yaml", WRONG_DEFAULTS)
    descs = json.loads(dmlcheck("validate", "--format", "json", "a.yaml").stdout)["descs"]
    assert [(desc["valid"], len(desc["diagnostics"])) for desc in descs] == [
        (False, 1),
        (False, 1),
        (True, 0),
        (True, 0),
    ]


KNOWN = DESC.replace("FLOAT32", "FLOAT16").replace("INT32", "FLOAT16")
NOTE = "known of DirectML (not fixed as of 2023): FLOAT16 SUM and AVERAGE can overflow to infinity"


def test_what_is_known_of_directml_is_noted_in_every_format() -> None:
    write("a.yaml", KNOWN)
    text = dmlcheck("validate", "a.yaml")
    assert (text.exit_code, f"a.yaml:1:11: note[known-deviation]: {NOTE}" in text.stdout) == (0, True)
    assert "a.yaml: DML_OPERATOR_REDUCE is valid from" in text.stdout
    report = json.loads(dmlcheck("validate", "a.yaml", "--format", "json").stdout)
    (desc,) = report["descs"]
    (found,) = desc["diagnostics"]
    assert (report["valid"], desc["valid"], found["rule"], found["severity"]) == (True, True, "known-deviation", "note")
    assert found["message"].startswith(NOTE)
    (result,) = json.loads(dmlcheck("validate", "a.yaml", "--format", "sarif").stdout)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("known-deviation", "note")
    notice = dmlcheck("validate", "a.yaml", "--format", "github")
    assert notice.exit_code == 0
    assert notice.stdout.startswith("::notice file=a.yaml,line=1,")
    write("b.yaml", DESC)
    assert "known-deviation" not in dmlcheck("validate", "b.yaml").stdout


HARDMAX = """\
operator: ACTIVATION_HARDMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 2]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 2], Strides: [8, 8, 4, 1]}
"""


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_notes_of_deviations_may_be_those_of_one_version_in_every_format(form: str) -> None:
    write("a.yaml", HARDMAX)
    for words, is_noted in (((), True), (("1.9.1",), True), (("1.10.0",), False), (("1.15",), False)):
        options = [word for version in words for word in ("--directml-version", version)]
        result = dmlcheck("validate", "a.yaml", "--format", form, *options)
        assert (result.exit_code, "Wrong results for some strides" in result.stdout) == (0, is_noted), (form, words)
        if form == "json":
            assert json.loads(result.stdout).get("directml_version") == next(iter(words), None)


def test_a_version_of_directml_that_is_none_is_refused_as_run_does() -> None:
    write("a.yaml", HARDMAX)
    said = [dmlcheck(command, "a.yaml", "--directml-version", "eight") for command in ("validate", "run")]
    assert [result.exit_code for result in said] == [2, 2]
    problems = [" ".join(result.stderr.split()).rpartition("Error")[2] for result in said]
    assert problems[0] == problems[1]
    assert "'eight' is not a version of DirectML; write 1.8.0" in problems[0]


@pytest.mark.parametrize("text", ["", "cases: []\n"])
def test_where_there_is_no_desc_nothing_is_checked(text: str, folder: Path) -> None:
    (folder / "descs").mkdir()
    if text:
        (folder / "descs" / "none.yaml").write_text(text, encoding="utf-8")
    result = dmlcheck("validate", "descs")
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr == "dmlcheck: nothing was checked: there is no desc\n"


def test_models_in_a_folder_are_said_to_be_left_out() -> None:
    write("f/a.yaml", DESC)
    write("f/m.onnx", "")
    result = dmlcheck("validate", "f")
    words = "is not checked: of a folder only case files are; give the path of the model"
    assert (result.exit_code, result.stderr) == (0, f"dmlcheck: f/m.onnx {words}\n")


@pytest.mark.parametrize(
    ("library", "problem"),
    [
        ("none.dll", "directml:none.dll: there is no such file or folder; name one"),
        ("a.yaml", "a.yaml is no library; name one"),
    ],
)
def test_a_library_that_is_none_is_refused_before_anything_is_read(library: str, problem: str) -> None:
    write("a.yaml", DESC)
    result = dmlcheck("validate", "a.yaml", "--library", library)
    assert (result.exit_code, "Error: --library: directml:" in result.output, problem in result.output) == (
        2,
        True,
        True,
    )
    assert "valid from" not in result.output


def test_the_answers_of_a_library_are_lines_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.yaml", DESC)
    monkeypatch.setattr(DirectMLLibrary, "to_ask", lambda _: AskedLibrary(E_INVALIDARG))
    result = dmlcheck("validate", "a.yaml", "--library", "it")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "a.yaml: DirectML 1.13.1 refuses it: E_INVALIDARG"
    assert "a.yaml:2:1: warning[unforeseen-answer]: DirectML 1.13.1 refuses it" in result.output
    found = json.loads(dmlcheck("validate", "a.yaml", "--library", "it", "--format", "json").output)
    assert found["descs"][0]["library"] == {"version": "1.13.1", "accepted": False, "hresult": "0x80070057"}
    assert [note["rule"] for note in found["descs"][0]["diagnostics"]] == ["unforeseen-answer"]


# ---- validated descs as text


DOCUMENTS = {"a.yaml": parse(b"operator: REDUCE\ndesc: {}\n", "a.yaml"), "b.yaml": parse(b"[", "b.yaml")}
ERROR = Diagnostic("missing-field", "no Axes", file="a.yaml", line=2, column=1, width=4)


def desc(**fields: Any) -> Validated:
    known = Validated("a.yaml", "one", "DML_OPERATOR_REDUCE", "6_4", "5_0", ())
    return known._replace(**fields)


def lines(*descs: Validated) -> list[str]:
    return list(validation_lines(list(descs), DOCUMENTS, PLAIN))


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "a.yaml: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)"),
        ({"is_plain": False}, "a.yaml::one: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)"),
        (
            {"minimum": None, "diagnostics": (ERROR._replace(severity="note"),)},
            "a.yaml: DML_OPERATOR_REDUCE breaks missing-field at DML_FEATURE_LEVEL_6_4, as the case says",
        ),
        (
            {"diagnostics": (ERROR._replace(severity="note", constraint="REDUCE/C2"),)},
            "a.yaml: DML_OPERATOR_REDUCE breaks REDUCE/C2 at DML_FEATURE_LEVEL_6_4, as the case says",
        ),
        (
            {"minimum": None},
            "a.yaml: DML_OPERATOR_REDUCE is a negative case about its values, which `dmlcheck run` reads",
        ),
    ],
)
def test_a_desc_without_errors_has_a_verdict(fields: dict[str, Any], verdict: str) -> None:
    assert lines(desc(**fields)) == [verdict]


def test_a_mistake_that_several_cases_share_is_printed_and_counted_once() -> None:
    cases = [desc(name=name, is_plain=False, diagnostics=(ERROR,)) for name in "abc"]
    assert lines(*cases, desc(name="d", is_plain=False)) == [
        "a.yaml:2:1: error[missing-field]: no Axes\n  2 | desc: {}\n    | ^^^^",
        "  the same in 2 more cases",
        "a.yaml::d: DML_OPERATOR_REDUCE is valid from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)",
        "1 error in 3 descs. `dmlcheck explain missing-field` says more.",
    ]


def test_what_is_noted_of_a_file_is_printed_and_what_is_wrong_with_a_file_has_no_verdict() -> None:
    note = Diagnostic("runs-elsewhere", "not DirectML's", severity="note", file="a.yaml")
    assert lines(desc(operator=None, diagnostics=(note,))) == ["a.yaml: note[runs-elsewhere]: not DirectML's"]
    assert lines(desc(file="b.yaml")) == []
