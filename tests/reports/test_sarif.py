"""SARIF: against the schema of OASIS, and the places and rules of known problems."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from commandline import dmlcheck
from results import MISMATCH, case, every_outcome, failed, report, summary_of

from dmlcheck import __version__
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.records import RunInfo
from dmlcheck.reports.sarif import SarifReport, file_uri
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings

HERE = Path(__file__).parent.parent
FILES = HERE / "snapshots" / "files"
SCHEMA = jsonschema.Draft4Validator(json.loads((HERE / "schemas" / "sarif-schema-2.1.0.json").read_text("utf-8")))
INFO = RunInfo("onnxruntime", Settings("6_4", Precision("FLOAT16", "TF32")), version="1.31.1")
# RFC 3986: what may stand in the path of a reference.
URI = re.compile(r"(file://)?([A-Za-z0-9._~/:!$&'()*+,;=@-]|%[0-9A-F]{2})*")


pytestmark = pytest.mark.usefixtures("folder")


def parsed(text: str) -> Any:
    """Return the only run of a report, which is valid and agrees with itself."""
    read = json.loads(text)
    SCHEMA.validate(read)
    (run,) = read["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [rule["id"] for rule in rules] == list(dict.fromkeys(result["ruleId"] for result in run["results"]))
    return run


def written(path: Path, results: list[CaseResult], *, interrupted: bool = False) -> Any:
    report(SarifReport(str(path), INFO), results, interrupted=interrupted)
    return parsed(path.read_text(encoding="utf-8"))


def validation(*paths: str) -> Any:
    """Return the run that `validate` prints for files."""
    return parsed(dmlcheck("validate", *paths, "--format", "sarif").stdout)


def where(result: Any) -> tuple[str, dict[str, int]]:
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region")


def test_a_problem_has_its_rule_its_level_and_its_place(folder: Path) -> None:
    run = written(folder / "run.sarif", [failed()])
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("output-mismatch", "error")
    assert where(result) == ("cases/sum.yaml", {"startLine": 10, "startColumn": 29, "endColumn": 31})
    assert result["locations"][0]["logicalLocations"] == [
        {"name": "sum", "fullyQualifiedName": "cases/sum.yaml::sum"},
    ]
    assert result["properties"] == {"pointer": "outputs.OutputTensor[0]"}
    assert run["columnKind"] == "unicodeCodePoints"


def test_a_report_begins_with_what_the_run_is_of(folder: Path) -> None:
    run = written(folder / "run.sarif", [failed(), failed("b")])
    assert list(run)[:2] == ["properties", "tool"]
    assert run["properties"] == {
        "implementation": "onnxruntime",
        "implementationVersion": "1.31.1",
        "device": None,
        "featureLevel": "6_4",
        "cases": 2,
        "computed": 0,
        "descsChecked": 0,
        "accumulate": "FLOAT16",
        "inputs": "TF32",
    }


def test_a_run_begins_with_how_many_cases_were_computed(folder: Path) -> None:
    results = [CaseResult(case("a"), "passed"), *[CaseResult(case("b"), "passed", is_unrun=True)] * 2]
    found = written(folder / "run.sarif", results)["properties"]
    assert (found["cases"], found["computed"], found["descsChecked"]) == (3, 1, 2)


def test_the_tool_is_named(folder: Path) -> None:
    driver = written(folder / "run.sarif", [])["tool"]["driver"]
    assert driver == {"name": "dmlcheck", "version": __version__, "rules": []}


def test_what_is_expected_is_not_reported(folder: Path) -> None:
    run = written(folder / "run.sarif", every_outcome())
    found = [(result["ruleId"], result["level"], where(result)[1]) for result in run["results"]]
    assert found == [
        ("output-mismatch", "error", {"startLine": 10, "startColumn": 29, "endColumn": 31}),
        ("field-type", "error", {"startLine": 4, "startColumn": 1, "endColumn": 2}),
        ("xpassed", "error", {"startLine": 8}),
    ]
    assert run["results"][2]["message"] == {"text": "expected failed, and passes"}


def test_a_warning_of_a_passing_case_is_reported(folder: Path) -> None:
    warning = MISMATCH._replace(severity="warning")
    run = written(folder / "run.sarif", [CaseResult(case(), "passed", diagnostics=(warning,))])
    assert [result["level"] for result in run["results"]] == ["warning"]


def test_a_failure_without_a_reason_of_its_own_is_still_reported(folder: Path) -> None:
    note = Diagnostic("timeout", "slow", severity="note")
    run = written(folder / "run.sarif", [CaseResult(case(), "error", diagnostics=(note,))])
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("error", "error"),
        ("timeout", "note"),
    ]
    assert where(run["results"][1]) == ("cases/sum.yaml", {"startLine": 8})
    assert run["tool"]["driver"]["rules"][0]["shortDescription"] == {"text": "A case could not be run."}


def test_a_message_says_all_and_escapes_what_would_be_a_placeholder_or_a_link(folder: Path) -> None:
    found = MISMATCH._replace(message="x[0](1) is {3}", constraint="REDUCE/C2", note="all axes", help="write [0]")
    run = written(folder / "run.sarif", [failed(diagnostics=(found,))])
    text = "x[0] (1) is {{3}} (REDUCE/C2)\nall axes\nhelp: write [0]"
    assert run["results"][0]["message"] == {"text": text}
    assert run["results"][0]["properties"]["constraint"] == "REDUCE/C2"


def test_a_rule_has_its_page(folder: Path) -> None:
    run = written(folder / "run.sarif", [failed()])
    (rule,) = run["tool"]["driver"]["rules"]
    found = page("output-mismatch")
    assert rule["shortDescription"] == {"text": "An output is not what the case expects."}
    assert rule["fullDescription"] == {"text": found.why}
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert found.wrong.rstrip() in rule["help"]["markdown"]
    assert f"Right:\n\n```yaml\n{found.right.rstrip()}\n```" in rule["help"]["markdown"]
    shown = dmlcheck("explain", "output-mismatch").stdout
    assert rule["help"]["text"] == shown.rstrip("\n")


def test_every_rule_is_valid(folder: Path) -> None:
    found = tuple(Diagnostic(rule, rule, file="a.yaml") for rule in (*RULES, "of-another-version"))
    run = written(folder / "run.sarif", [CaseResult(case(), "error", diagnostics=found)])
    assert len(run["tool"]["driver"]["rules"]) == len(RULES) + 1
    assert all(rule["help"]["text"] for rule in run["tool"]["driver"]["rules"])
    assert where(run["results"][0]) == ("a.yaml", None)


def test_fingerprints_tell_problems_apart_wherever_they_are(folder: Path) -> None:
    def prints(*results: CaseResult) -> list[str]:
        run = written(folder / "run.sarif", list(results))
        return [result["partialFingerprints"]["dmlcheckProblem/v1"] for result in run["results"]]

    moved = MISMATCH._replace(line=99, message="2 of 2 elements")
    first, again, other = prints(failed(diagnostics=(MISMATCH, MISMATCH)), failed("other"))
    assert len({first, again, other}) == 3
    assert prints(failed(diagnostics=(moved,))) == [first]


def test_an_interrupted_run_says_so(folder: Path) -> None:
    (whole,) = written(folder / "run.sarif", [failed()])["invocations"]
    (part,) = written(folder / "run.sarif", [failed()], interrupted=True)["invocations"]
    assert whole == {"executionSuccessful": True}
    assert part["executionSuccessful"] is False
    assert part["toolExecutionNotifications"][0]["message"]["text"] == "interrupted after 1 failed"


@pytest.mark.parametrize("odd", ["\x00\x1b", "\ud800", "日本語 😀", '"\\', "{0}", "a b%20#?:[x]"])
def test_odd_names_are_valid(folder: Path, odd: str) -> None:
    result = failed(odd, f"{odd}.yaml", diagnostics=(MISMATCH._replace(file=f"{odd}.yaml", message=odd, pointer=odd),))
    run = written(folder / "run.sarif", [result])
    assert not re.search(r"\\ud8", (folder / "run.sarif").read_text("ascii").replace("\\ud83d\\ude00", ""))
    assert URI.fullmatch(where(run["results"][0])[0])


# ---- paths


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("cases/sum.yaml", "cases/sum.yaml"),
        ("./cases/sum.yaml", "cases/sum.yaml"),
        ("../sum.yaml", "../sum.yaml"),
        ("a b/c:d#e?f%20é.yaml", "a%20b/c%3Ad%23e%3Ff%2520%C3%A9.yaml"),
        ("/elsewhere/a b.yaml", "file:///elsewhere/a%20b.yaml"),
        ("-", "-"),
    ],
)
def test_a_path_is_a_uri(file: str, uri: str) -> None:
    assert file_uri(file) == uri
    assert URI.fullmatch(uri)


def test_a_name_that_is_no_text_keeps_its_bytes() -> None:
    assert unquote_to_bytes(file_uri("\udcff.yaml")) == b"\xff.yaml"


def test_an_absolute_path_in_the_folder_is_relative(folder: Path) -> None:
    assert file_uri(str(folder / "cases" / "sum.yaml")) == "cases/sum.yaml"


def test_in_a_workflow_paths_start_at_the_root_of_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = folder / "tests"
    inner.mkdir()
    monkeypatch.chdir(inner)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    assert file_uri("cases/sum.yaml") == "tests/cases/sum.yaml"
    assert file_uri("../sum.yaml") == "sum.yaml"
    assert file_uri(str(folder / "a.yaml")) == "a.yaml"
    assert file_uri("../../a.yaml") == "../../a.yaml"
    assert file_uri("-") == "-"
    link = folder / "link"
    link.symlink_to(inner, target_is_directory=True)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(link))
    assert file_uri("cases/sum.yaml") == "cases/sum.yaml"
    assert file_uri(str(inner / "b.yaml")) == "b.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    assert file_uri(str(link / "b.yaml")) == "tests/b.yaml"


# ---- validate


def test_a_validation_has_the_columns_of_the_file() -> None:
    run = validation(str(FILES / "bad.yaml"))
    lines = (FILES / "bad.yaml").read_text("utf-8").split("\n")
    marked = []
    for result in run["results"]:
        region = where(result)[1]
        marked.append(lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1])
    printed = dmlcheck("validate", str(FILES / "bad.yaml")).stdout
    carets = re.findall(r"^ *\d+ \| (.*)\n +\| ( *)(\^+)", printed, re.MULTILINE)
    assert marked
    assert marked == [line[len(margin) : len(margin) + len(mark)] for line, margin, mark in carets]


def test_a_good_desc_has_no_results() -> None:
    assert validation(str(FILES / "levels.yaml"))["results"] == []


NEGATIVE = """\
operator: ARGMAX
desc:
  InputTensor: {DataType: INT64, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [2]
  AxisDirection: INCREASING
invalid: [axis-out-of-range]
"""


def test_a_negative_case_is_reported_only_where_it_breaks_something_else(folder: Path) -> None:
    path = folder / "negative.yaml"
    path.write_text(NEGATIVE, encoding="utf-8")
    assert validation("negative.yaml")["results"] == []
    path.write_text(NEGATIVE.replace("UINT32", "FLOAT32"), encoding="utf-8")
    run = validation("negative.yaml")
    rules = {result["ruleId"] for result in run["results"]}
    assert rules == {"diagnostics-mismatch", "axis-out-of-range", "unsupported-data-type"}
    assert {where(result)[0] for result in run["results"]} == {"negative.yaml"}


def test_a_part_of_a_model_that_is_left_alone_is_a_note(folder: Path) -> None:
    (folder / "model.json").write_text(page("not-directml").wrong, encoding="utf-8")
    run = validation("model.json")
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("not-directml", "note")]
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"] == {"level": "note"}


def test_a_file_that_is_missing_has_a_place() -> None:
    (result,) = validation("missing.yaml")["results"]
    assert (result["ruleId"], where(result)[0]) == ("file-not-found", "missing.yaml")


# ---- the file


@pytest.mark.slow
def test_many_failures_take_little_memory(folder: Path) -> None:
    path = folder / "run.sarif"
    tracemalloc.start()
    reporter = SarifReport(str(path), INFO)
    for index in range(5000):
        reporter.case(failed(f"case {index}", diagnostics=(MISMATCH._replace(message="x" * 2000),)))
    reporter.finish(summary_of([]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
    assert len(json.loads(path.read_text())["runs"][0]["results"]) == 5000


def test_a_real_run_is_valid(folder: Path) -> None:
    path = folder / "run.sarif"
    files = [str(FILES / name) for name in ("case.yaml", "bad.yaml", "levels.yaml")]
    dmlcheck("run", *files, "--sarif", str(path), "--json", "run.json")
    cases = json.loads((folder / "run.json").read_text("utf-8"))["cases"]
    expected = [
        (problem["rule"], problem["line"], problem["column"])
        for case in cases
        if case["outcome"] in ("failed", "error")
        for problem in case["diagnostics"]
    ]
    results = parsed(path.read_text("utf-8"))["results"]
    found = [(result["ruleId"], where(result)[1]["startLine"], where(result)[1]["startColumn"]) for result in results]
    assert found == expected
    assert len(found) > 3
