"""`expectations update` on the command line, and the file of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commandline import GOOD, WRONG, dmlcheck, write

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


def test_a_new_file_with_nothing_to_expect_is_an_empty_list() -> None:
    write("b.yaml", GOOD)
    dmlcheck("run", "b.yaml", "--json", "good.json")
    assert dmlcheck("expectations", "update", "good.json", "new.yaml", "--add", "--reason", "new").exit_code == 0
    assert Path("new.yaml").read_text(encoding="utf-8") == "[]\n"
    assert dmlcheck("run", "b.yaml", "--expectations", "new.yaml").exit_code == 0


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
