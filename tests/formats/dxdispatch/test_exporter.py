"""`dmlcheck export --to dxdispatch`: what is written, what is not and why, and the folder that it goes to."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, json_of
from dxdispatch_cases import CASES, COUNT, FOLDED, export

from dmlcheck.folders import export_folder
from dmlcheck.formats.dxdispatch import exporter


def test_the_summary_says_what_was_written_and_what_was_not_and_why(folder: Path) -> None:
    case = {"name": "x", "operator": "FOLD", "desc": FOLDED, "inputs": {"InputTensor": {"fill": 1}}}
    (folder / "b.yaml").write_text(json.dumps({"cases": [case]}), encoding="utf-8")
    result = export("a.yaml", "b.yaml")
    assert result.stdout.splitlines() == [
        f"{COUNT} cases exported to {COUNT} models in out",
        "1 case not exported: DxDispatch does not know DML_OPERATOR_FOLD",
        "1 case not exported: a negative case: nothing to run",
    ]
    assert result.exit_code == 0
    names = {path.name for path in (folder / "out").iterdir() if path.is_file()}
    assert names == {"README.md", "run.cmd", "run.sh", "manifest.json"}


def test_cases_that_are_alike_share_a_model(folder: Path) -> None:
    (folder / "b.yaml").write_text(CASES.replace("name: strides", "name: again"), encoding="utf-8")
    result = export("a.yaml", "b.yaml")
    assert f"{2 * COUNT} cases exported to {COUNT} models in out" in result.stdout


def test_a_case_is_chosen_by_expression_or_by_name() -> None:
    assert "2 cases exported" in export("a.yaml", "-k", "strides or owned").stdout
    assert "1 case exported to 1 model in other" in export("a.yaml::strides", to="other").stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("a.yaml", "-k", "nothing-like-it"), 5, "no cases to export"),
        (("a.yaml", "-k", "on-purpose"), 5, "1 case not exported: a negative case"),
        (("a.yaml", "-k", "and and"), 2, "-k"),
        (("nowhere.yaml",), 2, "nowhere.yaml"),
        (("a.yaml::nothing",), 5, "no cases to export"),
        (("broken.yaml",), 2, "broken.yaml"),
        (("wrong.yaml",), 1, "1 case not exported: it is not valid"),
    ],
)
def test_exit_codes(folder: Path, words: tuple[str, ...], code: int, message: str) -> None:
    (folder / "broken.yaml").write_text("cases: [{name: x, desc: [\n", encoding="utf-8")
    wrong = "cases: [{name: x, operator: ARGMAX, desc: {Axes: [0]}, inputs: {}, outputs: {OutputTensor: [1]}}]\n"
    (folder / "wrong.yaml").write_text(wrong, encoding="utf-8")
    result = export(*words)
    assert (result.exit_code, message in result.output) == (code, True), result.output


def test_what_collects_nothing_leaves_an_earlier_export_as_it_is(folder: Path) -> None:
    export("a.yaml")
    before = sorted((folder / "out").rglob("*"))
    assert export("a.yaml", "-k", "nothing-like-it").exit_code == 5
    assert sorted((folder / "out").rglob("*")) == before


def test_a_folder_that_holds_something_else_is_not_touched(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    result = export("a.yaml")
    assert result.exit_code == 2
    assert "out is not empty, and is no folder of this kind that dmlcheck wrote" in result.output
    assert [path.name for path in (folder / "out").iterdir()] == ["thesis.txt"]
    result = export("a.yaml", to="a.yaml")
    assert (result.exit_code, "a.yaml is not a folder" in result.output) == (2, True)
    assert (folder / "a.yaml").read_text(encoding="utf-8") == CASES


def test_an_earlier_export_is_replaced_and_what_else_is_there_is_kept(folder: Path) -> None:
    export("a.yaml")
    (folder / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    result = export("a.yaml::strides")
    assert "out has an earlier one: its files are replaced" in result.stdout
    assert len([path for path in (folder / "out").iterdir() if path.is_dir()]) == 1
    assert (folder / "out" / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_manifest_cannot_make_an_export_remove_what_lies_elsewhere(folder: Path) -> None:
    export("a.yaml::strides")
    manifest = json_of(folder / "out" / "manifest.json")
    manifest["files"] += ["../a.yaml", str(folder / "a.yaml"), "..", ""]
    (folder / "out" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert export("a.yaml::strides").exit_code == 0
    assert (folder / "a.yaml").read_text(encoding="utf-8") == CASES


def test_an_export_that_is_cut_off_can_be_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = iter(["0" * 64])

    def interrupted(*_: Any) -> str:
        for digest in digests:
            return digest
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(exporter, "digest_of", interrupted)
        assert export("a.yaml").exit_code == 130
    (entry,) = json_of(folder / "out" / "manifest.json")["entries"]
    assert (entry["digest"], len(entry["cases"])) == ("0" * 64, 1)
    assert export("a.yaml").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written_is_wrong_usage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = export("a.yaml", to="a.yaml/out")
    assert result.exit_code == 2
    assert "cannot be written" in result.output or "is not a folder" in result.output

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_folder.Folder, "write", full)
    result = export("a.yaml")
    assert (result.exit_code, "out cannot be written: No space left on device" in result.output) == (2, True)
    assert folder.exists()


@pytest.mark.parametrize("command", ["export", "import"])
def test_help_says_what_there_is(command: str) -> None:
    result = dmlcheck(command, "--help")
    assert result.exit_code == 0
    assert "dxdispatch|onnx" in result.stdout
    assert "-o, --output DIR" in result.stdout


def test_a_format_that_is_not_there_is_refused_with_those_that_are() -> None:
    result = dmlcheck("export", "--to", "tflite", "a.yaml", "-o", "out")
    assert result.exit_code == 2
    assert "dxdispatch" in result.output
