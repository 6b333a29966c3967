"""`dmlcheck reduce`, as it is called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commandline import dmlcheck

FILE = """\
operator: ELEMENT_WISE_ABS
desc: {InputTensor: {DataType: FLOAT32, Sizes: [2, 5]}, OutputTensor: {DataType: FLOAT32, Sizes: [2, 5]}}
inputs: {InputTensor: {random: {seed: 1, low: -1, high: 1}}}
"""


@pytest.fixture(autouse=True)
def _file() -> None:
    Path("a.yaml").write_text(FILE, encoding="utf-8")


def reduce(*words: str, name: str = "LosesLast") -> tuple[int, str]:
    result = dmlcheck("reduce", *words, "--implementation", f"python:fuzzed:{name}", "-o", "small.yaml")
    return result.exit_code, result.output


def test_a_bundled_case_is_reduced_by_its_id() -> None:
    code, output = reduce("cases/element_wise_abs/layouts.yaml::padded-rows[DataType=FLOAT32]")
    assert (code, "small.yaml: dmlcheck run small.yaml" in output) == (0, True)


def test_only_an_earlier_finding_is_written_over() -> None:
    assert [reduce("a.yaml")[0] for _ in range(2)] == [0, 0]
    Path("small.yaml").write_text(FILE, encoding="utf-8")
    code, output = reduce("a.yaml")
    assert (code, "-o small.yaml is there, and is no earlier finding; remove it" in output) == (2, True)
    assert Path("small.yaml").read_text(encoding="utf-8") == FILE


def test_a_file_that_is_wrong_is_2() -> None:
    Path("a.yaml").write_text("operator: [", encoding="utf-8")
    assert reduce("a.yaml")[0] == 2
    assert reduce("b.yaml")[0] == 2
    code, output = reduce("b.yaml", "--dim", "n=1")
    assert (code, "--dim" in output) == (2, True)


def test_the_time_that_is_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.fuzzing.reducing.Reducer.is_late", property(lambda _: True))
    code, output = reduce("a.yaml")
    assert (code, "the time was up" in output) == (0, True)


def test_an_interrupt_is_not_said_to_be_the_end_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dmlcheck.fuzzing.reducing.Reducer.work", interrupted)
    code, output = reduce("a.yaml")
    assert (code, "; interrupted: more may go\n" in output, "the time was up" in output) == (130, True, False)
    assert Path("small.yaml").exists()


def test_a_node_of_a_model_is_reduced_from_the_inputs_that_are_given() -> None:
    pytest.importorskip("onnx", reason="the extra `onnx` is not installed")
    import onnx
    from whole_models import model, node

    onnx.save(model([node("Abs", "x", "y", "abs")], {"x": [5]}, {"y": [5]}, []), "abs.onnx")
    for name, last in {"passes": 0, "fails": -3}.items():
        np.savez(f"{name}.npz", x=np.array([1, 2, 3, 4, last], np.float32))
    code, output = reduce("abs.onnx::abs", "--inputs", "passes.npz")
    assert (code, "abs: the implementation passes" in output) == (5, True)
    code, output = reduce("abs.onnx::abs", "--input-precision", "tf32", "--inputs", "fails.npz")
    assert (code, "from 10 to 6 elements" in output) == (0, True)
    assert output.endswith("--input-precision tf32\n")


def test_inputs_without_a_model_are_wrong_usage() -> None:
    code, output = reduce("a.yaml", "--inputs", "tf3")
    assert (code, "--inputs tf3: inputs are for an ONNX model" in output) == (2, True)
