"""`compare` on the command line: what it exits with, what it refuses, and reports that `run` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, many, write
from run_reports import WRONG, ran, write_run

from dmlcheck.cli.compare import Changes, changes
from dmlcheck.reports.reading import ReportError


def compared(old: list[Any], new: list[Any], *words: str) -> tuple[int, str, str]:
    """Return the exit code of a comparison and what it printed."""
    result = dmlcheck("compare", write_run("old.json", *old), write_run("new.json", *new), *words)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("passed", "passed", 0),
        ("failed", "failed", 0),
        ("failed", "passed", 0),
        ("passed", "failed", 1),
        ("skipped", "failed", 1),
        ("skipped", "skipped", 5),
        ("passed", "skipped", 5),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_it_fails_if_a_case_newly_fails(old: str, new: str, code: int, form: str) -> None:
    found = compared([ran("a", old, 1)], [ran("a", new, 9)], "--format", form)
    assert found[0] == code
    assert ("nothing was compared" in found[2]) is (code == 5)
    assert len(found[1]) > 50


def test_runs_of_other_cases_compare_nothing() -> None:
    code, _, errors = compared([ran("a", "passed")], [ran("b", "passed")])
    assert (code, "no case is in both reports; ids begin with the path" in errors) == (5, True)
    assert compared([ran("a", "passed")], [ran("b", "failed")])[0] == 1
    assert compared([], [])[0] == 5


def test_two_runs_of_a_file_are_compared() -> None:
    write("a.yaml", many(3))
    dmlcheck("run", "a.yaml", "--json", "old.json")
    write("a.yaml", many(4).replace("[6]}}", "[7]}}", 1))
    dmlcheck("run", "a.yaml", "--json", "new.json")
    result = dmlcheck("compare", "old.json", "new.json", "--format", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [case["id"] for case in found["newly_failing"]] == ["a.yaml::c0"]
    assert [case["id"] for case in found["new"]] == ["a.yaml::c3"]
    assert found["newly_failing"][0]["rule"] == "output-mismatch"
    assert dmlcheck("compare", "new.json", "old.json").exit_code == 0
    last = dmlcheck("compare", "new.json", "old.json").stdout.splitlines()[-1]
    assert last == "3 cases compared: 1 fixed, 1 gone"


@pytest.mark.parametrize("value", ["0.5", "0", "nan", "inf", "-1", "1e999", "x"])
def test_a_drift_that_is_no_growth_is_wrong_usage(value: str) -> None:
    code, _, errors = compared([ran("a", "passed")], [ran("a", "passed")], f"--max-drift={value}")
    assert (code, "--max-drift" in errors) == (2, True)


NO_REPORTS = {
    "missing": (None, "no such file or folder"),
    "empty": ("", "not JSON"),
    "text": ("{", "not JSON"),
    "list": ("[]", "not a report of a run (dmlcheck-report/1)"),
    "validation": ('{"schema": "dmlcheck-validation/1", "descs": []}', "not a report of a run (dmlcheck-report/1)"),
    "cases": ('{"schema": "dmlcheck-report/1", "implementation": "x", "cases": 3}', "not a whole report"),
    "not-finite": ('{"schema": "dmlcheck-report/1", "implementation": "x", "cases": [NaN]}', "not JSON"),
    "digits": ("[" + "9" * 5000 + "]", "not JSON"),
    "deep": ("[" * 100_000, "not JSON"),
}


@pytest.mark.parametrize("kind", NO_REPORTS)
@pytest.mark.parametrize("is_old", [True, False])
def test_what_is_no_report_is_named(kind: str, is_old: bool) -> None:
    text, told = NO_REPORTS[kind]
    if text is not None:
        write("bad.json", text)
    good = write_run("good.json", ran("a", "passed"))
    result = dmlcheck("compare", *(("bad.json", good) if is_old else (good, "bad.json")))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"bad.json: {told}" in result.stderr


@pytest.mark.parametrize(
    "part",
    [
        {"outputs": []},
        {"outputs": None},
        {"outputs": {"OutputTensor": 3}},
        {"outputs": {"OutputTensor": {}}},
        {"outputs": {"OutputTensor": {"max_ulp": "1"}}},
        {"outputs": {"OutputTensor": {"max_ulp": True}}},
        {"outputs": {"OutputTensor": {"max_ulp": -1}}},
        {"outputs": {"OutputTensor": {"max_ulp": 10**400}}},
        {"diagnostics": 3},
        {"diagnostics": [3]},
        {"diagnostics": [{}]},
        {"diagnostics": [{**WRONG, "message": None}]},
        {"diagnostics": [{**WRONG, "rule": ["x"]}]},
        {"reason": 3},
        {"drift": [3]},
        {"drift": {"a": 1}},
    ],
    ids=repr,
)
def test_a_case_that_run_never_writes_is_named(part: dict[str, Any]) -> None:
    code, text, errors = compared([ran("a", "passed")], [{**ran("b\n\x1b[31m", "passed"), **part}])
    assert (code, text) == (2, "")
    assert r"new.json: b\n\x1b[31m: not a case as `dmlcheck run` reports it" in errors


# ---- what changed between two reports, worked out by hand from the definition of each list


LISTS = ("newly_failing", "still_failing", "fixed", "changed", "added", "gone")
DRIFTED = {"drift": [{"output": "OutputTensor", "old_ulp": 1, "new_ulp": 3, "failure": True}]}


def between(folder: Path, old: list[Any], new: list[Any], max_drift: float = 2.0) -> Changes:
    """Return what changed between two runs with these cases."""
    return changes(write_run(folder / "old.json", *old), write_run(folder / "new.json", *new), max_drift)


def lists_of(found: Changes) -> dict[str, list[str]]:
    """Return the ids in each list that is not empty."""
    named = {key: [change.id for change in getattr(found, key)] for key in LISTS}
    return {key: ids for key, ids in named.items() if ids}


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("passed", "failed", "newly_failing"),
        ("passed", "error", "newly_failing"),
        ("skipped", "failed", "newly_failing"),
        ("xfailed", "failed", "newly_failing"),
        ("xfailed", "xpassed", "newly_failing"),  # which fails its run
        ("failed", "passed", "fixed"),
        ("error", "passed", "fixed"),
        ("xfailed", "passed", "fixed"),
        ("xpassed", "passed", "fixed"),
        ("failed", "failed", "still_failing"),
        ("failed", "error", "still_failing"),
        ("error", "xpassed", "still_failing"),
        ("failed", "skipped", "changed"),  # which mends nothing
        ("failed", "xfailed", "changed"),
        ("passed", "skipped", "changed"),
        ("passed", "xfailed", "changed"),
        ("skipped", "passed", "changed"),
        ("passed", "passed", None),
        ("skipped", "skipped", None),
        ("xfailed", "xfailed", None),
        (None, "passed", "added"),
        ("failed", None, "gone"),
    ],
)
def test_a_case_is_in_the_list_of_what_became_of_it(
    old: str | None, new: str | None, name: str | None, tmp_path: Path
) -> None:
    before, after = ([] if outcome is None else [ran("a.yaml::x", outcome)] for outcome in (old, new))
    assert lists_of(between(tmp_path, before, after)) == ({} if name is None else {name: ["a.yaml::x"]})


def test_a_new_case_that_fails_is_new_and_fails_newly(tmp_path: Path) -> None:
    found = between(tmp_path, [ran("a", "passed")], [ran("a", "passed"), ran("b", "failed")])
    assert lists_of(found) == {"newly_failing": ["b"], "added": ["b"]}


def test_a_case_that_passes_and_drifted_fails_its_run(tmp_path: Path) -> None:
    plain, drifted = ran("a", "passed"), ran("a", "passed", 3, **DRIFTED)
    assert lists_of(between(tmp_path, [plain], [drifted])) == {"newly_failing": ["a"]}
    assert lists_of(between(tmp_path, [drifted], [plain])) == {"fixed": ["a"]}
    assert lists_of(between(tmp_path, [drifted], [drifted])) == {"still_failing": ["a"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cases/a.yaml::x", "a.yaml::x"),
        ("a.yaml::x", "cases/a.yaml::x"),
        ("../cases/a.yaml::x", "./a.yaml::x"),
        ("/home/me/cases/a.onnx::/layer/Conv", "cases/a.onnx::/layer/Conv"),
        ("C:/me/cases/a.yaml::x", "a.yaml::x"),
        ("a.yaml::x", "../a.yaml::x"),
    ],
)
def test_ids_match_from_any_folder(tmp_path: Path, old: str, new: str) -> None:
    found = between(tmp_path, [ran(old, "passed")], [ran(new, "failed")])
    assert lists_of(found) == {"newly_failing": [new]}
    assert found.compared == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a/x.yaml::n"], ["b/x.yaml::n"]),  # other files
        (["x.yaml::n"], ["my-x.yaml::n"]),
        (["x.yaml::n"], ["a/x.yaml::n", "b/x.yaml::n"]),  # either could be meant
        (["a/x.yaml::n", "b/x.yaml::n"], ["x.yaml::n"]),
        (["a.yaml::x", "c.yaml::x"], ["a.yaml::x", "b/a.yaml::x"]),  # the first is there as it is
    ],
)
def test_ids_of_other_cases_do_not_match(tmp_path: Path, old: list[str], new: list[str]) -> None:
    found = between(tmp_path, [ran(name, "passed") for name in old], [ran(name, "passed") for name in new])
    other = {"added": [name for name in new if name not in old], "gone": [name for name in old if name not in new]}
    assert lists_of(found) == other


def test_what_one_run_skipped_is_not_compared(tmp_path: Path) -> None:
    old = [ran("a", "passed"), ran("b", "skipped"), ran("c", "failed")]
    new = [ran("a", "skipped"), ran("b", "passed"), ran("c", "failed")]
    assert between(tmp_path, old, new).compared == 1


@pytest.mark.parametrize(
    ("old", "new", "times", "is_told"),
    [
        (1.0, 2.0, 2.0, True),
        (1.0, 1.99, 2.0, False),
        (3.0, 8.9, 3.0, False),
        (3.0, 9.0, 3.0, True),
        (0.0, 1.0, 2.0, True),  # errors below half a unit count as half a unit
        (0.01, 0.5, 2.0, False),
        (0, 1, 2.0, True),
        (5.0, 5.0, 1.0, False),  # has not grown
        (9.0, 1.0, 2.0, False),
        (1.7976931348623157e308, 1.7976931348623157e308, 2.0, False),
        (1, 10**308, 1e300, True),
    ],
)
def test_an_error_that_grew_so_many_times_is_told(
    old: float, new: float, times: float, is_told: bool, tmp_path: Path
) -> None:
    (growth,) = between(tmp_path, [ran("a", "passed", old)], [ran("a", "passed", new)], times).grown or (None,)
    assert growth == (("a", "OutputTensor", old, new) if is_told else None)


def test_errors_of_cases_that_fail_grow_too_but_not_of_those_that_newly_fail(tmp_path: Path) -> None:
    old = [ran("a", "failed", 10), ran("b", "passed", 1), ran("c", "passed"), ran("d", "passed", 1)]
    new = [ran("a", "failed", 20), ran("b", "failed", 9), ran("c", "passed", 9), ran("d", "passed")]
    assert [growth.case for growth in between(tmp_path, old, new).grown] == ["a"]


def test_of_several_cases_of_one_id_one_that_fails_counts(tmp_path: Path) -> None:
    found = between(tmp_path, [ran("a", "passed")], [ran("a", "passed"), ran("a", "failed"), ran("a", "passed")])
    assert lists_of(found) == {"newly_failing": ["a"]}


def test_a_run_is_told_with_what_it_was_of(tmp_path: Path) -> None:
    head = {"implementation_version": "1.22", "device": "GPU 0", "feature_level": "5_0", "not_run": 3}
    path = write_run(tmp_path / "r.json", ran("a", "passed"), **head)
    run = changes(path, path).old
    assert run == (path, "onnxruntime", "1.22", "GPU 0", "5_0", "0.1.0", 1, False)
    assert not changes(write_run(tmp_path / "s.json", interrupted=True), path).old.is_whole
    assert changes(path, write_run(tmp_path / "t.json")).new.is_whole


def test_a_report_of_a_model_has_its_nodes_as_cases(tmp_path: Path) -> None:
    more = {"node": "Conv_3", "onnx_operator": "Conv-11", "dml_operators": ["DML_OPERATOR_CONVOLUTION"]}
    found = between(
        tmp_path,
        [ran("m.onnx::Conv_3", "passed", 1, **more), ran("m.onnx::output:y", "skipped", 4)],
        [ran("m.onnx::Conv_3", "failed", 900, **more), ran("m.onnx::output:y", "skipped", 4)],
    )
    assert lists_of(found) == {"newly_failing": ["m.onnx::Conv_3"]}


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ({"device": 3}, "its head is not as `dmlcheck run` writes it"),
        ({"tool": []}, None),
        ({"tool": "x"}, "its head is not as `dmlcheck run` writes it"),
        ({"not_run": "3"}, "its head is not as `dmlcheck run` writes it"),
        ({"feature_level": ["4_1"]}, "its head is not as `dmlcheck run` writes it"),
    ],
)
def test_a_head_that_run_never_writes_is_refused(head: dict[str, Any], told: str | None, tmp_path: Path) -> None:
    path = write_run(tmp_path / "r.json", **head)
    if told is None:
        assert changes(path, path).old.tool is None
        return
    with pytest.raises(ReportError) as raised:
        changes(path, path)
    assert str(raised.value) == f"{path}: {told}"
