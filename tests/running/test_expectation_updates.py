"""Keeping a file of known results up to date with a run."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from commandline import dmlcheck, json_of
from misbehaving import WRONG
from misbehaving_cases import BAD, folder, write  # noqa: F401 - the fixture is used by its name
from running.test_expectations import expect, run

update = partial(dmlcheck, "expectations", "update", "r.json", "known.yaml")


KNOWN = """\
# of the driver of last week
- cases: "*::c0"
  expect: failed
  reason: off by one

# another one
- cases: "*::c1"
  expect: failed   # still
  reason: off by two
- {cases: "*::gone", expect: error, reason: was there}
- {cases: "*::c9", expect: failed, reason: of others, implementation: reference}
"""


def test_entries_that_no_longer_hold_are_dropped_and_the_others_stay_as_they_are() -> None:
    write("a.yaml", 1, WRONG, WRONG)
    expect(KNOWN)
    run()
    result = update()
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "dropped *::c0 (failed): now passed",
        "dropped *::gone (error): no case has such an id",
        "known.yaml: 2 dropped, 0 added",
    ]
    assert Path("known.yaml").read_text(encoding="utf-8") == (
        '# another one\n- cases: "*::c1"\n  expect: failed   # still\n  reason: off by two\n'
        '- {cases: "*::c9", expect: failed, reason: of others, implementation: reference}\n'
    )


@pytest.mark.slow
def test_new_failures_are_added_only_when_asked_for_and_with_a_reason() -> None:
    write("a.yaml", 1, WRONG, WRONG)
    expect("- {cases: '*::c1', expect: failed, reason: known}\n")
    dmlcheck("run", "a.yaml", "--implementation", BAD, "--json", "r.json")
    assert update().stdout == "known.yaml: 0 dropped, 0 added\n"
    assert update("--add").exit_code == 2
    assert update("--reason", "x").exit_code == 2
    result = update("--add", "--reason", 'the "new" driver: #12')
    assert result.stdout.splitlines() == ["added a.yaml::c2 (failed)", "known.yaml: 0 dropped, 1 added"]
    outcome, found = run()
    assert outcome.exit_code == 0
    assert found["c2"] == ("xfailed", 'the "new" driver: #12')
    assert update("--add", "--reason", "again").stdout == "known.yaml: 0 dropped, 0 added\n"


@pytest.mark.slow
def test_entries_for_files_that_a_run_did_not_read_stay() -> None:
    write("a.yaml", 1, WRONG)
    text = "- {cases: 'b.yaml::c0', expect: failed, reason: x}\n- {cases: 'a.yaml::gone', expect: failed, reason: y}\n"
    expect(text)
    dmlcheck("run", "./a.yaml", "--implementation", BAD, "--json", "r.json")
    assert update().stdout.splitlines()[0] == "dropped a.yaml::gone (failed): no case has such an id"
    assert Path("known.yaml").read_text(encoding="utf-8") == text.splitlines(keepends=True)[0]


@pytest.mark.slow
def test_a_failure_is_not_added_that_an_entry_names_by_the_end_of_its_path() -> None:
    write("s/a.yaml", WRONG)
    expect("- {cases: 's/a.yaml::c0', expect: failed, reason: x}\n")
    dmlcheck("run", "./s", "--implementation", BAD, "--json", "r.json")
    assert update("--add", "--reason", "new").stdout == "known.yaml: 0 dropped, 0 added\n"


def test_the_last_entry_may_go() -> None:
    write("a.yaml", 1)
    expect("- {cases: '*::c0', expect: failed, reason: x}\n")
    run()
    update()
    assert run()[0].exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "# none yet\n---\n",
        "[]\n",
        "# none yet\n[]  # really\n",
        "- {cases: '*::gone', expect: failed, reason: x}\n",
        "# the driver\n\n  - cases: '*::c1'\n    expect: failed\n    reason: known",
    ],
)
def test_what_is_added_makes_a_list_with_what_is_there(text: str) -> None:
    write("a.yaml", 1, WRONG, WRONG)
    expect(text)
    dmlcheck("run", "a.yaml", "--implementation", BAD, "--json", "r.json")
    assert update("--add", "--reason", "new").exit_code == 0
    outcome, found = run()
    assert outcome.exit_code == 0
    assert found["c2"] == ("xfailed", "new")
    assert Path("known.yaml").read_text(encoding="utf-8").startswith(text.partition("[]")[0].partition("- {")[0])


@pytest.mark.slow
def test_nothing_is_added_to_a_list_in_brackets() -> None:
    write("a.yaml", 1, WRONG, WRONG)
    text = "[{cases: '*::c1', expect: failed, reason: known}]\n"
    expect(text)
    dmlcheck("run", "a.yaml", "--implementation", BAD, "--json", "r.json")
    result = update("--add", "--reason", "new")
    assert result.exit_code == 2
    assert "a list with a dash before each" in result.output
    assert Path("known.yaml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["{}", "[1, 2]", "not json", '{"schema": "dmlcheck-report/1", "cases": [{}]}'])
def test_what_is_no_report_is_refused(text: str) -> None:
    expect("[]\n")
    Path("r.json").write_text(text, encoding="utf-8")
    assert update().exit_code == 2


@pytest.mark.slow
def test_a_case_of_any_name_is_added_and_expected_from_then_on() -> None:
    name = "half \ud800, end\n::error:: ##[group] \x1b[31m \u202e \"' # é"
    desc = {
        "Function": "SUM",
        "InputTensor": {"DataType": "INT32", "Sizes": [3]},
        "OutputTensor": {"DataType": "INT32", "Sizes": [1]},
        "Axes": [0],
    }
    case = {"name": name, "operator": "REDUCE", "desc": desc, "inputs": {"InputTensor": [WRONG, 1, 2]}}
    outputs = {"OutputTensor": [WRONG + 3]}
    Path("a.json").write_text(json.dumps({"cases": [{**case, "outputs": outputs}]}), encoding="utf-8")
    expect("[]\n")
    words = ["run", "a.json", "--implementation", BAD, "--expectations", "known.yaml", "--json", "r.json"]
    assert dmlcheck(*words).exit_code == 1
    result = update("--add", "--reason", f"why {name}")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "known.yaml: 0 dropped, 1 added")

    assert len(Path("known.yaml").read_text("utf-8").split("\n")) == 5
    assert dmlcheck(*words).exit_code == 0
    (found,) = json_of("r.json")["cases"]
    assert (found["name"], found["outcome"]) == (name, "xfailed")
    assert found["reason"] == f"why {name}".replace("\ud800", "\ufffd")
