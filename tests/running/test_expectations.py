"""Known results: which entries name which cases, and what becomes of results."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commandline import dmlcheck, json_of
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import CRASH, WRONG
from misbehaving_cases import BAD, folder, write  # noqa: F401 - the fixture is used by its name
from results import case

from dmlcheck.files.yaml import parse
from dmlcheck.running.expectations import (
    Entries,
    Entry,
    Globs,
    expected_result,
    matches,
    names_of,
    read_expectations,
)
from dmlcheck.running.results import CaseResult


def expect(text: str) -> None:
    Path("known.yaml").write_text(text, encoding="utf-8")


def run(*words: str) -> tuple[Result, dict[str, Any]]:
    Path("r.json").unlink(missing_ok=True)
    settings = ("--expectations", "known.yaml", "--json", "r.json", "--timeout", "0")
    result = dmlcheck("run", "a.yaml", "--implementation", BAD, *settings, *words)
    found = json_of("r.json") if Path("r.json").exists() else {"cases": []}
    return result, {case["name"]: (case["outcome"], case["reason"]) for case in found["cases"]}


def test_a_failure_that_is_expected_is_no_failure() -> None:
    write("a.yaml", 1, WRONG)
    expect("- {cases: 'a.yaml::c1', expect: failed, reason: off by one, link: https://example.org/1}\n")
    result, found = run()
    assert result.exit_code == 0
    assert found == {"c0": ("passed", None), "c1": ("xfailed", "off by one (https://example.org/1)")}
    assert result.stdout.splitlines()[-1].startswith("1 passed, 1 xfailed in ")
    assert "FAILED" not in result.stdout


def test_a_case_that_passes_although_it_is_expected_to_fail_fails_the_run() -> None:
    write("a.yaml", 1, 2)
    expect("- {cases: '*::c1', expect: failed, reason: off by one}\n")
    result, found = run()
    assert result.exit_code == 1
    assert found["c1"] == ("xpassed", "expected failed, and passes: off by one")
    assert "XPASSED a.yaml::c1" in result.stdout


@pytest.mark.slow
def test_a_case_that_is_worse_than_expected_is_not_expected() -> None:
    write("a.yaml", CRASH)
    expect("- {cases: '*::c0', expect: failed, reason: off by one}\n")
    result, found = run("--timeout", "60")
    assert result.exit_code == 1
    assert found["c0"][0] == "error"
    assert found["c0"][1].startswith("worse than expected, which is failed: ")


def test_a_case_that_is_better_than_expected_and_still_wrong_is_not_expected() -> None:
    write("a.yaml", WRONG)
    expect("- {cases: '*::c0', expect: error, reason: crashes}\n")
    result, found = run()
    assert (result.exit_code, found["c0"][0]) == (1, "failed")
    assert "expected was error: crashes" in found["c0"][1]


@pytest.mark.slow
def test_an_error_and_a_skip_may_be_expected_as_well() -> None:
    write("a.yaml", CRASH, 1)
    text = Path("a.yaml").read_text(encoding="utf-8").replace("- {name: c1,", "- {name: c1, feature_level: '6_4',")
    Path("a.yaml").write_text(text, encoding="utf-8")
    expect("- {cases: '*::c0', expect: error, reason: crashes}\n- {cases: '*::c1', expect: skipped, reason: too new}\n")
    result, found = run("--timeout", "60", "--feature-level", "6_0")
    assert result.exit_code == 0
    assert found == {"c0": ("xfailed", "crashes"), "c1": ("skipped", "too new")}


@pytest.mark.parametrize(
    ("keys", "applies"),
    [
        ("implementation: 'python:*'", True),
        ("implementation: reference", False),
        ("feature_level: '6_4'", True),
        ("feature_level: 6.0", False),
        ("expires: TODAY", True),
        ("expires: 9999-12-31", True),
    ],
)
def test_an_entry_is_about_an_implementation_and_a_level(keys: str, applies: bool) -> None:
    write("a.yaml", WRONG)
    today = str(dt.datetime.now(tz=dt.timezone.utc).date())
    expect(f"- {{cases: '*', expect: failed, reason: x, {keys.replace('TODAY', today)}}}\n")
    result, found = run()
    assert (result.exit_code, found["c0"][0]) == ((0, "xfailed") if applies else (1, "failed"))


@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        ("- {cases: '*', expect: failed, reason: x}\n- {cases: nowhere, expect: failed, reason: y}\n",
         "unmatched-expectation", 2, 11),
        ("- cases: '*'\n  expect: failed\n  reason: x\n  expires: 2020-02-29\n", "expired-expectation", 4, 12),
        ("- cases: '*'\n  expect: failed\n  reason: x\n  expire: 2999-01-01\n", "unknown-key", 4, 3),
        ("- {cases: '*', expect: failed}\n", "missing-key", 1, 3),
        ("- {expect: failed, reason: x}\n", "missing-key", 1, 3),
        ("- {cases: '*', expect: passed, reason: x}\n", "wrong-type", 1, 24),
        ("- {cases: '*', expect: failed, reason: x, expires: tomorrow}\n", "wrong-type", 1, 52),
        ("- {cases: '*', expect: failed, reason: x, expires: 2026-02-30}\n", "wrong-type", 1, 52),
        ("- {cases: '*', expect: failed, reason: x, feature_level: 9_9}\n", "wrong-type", 1, 58),
        ("- {cases: 3, expect: failed, reason: x}\n", "wrong-type", 1, 11),
        ("- just text\n", "wrong-type", 1, 3),
        ("cases: '*'\n", "wrong-type", 1, 1),
        ("- [\n", "yaml-syntax", 2, 1),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told_at_its_place(text: str, rule: str, line: int, column: int) -> None:
    write("a.yaml", WRONG)
    expect(text)
    result, _ = run()
    assert result.exit_code == 2
    assert f"known.yaml:{line}:{column}: error[{rule}]" in result.stderr


@pytest.mark.parametrize(("length", "code"), [(4096, 0), (4097, 2)])
def test_a_glob_has_a_greatest_length(length: int, code: int) -> None:
    write("a.yaml", WRONG)
    expect(f"- {{cases: '{'*' * length}', expect: failed, reason: x}}\n")
    result, _ = run()
    assert result.exit_code == code
    assert ("it must be text, of at most 4,096 characters where it has * or ?" in result.stderr) == (code == 2)


def test_what_is_wrong_with_an_entry_is_in_the_order_of_the_file() -> None:
    text = "- {cases: a, reason: '', expect: never, expires: soon, feature_level: 9.9}\n"
    problems = read_expectations(parse(text.encode(), "known.yaml"), "reference", None, dt.date.min).problems
    assert [problem.pointer for problem in problems] == ["reason", "expect", "expires", "feature_level"]


# ---- from any folder


def names(entry: str, case_id: str, file: str, path: str) -> bool:
    return bool(list(Entries([Entry(entry, "failed", "x")]).naming(names_of(case_id, file, path))))


@pytest.mark.parametrize(
    ("entry", "is_named"),
    [
        ("topk.yaml::ties", True),
        ("cases/topk.yaml::ties", True),
        ("./cases/topk.yaml::ties", True),
        ("../cases/topk.yaml::ties", True),
        ("suite/cases/topk.yaml::ties", True),
        ("*/cases/topk.yaml::t?es", True),
        ("topk.yaml::*", True),
        ("cases/*::ties", True),
        ("*::ties", True),
        ("pk.yaml::ties", False),
        ("ases/topk.yaml::ties", False),
        ("topk.yaml::tie", False),
        ("topk.yaml", False),
        ("other/topk.yaml::ties", False),
        ("cases/topk.yaml::ties/x", False),
    ],
)
def test_an_entry_names_a_case_by_the_end_of_its_path(entry: str, is_named: bool) -> None:
    suite = Path("suite", "cases").absolute()
    for file in ("topk.yaml", "./topk.yaml", "../cases/topk.yaml", (suite / "topk.yaml").as_posix()):
        assert names(entry, f"{file}::ties", file, str(suite / file)) == is_named, file


@pytest.mark.slow
@pytest.mark.parametrize("given", ["s/a.yaml", "./s/a.yaml", "s/../s/a.yaml", "s", "{absolute}/s/a.yaml"])
def test_expectations_hold_however_a_path_is_given(given: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    write("s/a.yaml", 1, WRONG)
    expect("- {cases: 's/a.yaml::c1', expect: failed, reason: x}\n")
    words = ["--implementation", BAD, "--expectations", str(folder / "known.yaml")]
    path = given.format(absolute=folder.as_posix())
    assert dmlcheck("run", path, *words).exit_code == 0
    monkeypatch.chdir(folder / "s")
    assert dmlcheck("run", "a.yaml", *words).exit_code == 0


@pytest.mark.parametrize(
    ("entry", "paths", "code"),
    [
        ("b.yaml::c1", ["a.yaml"], 0),  # not read
        ("a.yaml::gone", ["b.yaml::c0"], 0),
        ("a.yaml::gone", ["a.yaml::c0"], 0),  # read for a single case
        ("a.yaml::gone", ["a.yaml::c0", "b.yaml"], 0),
        ("b.yaml::gone", ["a.yaml::c0", "b.yaml"], 2),
        ("a.yaml::gone", ["a.yaml"], 2),
        ("a.yaml::gone", ["a.yaml", "-k", "c0"], 2),
        ("other/a.yaml::gone", ["a.yaml"], 0),
        ("?.yaml::gone", ["a.yaml"], 2),
        ("*gone", ["a.yaml"], 2),  # for any file
        ("b.*gone", ["a.yaml"], 0),
        ("gone", ["a.yaml"], 2),
    ],
)
def test_entries_for_what_was_not_read_are_not_asked_for(entry: str, paths: list[str], code: int) -> None:
    write("a.yaml", 1, 2)
    write("b.yaml", 1, 2)
    expect(f"- {{cases: '{entry}', expect: failed, reason: x}}\n")
    result = dmlcheck("run", *paths, "--expectations", "known.yaml")
    assert (result.exit_code, "unmatched-expectation" in result.stderr) == (code, code == 2)


# ---- how wrong

SCALED = """
import numpy as np


class Scaled:
    name = "scaled"

    def run(self, desc, inputs):
        given = inputs["InputTensor"]
        if given[0] == 2:
            given = np.full_like(given, np.nan)
        if given[0] == 3:
            raise ValueError("three")
        if given[0] == 4:
            given = np.zeros((1, 1), given.dtype)
        return {"OutputTensor": np.nextafter(given, np.float32(9)) if given[0] == 5 else given}
"""
IDENTITY = """
operator: ELEMENT_WISE_IDENTITY
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
cases:
- {name: nan, inputs: {InputTensor: [2]}, outputs: {OutputTensor: [2]}}
- {name: raised, inputs: {InputTensor: [3]}, outputs: {OutputTensor: [3]}}
- {name: shape, inputs: {InputTensor: [4]}, outputs: {OutputTensor: [4]}}
- {name: one, inputs: {InputTensor: [5]}, outputs: {OutputTensor: [5]}}
"""


@pytest.mark.parametrize(
    ("name", "keys", "outcome"),
    [
        ("one", "expect: failed, max_ulp: 1", "xfailed"),
        ("one", "expect: failed, max_ulp: 0.5", "failed"),
        ("one", "expect: failed, max_ulp: 2, rule: output-mismatch", "xfailed"),
        ("one", "expect: failed, rule: output-mismatch", "xfailed"),
        ("one", "expect: failed, rule: timeout", "failed"),
        ("nan", "expect: failed, max_ulp: 1e30", "failed"),
        ("nan", "expect: failed, rule: output-mismatch", "xfailed"),
        ("shape", "expect: failed, max_ulp: 1000", "failed"),
        ("raised", "expect: error, rule: implementation-error", "xfailed"),
        ("raised", "expect: error, rule: timeout", "error"),
        ("raised", "expect: error, max_ulp: 4", "error"),
    ],
)
def test_a_failure_that_is_worse_than_its_entry_says_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, name: str, keys: str, outcome: str
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("scaled.py").write_text(SCALED, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "scaled", raising=False)
    Path("a.yaml").write_text(IDENTITY, encoding="utf-8")
    expect(f"- {{cases: 'a.yaml::{name}', {keys}, reason: known}}\n")
    words = ["--implementation", "python:scaled:Scaled", "--expectations", "known.yaml", "--json", "r.json"]
    result = dmlcheck("run", f"a.yaml::{name}", "--timeout", "0", *words)
    (case,) = json_of("r.json")["cases"]
    assert (case["outcome"], result.exit_code) == (outcome, 0 if outcome == "xfailed" else 1)
    assert ("worse than expected" in case["reason"]) == (outcome != "xfailed")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("rule: output-missmatch", "did you mean output-mismatch?"),
        ("rule: 3", "rule is 3"),
        ("max_ulp: -1", "a number from 0 on"),
        ("max_ulp: .inf", "a number from 0 on"),
        ("max_ulp: few", "a number from 0 on"),
        ("max_ulp: true", "a number from 0 on"),
    ],
)
def test_how_wrong_a_case_may_be_is_checked(keys: str, words: str) -> None:
    write("a.yaml", 1)
    expect(f"- {{cases: '*', expect: failed, reason: x, {keys}}}\n")
    result, _ = run()
    assert result.exit_code == 2
    assert f"known.yaml:1:{44 + keys.index(':') + 1}: error[wrong-type]" in result.stderr
    assert words in result.stderr


@pytest.mark.parametrize("keys", ["rule: timeout", "max_ulp: 4"])
def test_a_skipped_case_has_no_error(keys: str) -> None:
    write("a.yaml", 1)
    expect(f"- {{cases: '*', expect: skipped, reason: x, {keys}}}\n")
    result, _ = run()
    assert (result.exit_code, "left out with expect: skipped" in result.stderr) == (2, True)


def test_what_is_expected_is_said_in_words() -> None:
    entry = Entry("*", "failed", "x", rule="output-mismatch", max_ulp=4.0)
    assert entry.expected == "failed by output-mismatch with at most 4 ULP"
    passed = expected_result(CaseResult(case(), "passed"), entry)
    assert passed.reason == "expected failed by output-mismatch with at most 4 ULP, and passes: x"


# ---- globs


def plainly(glob: str, text: str) -> bool:
    """What a glob means, tried in every way."""
    if not glob:
        return not text
    if glob[0] == "*":
        return any(plainly(glob[1:], text[start:]) for start in range(len(text) + 1))
    return bool(text) and glob[0] in ("?", text[0]) and plainly(glob[1:], text[1:])


GLOB = st.text(st.sampled_from("ab?*"), max_size=8)


@given(GLOB, st.text(st.sampled_from("ab"), max_size=8))
def test_a_glob_means_what_its_definition_says(glob: str, text: str) -> None:
    assert matches(glob, text) == plainly(glob, text)


@given(st.lists(GLOB, max_size=6), st.text(st.sampled_from("ab"), max_size=6))
def test_many_globs_name_what_each_of_them_names(globs: list[str], text: str) -> None:
    expected = [number for number, glob in enumerate(globs) if plainly(glob, text)]
    assert sorted(Globs(dict(enumerate(globs))).naming(text)) == expected


def test_fourteen_stars_are_held_beside_sixty_letters_without_going_back() -> None:
    """Tried in every way, that is 10**13 ways."""
    assert not matches("*a" * 14 + "b", "a" * 60)
    assert matches("*a" * 14 + "*", "a" * 60)
    assert not matches("*?a" * 2000 + "b", "a" * 100_000)


def test_globs_that_begin_and_end_otherwise_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    monkeypatch.setattr("dmlcheck.running.expectations.matches", lambda glob, _: looked_at.append(glob))
    starts = [f"f{number:04}/*" for number in range(5000)]
    ends = [f"*::c{number}" for number in range(5000)]
    globs = Globs(dict(enumerate([*starts, *ends, "x", "*"])))
    assert not list(globs.naming("f0042/a.yaml::c7"))
    assert looked_at == ["*", "f0042/*", "*::c7"]
