"""Reports that somebody changed: `merge` and `--compare-to` take them, or refuse them, and never stumble over them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commandline import GOOD, WRONG, dmlcheck, json_of, write

from dmlcheck.running.events import digest, digest_of

HUGE = 10**400  # beyond float64
DIGITS = 10**4299  # one more of which Python does not print
NASTY = [HUGE, -HUGE, DIGITS, 2**64, -1, 0, 1e308, True, None, "x\x1b[31m\u202e\n::error::", [], {}]
REPORTS = ["--html", "r.html", "--junitxml", "r.xml", "--sarif", "r.sarif", "--json", "all.json"]
Steps = tuple[Any, ...]

FILE = f"""\
cases:
- name: wrong
  {WRONG.replace(chr(10), chr(10) + "  ").rstrip()}
- name: good
  {GOOD.replace(chr(10), chr(10) + "  ").rstrip()}
- name: illegal
  {GOOD.replace("Axes: [0]", "Axes: [1]").replace(chr(10), chr(10) + "  ").rstrip()}
"""


def places(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """Yield the way to every part of a value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*steps, key)
        yield from places(part, (*steps, key))


def changed(report: Any, steps: Steps, value: Any) -> Any:
    report = copy.deepcopy(report)
    whole = report
    for step in steps[:-1]:
        report = report[step]
    report[steps[-1]] = value
    return whole


def settled(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report that agrees with its cases, so that nothing else is wrong with it than was changed."""
    cases = report["cases"] if isinstance(report.get("cases"), list) else []
    if all(isinstance(case, dict) and isinstance(case.get("id"), str) for case in cases):
        report["digest"] = digest_of([digest(case["id"] for case in cases)])
    return report


@pytest.fixture
def report() -> dict[str, Any]:
    """Return the report of a run with failures, in one shard, compared with an earlier one."""
    write("a.yaml", FILE)
    dmlcheck("run", "a.yaml", "--json", "old.json")
    words = [
        "--shard",
        "1/1",
        "--json",
        "new.json",
        "--compare-to",
        "old.json",
        "--max-drift",
        "0",
        "--warn-above",
        "0",
    ]
    assert dmlcheck("run", "a.yaml", *words).exit_code == 1
    report: dict[str, Any] = json_of("new.json")
    return report


def stumbles(result: Result) -> bool:
    """Whether a command ended in another way than it may, or printed what a terminal or a log would act on."""
    is_told = result.exit_code in (0, 1) or (
        result.exit_code == 2 and re.search("^(Error|dmlcheck): ", result.stderr, re.MULTILINE)
    )
    is_shown = "\x1b" in result.output or "\u202e" in result.output
    return not is_told or is_shown or "\n::error::" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("value", NASTY, ids=lambda value: ascii(value)[:12])
def test_merge_takes_or_refuses_whatever_stands_anywhere(
    value: Any, report: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    ways = [steps for steps in places(report) if steps[-1] != "digest"]
    assert len(ways) > 100
    for steps in ways:
        Path("new.json").write_text(json.dumps(settled(changed(report, steps, value))), encoding="utf-8")
        assert not stumbles(dmlcheck("merge", "new.json", *REPORTS, "--format", "github")), steps


@pytest.mark.slow
@pytest.mark.parametrize("value", NASTY, ids=lambda value: ascii(value)[:12])
def test_so_does_compare_to(value: Any, report: dict[str, Any]) -> None:
    write("good.yaml", GOOD)
    dmlcheck("run", "good.yaml", "--json", "old.json")
    old = json_of("old.json")
    for steps in places(old):
        Path("new.json").write_text(json.dumps(changed(old, steps, value)), encoding="utf-8")
        result = dmlcheck("run", "good.yaml", "--compare-to", "new.json", "--max-drift", "1", *REPORTS)
        assert not stumbles(result), steps
    del report


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps",
    [
        ("cases", 0, "seconds"),
        ("summary", "seconds"),
        ("cases", 0, "outputs", "OutputTensor", "details", "elements", 0, "expected"),
        ("cases", 0, "outputs", "OutputTensor", "details", "elements", 0, "index", 0),
        ("cases", 0, "diagnostics", 0, "column"),
    ],
    ids=str,
)
@pytest.mark.parametrize("value", [HUGE, DIGITS])
def test_a_number_that_no_run_writes_is_refused(value: int, steps: Steps, report: dict[str, Any]) -> None:
    Path("new.json").write_text(json.dumps(settled(changed(report, steps, value))), encoding="utf-8")
    result = dmlcheck("merge", "new.json", *REPORTS)
    assert (result.exit_code, "as `dmlcheck run`" in result.stderr or "not a case" in result.stderr) == (2, True)
    assert not Path("all.json").exists()
