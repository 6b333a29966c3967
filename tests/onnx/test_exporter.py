"""Cases as ONNX's backend tests, run by ONNX's own runner."""

from __future__ import annotations

import io
import os
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from click.testing import Result
from commandline import dmlcheck, json_of

import dmlcheck as api
from dmlcheck.formats.dxdispatch import exporter as dxdispatch_exporter
from dmlcheck.onnx import exporter as onnx_exporter

onnx = pytest.importorskip("onnx")

from onnx import checker, numpy_helper  # noqa: E402
from onnx.backend.base import Backend, BackendRep  # noqa: E402
from onnx.backend.test import loader, runner  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

CASES = Path(__file__).parent.parent.parent / "cases"
SUM = """\
operator: REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [2, 1]}
  Axes: [1]
inputs: {InputTensor: [[1, 2, 3], [4, 5, 6]]}
outputs: {OutputTensor: [[6], [15]]}
"""

# What ONNX's evaluator gives otherwise: it adds up in the type of the elements, takes exp(x) before it adds, or returns
# INT64; and what must be right to the last bit here may come out of no plain sum.
NAIVE = (
    "average_float16_intermediate_overflow",
    "average_of_a_long_row_float16",
    "l2_float16_intermediate_range",
    "l2_intermediate_range",
    "l2_of_a_long_row_datatype_float16",
    "log_sum_exp_of_a_long_row",
    "log_sum_exp_special",
    "log_sum_near_1",
    "log_sum_of_a_long_row_datatype_float16",
    "log_sum_rounds_both_ways",
    "multiply_intermediate_range",
    "rounded_once",
    "small_beside_large",
    "sum_cancels",
    "sum_of_65536_tenths",
    "sum_square_beyond_float32",
    "sum_square_datatype_int32",
    "sum_square_datatype_uint32",
    "sum_square_wraps_int32",
)


class Evaluated(BackendRep):
    def __init__(self, model: Any) -> None:
        self.evaluator = ReferenceEvaluator(model)
        self.names = [value.name for value in model.graph.input]

    def run(self, inputs: Any, **_: Any) -> Any:
        with np.errstate(all="ignore"):
            return self.evaluator.run(None, dict(zip(self.names, inputs, strict=True)))


class ReferenceBackend(Backend):
    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **_: Any) -> Evaluated:  # noqa: ARG003
        checker.check_model(model, full_check=True)
        return Evaluated(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"


def run_by_onnx(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, set[str]]:
    """Run the tests of a folder with ONNX's own runner, and return the names of those that ran and that failed."""

    def load(kind: str) -> list[Any]:
        return loader.load_model_tests(str(folder.parent), folder.name) if kind == "simple" else []

    monkeypatch.setattr(runner, "load_model_tests", load)
    suite = runner.Runner(ReferenceBackend).test_suite
    planned = suite.countTestCases()  # not every version of Python has skipped ones in testsRun
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    assert result.errors == []
    failed = {test.id().rpartition(".")[2].removesuffix("_cpu") for test, _ in result.failures}
    return planned - len(result.skipped), failed


def export(tmp_path: Path, *paths: Path) -> tuple[Path, Result]:
    folder = tmp_path / "exported"
    result = dmlcheck("export", "--to", "onnx", *paths, "-o", folder)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return folder, result


def export_text(tmp_path: Path, text: str) -> tuple[Path, Result]:
    path = tmp_path / "case.yaml"
    path.write_text(text, encoding="utf-8")
    return export(tmp_path, path)


def only(folder: Path) -> Path:
    (found,) = [path for path in folder.iterdir() if path.is_dir()]
    return found


@pytest.mark.slow
def test_the_shipped_reductions_run_in_onnxs_own_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    families = [CASES / name for name in ("argmax", "argmin", "reduce", "activation_hardmax", "activation_hardmax1")]
    paths = [
        path
        for family in families
        for path in sorted(family.iterdir())
        if path.name not in ("large.yaml", "random.yaml")
    ]
    folder, result = export(tmp_path, *paths)
    assert result.exit_code == 0, result.output
    count = sum(path.is_dir() for path in folder.iterdir())
    ran, failed = run_by_onnx(folder, monkeypatch)
    assert ran == count > 700
    surprising = {name for name in failed if not any(known in name for known in NAIVE)}
    assert surprising == set()


def test_a_wrong_expected_output_fails_in_onnxs_own_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = export_text(tmp_path, SUM.replace("[[6], [15]]", "[[6], [15.1]]"))
    ran, failed = run_by_onnx(folder, monkeypatch)
    assert (ran, failed) == (1, {only(folder).name})


def test_every_output_has_its_file(tmp_path: Path) -> None:
    text = """\
operator: TOP_K1
source: by hand
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputValueTensor: {DataType: FLOAT32, Sizes: [2]}
  OutputIndexTensor: {DataType: UINT32, Sizes: [2]}
  Axis: 0
  K: 2
  AxisDirection: DECREASING
inputs: {InputTensor: [5, 7, 6]}
outputs: {OutputValueTensor: [7, 6], OutputIndexTensor: [1, 2]}
"""
    folder, result = export_text(tmp_path, text)
    assert result.exit_code == 0, result.output
    files = sorted(path.name for path in (only(folder) / "test_data_set_0").iterdir())
    assert files == ["input_0.pb", "output_0.pb", "output_1.pb"]


def test_outputs_that_a_case_does_not_give_are_the_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, result = export_text(tmp_path, SUM.replace("outputs: {OutputTensor: [[6], [15]]}\n", ""))
    assert result.exit_code == 0, result.output
    tensor = onnx.TensorProto.FromString((only(folder) / "test_data_set_0" / "output_0.pb").read_bytes())
    assert numpy_helper.to_array(tensor).tolist() == [[6], [15]]
    assert run_by_onnx(folder, monkeypatch) == (1, set())


@pytest.mark.parametrize(
    ("tolerance", "limits"),
    [
        ("exact", {"rtol": 0.0, "atol": 0.0}),
        ("{relative: 0.25}", {"rtol": 0.25, "atol": 0.0}),
        ("{absolute: 0.5}", {"rtol": 0.0, "atol": 0.5}),
        ("{ulp: 2}", None),
    ],
)
def test_a_tolerance_is_what_onnxs_runner_has_for_it(
    tmp_path: Path, tolerance: str, limits: dict[str, float] | None
) -> None:
    folder, _ = export_text(tmp_path, SUM + f"tolerance: {tolerance}\n")
    path = only(folder) / "data.json"
    assert (json_of(path) if path.exists() else None) == limits


def test_the_bound_of_a_sum_is_the_tolerance_where_onnxs_own_is_smaller(tmp_path: Path) -> None:
    text = SUM.replace("[[1, 2, 3], [4, 5, 6]]", "[[0x10000000, 1, -0x10000000], [4, 5, 6]]").replace("[[6]", "[[1]")
    folder, result = export_text(tmp_path, text)
    assert result.exit_code == 0, result.output
    limits = json_of(only(folder) / "data.json")
    # n * u * sum|terms|: three terms, 2^-24, 2^28 + 1 + 2^28; of which rtol has a thousandth of the result, which is 1.
    assert limits == {"rtol": 1e-3, "atol": pytest.approx(3 * 2**-24 * (2**29 + 1) - 1e-3)}


def test_what_onnx_cannot_say_is_left_out_with_the_reason(tmp_path: Path) -> None:
    folder, result = export_text(tmp_path, SUM.replace("Function: SUM", "Function: MAX").replace("FLOAT32", "UINT16"))
    assert result.exit_code == 5
    assert "1 case not exported: ONNX's ReduceMax has no UINT16 for data" in result.output
    manifest = json_of(folder / "manifest.json")
    assert [entry["reason"] for entry in manifest["left_out"]] == ["ONNX's ReduceMax has no UINT16 for data"]


def test_elements_that_the_documentation_leaves_open_are_not_exported(tmp_path: Path) -> None:
    text = SUM.replace("Function: SUM", "Function: MAX").replace("[[1,", "[[.nan,").replace("[[6]", "[[3]")
    _, result = export_text(tmp_path, text)
    assert result.exit_code == 5
    assert "elements of OutputTensor are undefined, which ONNX cannot express" in result.output


def test_wrong_outputs_are_shown_where_they_stand(tmp_path: Path) -> None:
    _, result = export_text(tmp_path, SUM.replace("[[6], [15]]", "[[6], [15], [1]]"))
    assert result.exit_code == 1
    assert "case.yaml:9:" in result.output
    assert "element-count" in result.output


def test_without_onnx_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    for arguments in (["export", "--to", "onnx", CASES / "argmax"], ["import", "onnx", tmp_path / "x.onnx"]):
        (tmp_path / "x.onnx").write_bytes(b"")
        result = dmlcheck(*arguments, "-o", tmp_path / "out")
        assert result.exit_code == 2
        assert "python -m pip install onnx" in result.output
        assert not os.path.exists(tmp_path / "out")


def test_an_export_that_is_cut_off_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(onnx_exporter, "tensor_proto", Mock(side_effect=[onnx.TensorProto(), KeyboardInterrupt]))
        folder, result = export_text(tmp_path, SUM)
        assert result.exit_code == 130
    assert any(folder.rglob("model.onnx"))
    assert export_text(tmp_path, SUM)[1].exit_code == 0


@pytest.mark.parametrize(("form", "module"), [("onnx", onnx_exporter), ("dxdispatch", dxdispatch_exporter)])
def test_a_case_that_this_machine_cannot_hold_ends_none_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, module: Any
) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(SUM + "cases: [{name: first}, {name: second}]\n", encoding="utf-8")
    ready = module.ready
    monkeypatch.setattr(module, "ready", Mock(side_effect=[MemoryError, *map(ready, api.load_cases(path)[1:])]))
    result = dmlcheck("export", "--to", form, path, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "error[tensor-too-large]: its tensors did not fit into memory" in result.output
    assert "1 case exported to 1 model" in result.output
    assert "1 case not exported: it does not fit into memory" in result.output


def test_a_case_with_any_in_its_outputs_is_not_exported(tmp_path: Path) -> None:
    text = SUM.replace("Function: SUM", "Function: MAX").replace("[[1,", "[[.nan,").replace("[[6]", "[[any]")
    _, result = export_text(tmp_path, text)
    assert result.exit_code == 5
    assert "elements of its outputs are `any`, which ONNX cannot say" in result.output
