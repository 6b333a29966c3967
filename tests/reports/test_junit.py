"""JUnit XML: against the schema of Jenkins' xunit plugin, and what it says of known results."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from results import OUTPUT, case, every_outcome, failed, report, summary_of

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.junit import JunitReport
from dmlcheck.reports.layout import indent
from dmlcheck.reports.records import RunInfo
from dmlcheck.reports.text import TextReport
from dmlcheck.reports.visible import shown_lines
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings

HERE = Path(__file__).parent.parent
SCHEMA = etree.XMLSchema(file=str(HERE / "schemas" / "junit-10.xsd"))
INFO = RunInfo("reference", Settings("6_4"))


def written(path: Path, results: list[CaseResult], info: RunInfo = INFO, *, interrupted: bool = False) -> Any:
    """Return the root of a report of results, which is valid."""
    report(JunitReport(str(path), info), results, interrupted=interrupted)
    return valid(path)


def valid(path: Path) -> Any:
    root = etree.fromstring(path.read_bytes())
    SCHEMA.assertValid(root)
    return root


def test_a_suite_counts_its_cases_by_outcome(tmp_path: Path) -> None:
    root = written(tmp_path / "report.xml", every_outcome())
    (suite,) = root
    counts = {"tests": "6", "failures": "2", "errors": "1", "skipped": "2"}
    assert dict(suite.attrib) == {"name": "cases/sum.yaml", "file": "cases/sum.yaml", "time": "1.125", **counts}
    assert dict(root.attrib) == {"name": "dmlcheck", "tests": "6", "failures": "2", "errors": "1", "time": "1.125"}


def test_a_case_has_the_element_of_its_outcome(tmp_path: Path) -> None:
    root = written(tmp_path / "report.xml", every_outcome())
    found = {
        testcase.get("name"): [(part.tag, part.get("type"), part.get("message")) for part in testcase]
        for testcase in root.iter("testcase")
    }
    assert found == {
        "passed": [],
        "failed": [("failure", "output-mismatch", "OutputTensor FLOAT32 {1}: 1 of 1 element is outside the tolerance")],
        "error": [("error", "field-type", "Axes is 0")],
        "skipped": [("skipped", "skipped", "nothing to run")],
        "xfailed": [("skipped", "xfailed", "a known deviation")],
        "xpassed": [("failure", "xpassed", "expected failed, and passes")],
    }


def test_a_passed_case_tells_of_its_undefined_elements(tmp_path: Path) -> None:
    passed = CaseResult(case(), "passed", outputs={"Out": OUTPUT._replace(mismatches=0, elements=3, undefined=2)})
    (told,) = written(tmp_path / "report.xml", [passed]).iter("system-out")
    assert told.text == "Out: 2 of 3 elements are undefined, and not compared"


def test_a_case_has_its_time_and_the_dotted_name_of_its_file(tmp_path: Path) -> None:
    root = written(tmp_path / "report.xml", [failed(), failed(file="../a.b/c.json")])
    found = [(testcase.get("time"), testcase.get("classname")) for testcase in root.iter("testcase")]
    assert found == [("0.250", "cases.sum"), ("0.250", "a_b.c_json")]


def test_the_details_are_what_the_text_report_prints(tmp_path: Path) -> None:
    result = failed()
    lines: list[str] = []
    TextReport(lines.append, verbose=-1, total=lambda: 1).case(result)
    root = written(tmp_path / "report.xml", [result])
    text = root.findtext(".//failure")
    assert text == "\n".join(lines).rstrip("\n")
    assert "    10 |   outputs: {OutputTensor: [[21]]}\n       |                             ^^" in text
    assert "expected 21 (0x1.5p+4)  got 22 (0x1.6p+4)" in text
    assert text.endswith("again: dmlcheck run cases/sum.yaml::sum")


def test_the_details_name_the_command_that_runs_a_case_again(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    report(JunitReport(str(path), INFO, again=lambda result: f"again {result.case.name}"), [failed()])
    assert valid(path).findtext(".//failure").endswith("again: again sum")


def test_several_problems_are_counted_in_the_message_and_named_once_in_the_type(tmp_path: Path) -> None:
    found = [Diagnostic(rule, f"{rule} here") for rule in ("wrong-type", "unknown-key", "wrong-type")]
    result = CaseResult(case(), "error", "not a well-formed case", tuple(found))
    two = CaseResult(case(), "error", "not a well-formed case", tuple(found[:2]))
    errors = written(tmp_path / "report.xml", [result, two]).iter("error")
    assert [(error.get("type"), error.get("message")) for error in errors] == [
        ("wrong-type, unknown-key", "wrong-type here (and 2 more)"),
        ("wrong-type, unknown-key", "wrong-type here (and 1 more)"),
    ]


def properties(root: Any) -> dict[str, str]:
    """Return what the first suite begins with."""
    return {found.get("name"): found.get("value") for found in root[0].iter("property")}


def test_a_suite_says_what_was_run(tmp_path: Path) -> None:
    results = [CaseResult(case(operator=operator), "passed") for operator in ("REDUCE", "DML_OPERATOR_ARGMAX", "ODD")]
    info = RunInfo("onnxruntime", Settings("6_4", Precision("FLOAT16", "TF32")), version="1.31.1", device="GPU 0")
    assert properties(written(tmp_path / "report.xml", [*results, failed(file="b.yaml")], info)) == {
        "dmlcheck": __version__,
        "implementation": "onnxruntime",
        "implementation_version": "1.31.1",
        "device": "GPU 0",
        "feature_level": "6_4",
        "cases": "4",
        "computed": "3",
        "descs_checked": "0",
        "accumulate": "FLOAT16",
        "inputs": "TF32",
        "operators": "ARGMAX REDUCE",
    }


def test_a_suite_says_how_many_cases_were_computed(tmp_path: Path) -> None:
    results = [CaseResult(case("a"), "passed"), *[CaseResult(case("b"), "passed", is_unrun=True)] * 2]
    found = properties(written(tmp_path / "report.xml", results))
    assert (found["cases"], found["computed"], found["descs_checked"]) == ("3", "1", "2")


def test_what_is_not_known_of_a_run_is_left_out(tmp_path: Path) -> None:
    assert properties(written(tmp_path / "report.xml", [failed()], RunInfo("command:x"))) == {
        "dmlcheck": __version__,
        "implementation": "command:x",
        "feature_level": "each case's own",
        "cases": "1",
        "computed": "0",
        "descs_checked": "0",
        "accumulate": "FLOAT32",
        "inputs": "FLOAT32",
        "operators": "REDUCE",
    }


def test_each_file_has_one_suite_even_where_its_cases_are_apart(tmp_path: Path) -> None:
    order = [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4"), ("b", "5"), ("b", "6")]
    root = written(tmp_path / "report.xml", [failed(name, f"{file}é.yaml") for file, name in order])
    found = {suite.get("name"): [testcase.get("name") for testcase in suite.iter("testcase")] for suite in root}
    assert found == {"aé.yaml": ["1", "2", "4"], "bé.yaml": ["3", "5", "6"]}
    assert [suite.get("tests") for suite in root] == ["3", "3"]


def test_an_empty_run_is_valid(tmp_path: Path) -> None:
    root = written(tmp_path / "report.xml", [])
    assert (len(root), root.get("tests")) == (0, "0")


def test_an_interrupted_run_is_valid(tmp_path: Path) -> None:
    root = written(tmp_path / "report.xml", every_outcome()[:2], interrupted=True)
    assert root.get("tests") == "2"


def possible(text: str) -> str:
    """Return what XML 1.0 can hold of a text, by its definition of a character."""
    return "".join(
        character
        if character in "\t\n\r"
        or " " <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character > "\uffff"
        else "\ufffd"
        for character in text
    )


@pytest.mark.slow
@given(name=st.text(st.characters(exclude_categories=())), message=st.text(st.characters(exclude_categories=())))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
def test_any_name_and_message_come_back(tmp_path: Path, name: str, message: str) -> None:
    result = CaseResult(case(name), "error", diagnostics=(Diagnostic("timeout", message),))
    root = written(tmp_path / "report.xml", [result])
    assert root.find(".//testcase").get("name") == possible(name)
    assert root.find(".//error").get("message") == possible(message)
    assert indent(f"error[timeout]: {possible(shown_lines(message))}") in root.findtext(".//error")


@pytest.mark.parametrize("odd", ["\x00", "\x1b[31m", "\ud800", "￿", "]]>", "<a & b>", '"\n\t\r"', "日本語 😀", "&#0;"])
def test_odd_names_are_in_every_place(tmp_path: Path, odd: str) -> None:
    results = [
        failed(odd, f"{odd}.yaml"),
        CaseResult(case(odd, f"{odd}.yaml"), "skipped", odd),
        CaseResult(case(odd, f"{odd}.yaml"), "xpassed", odd),
    ]
    root = written(tmp_path / "report.xml", results, RunInfo(f"command:{odd}"))
    assert root[0].get("name") == possible(f"{odd}.yaml")
    assert {testcase.get("name") for testcase in root.iter("testcase")} == {possible(odd)}
    assert root.find(".//skipped").get("message") == possible(odd)
    assert root.find(".//property[@name='implementation']").get("value") == possible(f"command:{odd}")


@pytest.mark.slow
def test_many_failures_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    number, width = 2400, 2000
    first = JunitReport(str(tmp_path / "first.xml"), INFO)
    first.case(failed("first"))  # loads what a failure needs
    first.finish(summary_of([]))
    tracemalloc.start()
    reporter = JunitReport(str(path), INFO)
    for index in range(number):
        reporter.case(failed(f"case {index}", f"{index % 3}.yaml", diagnostics=(Diagnostic("timeout", "é" * width),)))
    reporter.finish(summary_of([]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > number * width * 4  # twice in each case, two bytes a letter
    assert peak < 5_000_000
    names = [testcase.get("name") for testcase in valid(path)[1]]
    assert names[1:] == [f"case {index}" for index in range(1, number, 3)]


class FullDisk:
    """A file that takes nothing."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, _: bytes) -> int:
        raise OSError(28, "No space left on device")

    def seek(self, place: int) -> int:
        return int(self.file.seek(place))

    def close(self) -> None:
        self.file.close()


def test_a_full_disk_is_a_problem_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text("older")
    reporter = JunitReport(str(path), INFO)
    reporter.file.aside = FullDisk(reporter.file.aside)
    report(reporter, every_outcome())
    assert reporter.file.problem == f"{path}: No space left on device"
    assert [found.name for found in tmp_path.iterdir()] == ["report.xml"]
    assert path.read_text() == "older"


def test_bytes_that_are_lost_are_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    reporter = JunitReport(str(path), INFO)
    for result in every_outcome():
        reporter.case(result)
    reporter.file.aside.truncate(100)
    reporter.finish(summary_of([]))
    assert reporter.file.problem == f"{path}: what was put aside is lost"
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_is_given_up_holds_nothing_open(tmp_path: Path) -> None:
    reporter = JunitReport(str(tmp_path / "report.xml"), INFO)
    reporter.case(failed())
    reporter.file.give_up(OSError("not wanted"))
    assert reporter.file.aside.closed
    report(reporter, [failed()])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_characters_of_many_bytes_are_put_aside_whole(tmp_path: Path) -> None:
    found = (Diagnostic("timeout", "x" + "é" * (1 << 20)),)
    results = [CaseResult(case(), "error", diagnostics=found) for _ in range(2)]
    for error in written(tmp_path / "report.xml", results).iter("error"):
        assert error.get("message") == found[0].message


def test_a_real_run_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    files = [str(HERE / "snapshots" / "files" / name) for name in ("case.yaml", "bad.yaml", "levels.yaml")]
    printed = dmlcheck("run", *files, "--junitxml", str(path)).stdout
    root = valid(path)
    assert len(root) == 3
    assert {part.tag for testcase in root.iter("testcase") for part in testcase} == {"failure", "error", "skipped"}
    for found in root.iter("failure", "error"):
        what, again, _ = found.text.rpartition("\n  again: ")
        assert again
        assert what in printed
