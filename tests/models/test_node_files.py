"""The files of nodes that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck, json_of
from run_models import ROUNDED, RUNTIME, Runtime, perceptron, runtime
from whole_models import save

from dmlcheck.models.node_files import FailedGroup, NodeFiles

__all__ = ["runtime"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime: type[Runtime]) -> None:
    monkeypatch.chdir(tmp_path)
    runtime.factors["down"] = ROUNDED
    save(perceptron())


def run(*words: str, model: str = "model.onnx") -> Any:
    return dmlcheck("run", model, "--implementation", RUNTIME, "--timeout", "0", *words)


def test_a_failing_node_is_a_case_and_a_model() -> None:
    result = run("--dim", "batch=3", "-o", "out")
    assert result.exit_code == 1
    assert "  kept: out/down.yaml\n" in result.output.replace("\\", "/")
    assert {path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()} >= {
        "down.yaml",
        "down/model.onnx",
        "down/test_data_set_0/input_0.pb",
        "manifest.json",
    }


def test_a_node_that_fails_again_is_written_once() -> None:
    run("--dim", "batch=3", "-o", "out", "--keep", "kept", "--retries", "2")
    assert {path.name for path in Path("out").iterdir()} == {"down", "down.yaml", "manifest.json"}
    assert len(list(Path("kept").iterdir())) == 1


@pytest.mark.slow
def test_the_case_runs_and_the_right_implementation_passes_it() -> None:
    run("--dim", "batch=3", "-o", "out")
    assert dmlcheck("run", "out/down.yaml").exit_code == 0
    assert dmlcheck("run", "out/down.yaml", "--implementation", "onnxruntime").exit_code == 0
    text = Path("out/down.yaml").read_text(encoding="utf-8")
    assert "operator: DML_OPERATOR_GEMM" in text
    assert "down (MatMul-13) of model.onnx" in text


def test_the_model_of_one_node_fails_again(runtime: type[Runtime]) -> None:
    run("--dim", "batch=3", "-o", "out")
    again = run("--inputs", "out/down/test_data_set_0", model="out/down/model.onnx")
    assert again.exit_code == 1
    assert "out/down/model.onnx::down" in again.output.replace("\\", "/")
    runtime.factors.clear()
    assert run("--inputs", "out/down/test_data_set_0", model="out/down/model.onnx").exit_code == 0


def test_the_folder_of_an_earlier_run_is_replaced_and_no_other() -> None:
    run("--dim", "batch=3", "-o", "out")
    result = run("--dim", "batch=3", "-o", "out")
    assert (result.exit_code, "out has an earlier one" in result.output) == (1, True)
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine", encoding="utf-8")
    result = run("--dim", "batch=3", "-o", "mine")
    assert (result.exit_code, "mine is not empty" in result.output) == (2, True)


@pytest.mark.slow
def test_what_is_kept_of_a_failed_node_is_a_case_too() -> None:
    run("--dim", "batch=3", "--keep", "kept", "--json", "r.json")
    (folder,) = Path("kept").iterdir()
    assert np.load(folder / "actual" / "OutputTensor.npy").shape == (3, 8)
    assert dmlcheck("run", str(folder / "case.yaml"), "--implementation", "onnxruntime").exit_code == 0
    cases = json_of("r.json")["cases"]
    (kept,) = (case["kept"] for case in cases if "kept" in case)
    assert Path(kept) == folder


def test_a_group_that_reads_a_sequence_is_not_written_and_the_reason_is_said() -> None:
    from onnx import helper

    sequence = helper.make_tensor_sequence_value_info("s", 1, None)
    made = helper.make_model(helper.make_graph([], "nodes", [sequence], []))
    kept = NodeFiles("out", "model.onnx").write_group(FailedGroup("a..b", ("a", "b"), made, {"s": [np.zeros(1)]}))
    assert kept.startswith("nothing: ")
