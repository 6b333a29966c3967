"""`import` on the command line: which files it takes, and what it says of each."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from commandline import GOOD, dmlcheck, json_of, many, write

from dmlcheck.cases.records import Case
from dmlcheck.cli import main
from dmlcheck.cli.import_ import written
from dmlcheck.folders.export_folder import Folder, MissingRequirement, Occupied
from dmlcheck.reports.site import build
from dmlcheck.reports.site.build import File
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.records import OperatorSpec


@pytest.fixture
def models() -> str:
    """Export some cases, and return the folder of their models."""
    write("a.yaml", many(2))
    assert dmlcheck("export", "--to", "dxdispatch", "a.yaml", "-o", "models").exit_code == 0
    return "models"


def test_a_folder_without_models_imports_nothing() -> None:
    write("f/a.yaml", GOOD)
    result = dmlcheck("import", "onnx", "f", "-o", "cases")
    assert result.exit_code == 5
    assert result.stderr == "dmlcheck: no models to import: f has no files that end in .onnx\n"
    assert not Path("cases").exists()


def test_a_path_that_is_not_there_is_wrong_usage() -> None:
    result = dmlcheck("import", "onnx", "nowhere", "-o", "cases")
    assert (result.exit_code, "nowhere: no such file or folder" in result.stderr) == (2, True)


def test_a_file_of_another_format_is_named_with_what_takes_it() -> None:
    write("x.onnx", "")
    result = dmlcheck("import", "dxdispatch", "x.onnx", "-o", "cases")
    assert result.exit_code == 2
    assert "x.onnx is an ONNX model, not a DxDispatch model: `dmlcheck run`, `dmlcheck validate`" in result.stderr
    assert not Path("cases").exists()


def test_hidden_files_of_a_folder_are_not_imported(models: str) -> None:
    write(f"{models}/.hidden.json", '{"dispatchables": {}}')
    assert ".hidden" not in dmlcheck("import", "dxdispatch", models, "-o", "cases").output


def test_options_of_models_are_for_the_nodes_of_models_alone() -> None:
    write("x.onnx", "")
    result = dmlcheck("import", "onnx", "x.onnx", "-o", "cases", "--seed", "1")
    assert (result.exit_code, "--seed is not for `dmlcheck import onnx`" in result.stderr) == (2, True)
    write("x.bin", "")
    result = dmlcheck("import", "graph", "x.bin", "-o", "cases", "--dim", "batch=1")
    assert result.exit_code == 2
    assert "--dim is for ONNX models (.onnx); x.bin is a DirectML graph" in result.stderr
    assert not Path("cases").exists()


def test_files_of_two_formats_go_to_two_folders() -> None:
    write("f/a.onnx", "")
    write("f/b.bin", "")
    result = dmlcheck("import", "graph", "f", "-o", "cases")
    assert result.exit_code == 2
    said = result.stderr.replace("\\", "/")
    assert "f/a.onnx is an ONNX model and f/b.bin is a DirectML graph: import each to a folder of its own" in said


def test_nothing_to_export_makes_no_folder() -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("export", "--to", "dxdispatch", "a.yaml", "-k", "nowhere", "-o", "out")
    assert (result.exit_code, result.stdout, result.stderr) == (5, "", "dmlcheck: no cases to export\n")
    assert not Path("out").exists()


def test_strides_that_span_far_more_than_the_elements_take_are_no_reason_to_write_megabytes(folder: Path) -> None:
    wide = GOOD.replace("InputTensor: {DataType: FLOAT32, Sizes: [3]}", WIDE)
    write("a.yaml", wide)
    result = dmlcheck("export", "--to", "dxdispatch", "a.yaml", "-o", "out")
    assert "not exported: the strides of InputTensor spread 3 elements over 0.1 GiB" in result.stdout
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 10_000
    # The engine has no use for the gaps.
    assert dmlcheck("run", "a.yaml").exit_code == 0


WIDE = "InputTensor: {DataType: FLOAT32, Sizes: [3], Strides: [16777216]}"


def test_what_the_work_returns_is_passed_on() -> None:
    with click.Context(main):
        assert written("new", "onnx", lambda: 3) == 3


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Occupied("it holds something else"), "-o: it holds something else"),
        (MissingRequirement("onnx is not installed"), "onnx is not installed"),
        (PermissionError(13, "Permission denied", "new/a"), "-o: new/a cannot be written: Permission denied"),
        (OSError(28, "No space left on device"), "-o: new cannot be written: No space left on device"),
    ],
)
def test_a_folder_that_cannot_be_written_is_wrong_usage(problem: Exception, words: str) -> None:
    def work() -> None:
        raise problem

    with click.Context(main), pytest.raises(click.UsageError) as refused:
        written("new", "onnx", work)
    assert refused.value.message == words


def test_that_an_earlier_export_is_replaced_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Folder("old", "onnx") as old:
        old.finish([])
    with click.Context(main):
        written("old", "onnx", lambda: None)
    assert capsys.readouterr().out.startswith("old has an earlier one: its files are replaced")
    assert (folder / "old").is_dir()


@pytest.fixture
def two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a site of one case, which is all that is bundled, have two files."""
    write(str(tmp_path / "cases" / "sum.yaml"), GOOD)
    monkeypatch.setattr("dmlcheck.formats.find.data_folder", lambda name: str(tmp_path / name))

    def site_files(specs: list[OperatorSpec], cases: dict[str, list[Case]]) -> Iterator[File]:
        assert [spec.operator for spec in specs] == list(operator_names())
        assert {name: [case.id for case in own] for name, own in cases.items()} == {
            "DML_OPERATOR_REDUCE": ["cases/sum.yaml::sum"]
        }
        yield File("index.html", "<p>é</p>")
        yield File("style.css", "")

    monkeypatch.setattr(build, "site_files", site_files)


@pytest.mark.usefixtures("two_files")
def test_the_files_and_a_manifest_are_written(tmp_path: Path) -> None:
    done = dmlcheck("docs", "-o", str(tmp_path / "site"))
    assert done.exit_code == 0
    assert (tmp_path / "site/index.html").read_bytes() == "<p>é</p>".encode()
    assert json_of(tmp_path / "site/manifest.json")["files"] == [
        "index.html",
        "style.css",
        "manifest.json",
    ]
    assert done.output.startswith("1 page in ")


@pytest.mark.usefixtures("two_files")
def test_an_earlier_site_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    dmlcheck("docs", "-o", str(folder))
    (folder / "own.txt").write_text("kept")
    assert dmlcheck("docs", "-o", str(folder)).exit_code == 0
    assert (folder / "own.txt").read_text() == "kept"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.txt").write_text("a")
    done = dmlcheck("docs", "-o", str(tmp_path / "other"))
    assert done.exit_code == 2
    assert "is not empty" in done.output


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "jinja2":
            raise ModuleNotFoundError(name, name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    done = dmlcheck("docs", "-o", str(tmp_path / "site"))
    assert done.exit_code == 2
    assert 'docs needs jinja2: run python -m pip install "dmlcheck[docs]"' in done.output
    assert not (tmp_path / "site").exists()
