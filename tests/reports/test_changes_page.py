"""What changed between two runs, as text, as Markdown and as plain values."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from run_reports import WRONG, ran, write_run

from dmlcheck.cli.compare import (
    MOST_CHARACTERS,
    Changes,
    changes,
    changes_dict,
    changes_lines,
    changes_markdown,
    summary_text,
)

OLD = [ran("a", "passed", 0.5), ran("b", "failed"), ran("c", "failed"), ran("d", "passed", 1), ran("g", "passed")]
NEW = [
    ran("a", "failed", 9),
    ran("b", "passed"),
    ran("c", "error"),
    ran("d", "passed", 3),
    ran("f", "passed"),
    ran("h", "skipped", reason="no FLOAT16"),
]
GROWN = "1 output with an error 2 times as large or more"
HOSTILE = "x|y\n::error::`<img src=x>` @team [a](https://e.example) *b* \x1b[31m\u202e##[error]\ud800"


def between(folder: Path, old: list[Any], new: list[Any], **head: Any) -> Changes:
    found = changes(write_run(folder / "old.json", *old), write_run(folder / "new.json", *new, **head))
    return found._replace(old=found.old._replace(file="old.json"), new=found.new._replace(file="new.json"))


def test_every_list_is_told_under_its_heading(tmp_path: Path) -> None:
    found = between(tmp_path, OLD, NEW, implementation_version="1.22", device="GPU 0", feature_level="5_0", not_run=2)
    said = "output-mismatch: OutputTensor: 1 of 1 element is outside the tolerance"
    assert list(changes_lines(found)) == [
        "old: old.json: onnxruntime, dmlcheck 0.1.0, 5 cases",
        "new: new.json: onnxruntime 1.22 (GPU 0), DML_FEATURE_LEVEL_5_0, dmlcheck 0.1.0, 6 cases, not run to its end",
        "",
        "Newly failing (1)",
        f"  a  passed, now failed  {said}",
        "",
        "Fixed (1)",
        "  b  failed, now passed",
        "",
        "Still failing (1)",
        f"  c  failed, now error  {said}",
        "",
        "Larger errors (1)",
        "  d OutputTensor  largest error 1, now 3",
        "",
        "New (2)",
        "  f  new, passed",
        "  h  new, skipped  no FLOAT16",
        "",
        "Gone (1)",
        "  g  was passed",
        "",
        f"4 cases compared: 1 newly failing, 1 fixed, 1 still failing, 2 new, 1 gone, {GROWN}",
    ]


def test_a_drift_alone_is_told_as_such(tmp_path: Path) -> None:
    drift = [{"output": "OutputTensor", "old_ulp": 1, "new_ulp": 3, "failure": True}]
    lines = list(changes_lines(between(tmp_path, [ran("a", "passed")], [ran("a", "passed", 3, drift=drift)])))
    assert "  a  passed  less accurate than its run allows" in lines


def test_nothing_changed_is_said(tmp_path: Path) -> None:
    assert summary_text(between(tmp_path, OLD, OLD)) == "5 cases compared: 2 still failing"
    assert summary_text(between(tmp_path, OLD[:1], OLD[:1])) == "1 case compared: no change"


def test_a_long_list_is_cut_in_text_unless_all_is_asked_for(tmp_path: Path) -> None:
    found = between(tmp_path, [], [ran(f"c{index}", "failed") for index in range(60)])
    short, whole = "\n".join(changes_lines(found)), "\n".join(changes_lines(found, is_whole=True))
    assert "  and 10 more; -v lists all" in short
    assert len(re.findall(r"^  c\d+", short, re.MULTILINE)) == 100  # newly failing, and new
    assert len(re.findall(r"^  c\d+", whole, re.MULTILINE)) == 120


def test_markdown_is_a_table_for_each_list_and_folds_what_is_no_news(tmp_path: Path) -> None:
    text = changes_markdown(between(tmp_path, OLD, NEW))
    assert text.startswith("## dmlcheck: 4 cases compared: 1 newly failing, 1 fixed, ")
    assert "### Newly failing (1)\n\n| case | before | now | why |\n| --- | --- | --- | --- |\n" in text
    assert "| <code>b</code> | failed | passed |  |\n" in text
    assert "| <code>d</code> | OutputTensor | largest error 1, now 3 |\n" in text
    assert re.findall(r"<summary>(.*?)</summary>", text) == ["Still failing (1)", "New (2)", "Gone (1)"]
    assert text.count("<details>") == text.count("</details>") == 3


def test_no_name_or_message_is_markup_or_leaves_its_cell(tmp_path: Path) -> None:
    case = ran(HOSTILE, "failed", diagnostics=[{**WRONG, "message": HOSTILE}])
    case["outputs"] = {HOSTILE: {"max_ulp": 1}}
    worse = {**case, "outputs": {HOSTILE: {"max_ulp": 5}}}
    text = changes_markdown(between(tmp_path, [case], [worse, ran("new" + HOSTILE, "failed")], device=HOSTILE))
    assert not re.search(r"<img|@team|\]\(|https://|##\[|[\x00-\x09\x0b-\x1f\u202e\ud800]|^\s*::", text, re.MULTILINE)
    rows = [line for line in text.splitlines() if line.startswith("| <code>")]
    assert [row.count("|") for row in rows] == [5, 5, 4, 5]
    lines = "\n".join(changes_lines(between(tmp_path, [case], [worse], device=HOSTILE)))
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800]", lines)


def test_markdown_fits_into_a_comment_whatever_the_names(tmp_path: Path) -> None:
    old = [ran(f"{index}" + "`" * 5000, "failed", 1) for index in range(300)]
    worse = [ran(f"{index}" + "`" * 5000, "failed", 9) for index in range(300)]
    new = [*worse, *(ran(f"n{index}" + "<" * 5000, "failed") for index in range(300))]
    text = changes_markdown(between(tmp_path, old, new))
    assert len(text) <= MOST_CHARACTERS
    assert re.search(r"^\d+ more: see the JSON reports\.$", text, re.MULTILINE)
    assert text.count("<details>") == text.count("</details>")


def test_the_plain_values_have_all_lists_whole(tmp_path: Path) -> None:
    found = changes_dict(between(tmp_path, OLD, NEW))
    assert found["schema"] == "dmlcheck-comparison/1"
    assert found["summary"] == {
        "compared": 4,
        "newly_failing": 1,
        "fixed": 1,
        "still_failing": 1,
        "changed": 0,
        "new": 2,
        "gone": 1,
        "grown": 1,
    }
    (newly,) = found["newly_failing"]
    message = "OutputTensor: 1 of 1 element is outside the tolerance"
    assert newly == {"id": "a", "old": "passed", "new": "failed", "rule": "output-mismatch", "message": message}
    assert found["gone"] == [{"id": "g", "old": "passed", "new": None, "rule": None, "message": None}]
    assert found["grown"] == [{"case": "d", "output": "OutputTensor", "old_ulp": 1, "new_ulp": 3}]
    assert [found["runs"][key]["cases"] for key in ("old", "new")] == [5, 6]
    json.dumps(found, allow_nan=False)
