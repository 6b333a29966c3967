"""`merge` on the command line: shards written together again, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import GOOD, dmlcheck, json_of, many, write


def shards(text: str) -> list[str]:
    """Run a file in two shards and return their reports."""
    write("a.yaml", text)
    names = ["1.json", "2.json"]
    for number, name in enumerate(names, 1):
        dmlcheck("run", "a.yaml", "--shard", f"{number}/2", "--json", name)
    return names


@pytest.mark.parametrize(
    ("text", "code", "last"),
    [(many(6), 0, "6 passed in "), (many(6).replace("[6]}}", "[7]}}", 1), 1, "5 passed, 1 failed in ")],
)
def test_merged_shards_end_as_the_whole_run_does(text: str, code: int, last: str) -> None:
    result = dmlcheck("merge", *shards(text), "--json", "all.json")
    assert (result.exit_code, dmlcheck("run", "a.yaml").exit_code) == (code, code)
    assert result.stdout.splitlines()[-1].startswith(last)
    assert json_of("all.json")["summary"]["total"] == 6


def test_shards_of_nothing_are_nothing_collected() -> None:
    assert dmlcheck("merge", *shards("cases: []\n")).exit_code == 5


def test_shards_that_skip_every_case_have_checked_nothing() -> None:
    without_outputs = many(6).replace(", outputs: {OutputTensor: [6]}", "")
    assert dmlcheck("merge", *shards(without_outputs)).exit_code == 5


def test_a_report_does_not_take_the_place_of_a_shard() -> None:
    names = shards(many(2))
    before = Path(names[0]).read_text(encoding="utf-8")
    assert dmlcheck("merge", *names, "--json", names[0]).exit_code == 2
    assert Path(names[0]).read_text(encoding="utf-8") == before


def test_what_is_no_shard_is_wrong_usage() -> None:
    write("a.yaml", GOOD)
    dmlcheck("run", "a.yaml", "--json", "r.json")
    result = dmlcheck("merge", "r.json")
    assert (result.exit_code, "r.json: not a shard of a run; run with --shard I/N" in result.stderr) == (2, True)


@pytest.mark.parametrize(("word", "ids"), [("-v", 3), ("-q", 0)])
def test_as_much_is_printed_as_of_a_run(word: str, ids: int) -> None:
    lines = dmlcheck("merge", *shards(many(3)), word).stdout.splitlines()
    assert len([line for line in lines if line.startswith("PASSED a.yaml::c")]) == ids
    assert any(line.startswith("operator") for line in lines) is (word == "-v")


DESCS = """\
operator: REDUCE
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
  Axes: [0]
cases:
- {name: plain}
- {name: axis, desc: {Axes: [1]}, invalid: [axis-out-of-range]}
- {name: sum, inputs: {InputTensor: [1, 2, 3]}, outputs: {OutputTensor: [6]}}
"""


@pytest.mark.slow
def test_the_whole_run_of_an_implementation_counts_what_it_computed() -> None:
    write("a.yaml", DESCS)
    misbehaving = ["--implementation", "python:misbehaving:Misbehaving"]
    for number in (1, 2):
        dmlcheck("run", "a.yaml", *misbehaving, "--shard", f"{number}/2", "--json", f"{number}.json")
    result = dmlcheck("merge", "1.json", "2.json", "--json", "all.json")
    assert (result.exit_code, result.stdout.splitlines()[-1].partition(" in ")[0]) == (0, "1 passed, 2 descs checked")
    summary = json_of("all.json")["summary"]
    assert (summary["passed"], summary["computed"], summary["legal"]) == (3, 1, 1)


@pytest.mark.slow
def test_the_whole_run_of_an_implementation_that_computed_nothing_has_checked_nothing() -> None:
    write("a.yaml", DESCS)
    misbehaving = ["--implementation", "python:misbehaving:Misbehaving", "-k", "not sum"]
    for number in (1, 2):
        dmlcheck("run", "a.yaml", *misbehaving, "--shard", f"{number}/2", "--json", f"{number}.json")
    result = dmlcheck("merge", "1.json", "2.json")
    told = "dmlcheck: nothing was checked: the implementation computed nothing; 2 descs checked without it\n"
    assert (result.exit_code, result.stderr) == (5, told)
