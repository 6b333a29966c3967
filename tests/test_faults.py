"""The shipped cases catch an implementation with a planted fault, and the reports say in words what is wrong."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import faulty
import pytest
from commandline import dmlcheck, json_of
from lxml import etree
from shipped import cases_in

from dmlcheck import run_cases
from dmlcheck.cases.records import Case
from dmlcheck.running.results import ALL_UNDEFINED, FOR_REFERENCE, CaseResult

CASES = Path(__file__).parent.parent / "cases"
SEARCHES = {"ARGMAX", "ARGMIN", "ACTIVATION_HARDMAX1", "REDUCE"}
ALL = {*SEARCHES, "ACTIVATION_HARDMAX"}

# What each fault is called, the operators whose cases fail for it, and the file of one that does.
NAMED = {
    "float16-accumulation": (
        r"(is what (adding up|multiplying) in FLOAT16 gives|a sum overflows FLOAT16 on the way)",
        {"REDUCE"},
        "reduce/float16.yaml",
    ),
    "last-of-equal": (
        r"the (last of equal elements seems to be chosen; .* the first|first .* chosen; AxisDirection DECREASING)",
        ALL,
        "argmax/values.yaml",
    ),
    "order-of-axes": (
        r"the axes seem to be walked along in the order of Axes, \[2, 0",
        SEARCHES,
        "argmin/values.yaml",
    ),
    "column-major": (r"the axes seem to be walked along .*column-major", SEARCHES, "argmin/values.yaml"),
    "ignored-strides": (r"the strides of (In|Out)putTensor seem to be ignored", ALL, "argmax/layouts.yaml"),
    "flushed-denormals": (r"denormal (inputs|results).* seem to be flushed to 0", ALL, "argmax/values.yaml"),
    "nan-ignored": (
        r"NaN in inputs seems to be ignored, as if it were (0|1|0 or 1|-inf)$",
        {"REDUCE"},
        "reduce/values.yaml",
    ),
}


@cache
def cases() -> list[Case]:
    folders = ("reduce", "argmax", "argmin", "activation_hardmax", "activation_hardmax1")
    return [case for folder in folders for case in cases_in(folder) if case.outputs is not None]


def compared(fault: str | None = None) -> list[CaseResult]:
    """Run the cases; leave out those that judge DirectML alone, or the reference."""
    results = run_cases(cases(), faulty.planted(fault))
    left_out = [result for result in results if result.outcome == "skipped"]
    assert {result.reason for result in left_out} <= {FOR_REFERENCE, ALL_UNDEFINED}
    assert all("/measured.yaml::" in result.case.id for result in left_out if result.reason == ALL_UNDEFINED)
    return [result for result in results if result.outcome != "skipped"]


def test_every_fault_has_its_words() -> None:
    assert set(NAMED) == set(faulty.FAULTS)


@pytest.mark.slow
def test_the_implementation_without_a_fault_passes_every_case() -> None:
    results = compared()
    assert len(results) > 800
    assert [result.case.id for result in results if result.outcome != "passed"] == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", faulty.FAULTS)
def test_every_case_that_fails_for_a_fault_names_it_and_most_name_no_other(fault: str) -> None:
    words, operators, _ = NAMED[fault]
    results = compared(fault)
    assert {result.outcome for result in results} == {"passed", "failed"}
    found = [result for result in results if result.outcome == "failed"]
    for result in found:
        for diagnostic in result.diagnostics:
            help = str(diagnostic.help)
            assert help.startswith("likely cause: "), result.case.id
            assert re.search(words, help), (result.case.id, help)
    assert {result.case.operator.removeprefix("DML_OPERATOR_") for result in found} == operators
    others = [words for name, (words, _, _) in NAMED.items() if name != fault]
    if fault in ("order-of-axes", "column-major"):
        others = [words for words in others if "walked" not in words]  # backwards is both
    helps = [str(diagnostic.help) for result in found for diagnostic in result.diagnostics]
    several = [help for help in helps if any(re.search(words, help) for words in others)]
    assert len(several) <= len(helps) / 8  # a tie may sit where the strides lead as well


@pytest.fixture(params=NAMED)
def reports(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path, str]:
    """Run the cases of a file by the command, in a GitHub workflow; give the words, the folder and what is printed."""
    words, _, file = NAMED[request.param]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    name = f"python:faulty:{faulty.FAULTS[request.param].__name__}"
    files = ["--json", str(tmp_path / "report.json"), "--junitxml", str(tmp_path / "junit.xml")]
    result = dmlcheck("run", str(CASES / file), "--implementation", name, *files)
    assert result.exit_code == 1, result.output
    return words.removesuffix("$"), tmp_path, result.output


@pytest.mark.slow
def test_the_reports_name_what_is_wrong(reports: tuple[str, Path, str]) -> None:
    words, folder, printed = reports
    said = f"likely cause: .*{words}"
    assert re.search(rf"^    help: {said}", printed, re.MULTILINE)
    assert re.search(rf"^::error .*%0Ahelp: {said}", printed, re.MULTILINE)
    report: Any = json_of(folder / "report.json")
    failed = [case for case in report["cases"] if case["outcome"] == "failed"]
    assert failed
    assert all(re.search(said, problem["help"]) for case in failed for problem in case["diagnostics"])
    texts = [element.text or "" for element in etree.parse(str(folder / "junit.xml")).iter("failure")]
    assert len(texts) == len(failed)
    assert all(re.search(rf"help: {said}", text) for text in texts)
