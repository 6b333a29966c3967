"""`import` on the command line: which files it takes, and what it says of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import GOOD, dmlcheck, many, write


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
