"""`expectations update` on the command line, and the file of a run."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest
from commandline import WRONG, dmlcheck, json_of, write
from misbehaving import WRONG as NUMBER
from misbehaving_cases import BAD
from misbehaving_cases import write as write_cases
from running.test_expectations import expect, run

ENTRY = "- {cases: 'a.yaml::*', expect: failed, reason: known}\n"


@pytest.fixture(autouse=True)
def _report(folder: Path) -> None:
    write("a.yaml", WRONG)
    dmlcheck("run", "a.yaml", "--json", "r.json")
    assert (folder / "r.json").exists()


def test_a_file_that_holds_stays_as_it_is() -> None:
    write("known.yaml", ENTRY)
    result = dmlcheck("expectations", "update", "r.json", "known.yaml")
    assert (result.exit_code, result.stdout) == (0, "known.yaml: 0 dropped, 0 added\n")
    assert Path("known.yaml").read_text(encoding="utf-8") == ENTRY


def test_what_was_done_is_said_and_saved() -> None:
    write("known.yaml", ENTRY.replace("a.yaml::", "a.yaml::gone"))
    result = dmlcheck("expectations", "update", "r.json", "known.yaml", "--add", "--reason", "new")
    assert result.stdout.splitlines() == [
        "dropped a.yaml::gone* (failed): no case has such an id",
        "added a.yaml::a (failed)",
        "known.yaml: 1 dropped, 1 added",
    ]
    assert dmlcheck("run", "a.yaml", "--expectations", "known.yaml").exit_code == 0


def test_with_add_the_file_is_made_where_there_is_none() -> None:
    result = dmlcheck("expectations", "update", "r.json", "new.yaml", "--add", "--reason", "new")
    assert (result.exit_code, result.stdout) == (0, "added a.yaml::a (failed)\nnew.yaml: 0 dropped, 1 added\n")
    assert dmlcheck("run", "a.yaml", "--expectations", "new.yaml").exit_code == 0


def test_malformed_files_and_cases_are_never_added_and_their_entries_are_kept() -> None:
    write("broken.yaml", "operator: [\n")
    write("form.yaml", "operator: REDUCE\ncases: [{name: one, desc: 3}]\n")
    dmlcheck("run", "a.yaml", "broken.yaml", "form.yaml", "--json", "r.json")
    known = "- {cases: 'form.yaml::*', expect: failed, reason: known}\n"
    write("known.yaml", known)
    result = dmlcheck("expectations", "update", "r.json", "known.yaml", "--add", "--reason", "new")
    assert (result.exit_code, result.stdout) == (2, "added a.yaml::a (failed)\nknown.yaml: 0 dropped, 1 added\n")
    assert result.stderr.splitlines() == [
        "not added broken.yaml: it is malformed; correct it and run again",
        "not added form.yaml::one: it is malformed; correct it and run again",
    ]
    text = Path("known.yaml").read_text(encoding="utf-8")
    assert text.startswith(known)
    assert "broken" not in text


def test_cases_whose_values_cannot_be_used_are_never_added() -> None:
    tensor = "{DataType: FLOAT32, Sizes: [2]}"
    desc = f"desc: {{InputTensor: {tensor}, OutputTensor: {tensor}}}"
    cases = [
        "{name: few, inputs: {InputTensor: [1]}, outputs: {OutputTensor: [1, 2]}}",
        "{name: large, inputs: {InputTensor: [1, 1e99]}, outputs: {OutputTensor: [1, 2]}}",
        "{name: missing, inputs: {}, outputs: {OutputTensor: [1, 2]}}",
    ]
    write("values.yaml", f"operator: ACTIVATION_RELU\n{desc}\ncases: [{', '.join(cases)}]\n")
    assert dmlcheck("run", "values.yaml", "--json", "r.json").exit_code == 1
    result = dmlcheck("expectations", "update", "r.json", "known.yaml", "--add", "--reason", "new")
    assert (result.exit_code, result.stdout) == (2, "known.yaml: 0 dropped, 0 added\n")
    refused = [line.partition(":")[0].partition(" ")[2] for line in result.stderr.splitlines()]
    assert refused == ["added values.yaml"] * 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["r.json", "known.yaml", "--add"], "--add needs --reason TEXT"),
        (["r.json", "known.yaml", "--reason", "x"], "--reason goes with --add"),
        (["a.yaml", "known.yaml"], "a.yaml: not JSON"),
        (["r.json", "broken.yaml"], "broken.yaml:1:1: error[wrong-type]"),
        (["r.json", "none.yaml"], "none.yaml does not exist; --add --reason TEXT makes it"),
    ],
)
def test_what_cannot_be_updated_is_refused(words: list[str], said: str) -> None:
    write("known.yaml", ENTRY)
    write("broken.yaml", "cases: 3\n")
    result = dmlcheck("expectations", "update", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_an_update_goes_through_no_link(folder: Path) -> None:
    write("a.yaml", WRONG)
    write("mine.yaml", "[]\n")
    (folder / "known.yaml").symlink_to("mine.yaml")
    dmlcheck("run", "a.yaml", "--json", "r.json")
    result = dmlcheck("expectations", "update", "r.json", "known.yaml", "--add", "--reason", "x")
    assert (result.exit_code, "known.yaml: is a link; name the file that it leads to" in result.stderr) == (2, True)
    assert (folder / "mine.yaml").read_text("utf-8") == "[]\n"


# ---- keeping a file of known results up to date with a run


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
    write_cases("a.yaml", 1, NUMBER, NUMBER)
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
    write_cases("a.yaml", 1, NUMBER, NUMBER)
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
    write_cases("a.yaml", 1, NUMBER)
    text = "- {cases: 'b.yaml::c0', expect: failed, reason: x}\n- {cases: 'a.yaml::gone', expect: failed, reason: y}\n"
    expect(text)
    dmlcheck("run", "./a.yaml", "--implementation", BAD, "--json", "r.json")
    assert update().stdout.splitlines()[0] == "dropped a.yaml::gone (failed): no case has such an id"
    assert Path("known.yaml").read_text(encoding="utf-8") == text.splitlines(keepends=True)[0]


@pytest.mark.slow
def test_a_failure_is_not_added_that_an_entry_names_by_the_end_of_its_path() -> None:
    write_cases("s/a.yaml", NUMBER)
    expect("- {cases: 's/a.yaml::c0', expect: failed, reason: x}\n")
    dmlcheck("run", "./s", "--implementation", BAD, "--json", "r.json")
    assert update("--add", "--reason", "new").stdout == "known.yaml: 0 dropped, 0 added\n"


def test_the_last_entry_may_go() -> None:
    write_cases("a.yaml", 1)
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
    write_cases("a.yaml", 1, NUMBER, NUMBER)
    expect(text)
    dmlcheck("run", "a.yaml", "--implementation", BAD, "--json", "r.json")
    assert update("--add", "--reason", "new").exit_code == 0
    outcome, found = run()
    assert outcome.exit_code == 0
    assert found["c2"] == ("xfailed", "new")
    assert Path("known.yaml").read_text(encoding="utf-8").startswith(text.partition("[]")[0].partition("- {")[0])


@pytest.mark.slow
def test_nothing_is_added_to_a_list_in_brackets() -> None:
    write_cases("a.yaml", 1, NUMBER, NUMBER)
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
    case = {"name": name, "operator": "REDUCE", "desc": desc, "inputs": {"InputTensor": [NUMBER, 1, 2]}}
    outputs = {"OutputTensor": [NUMBER + 3]}
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
