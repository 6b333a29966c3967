"""Cases of files and nodes of models on their way to something simpler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fuzzed
import numpy as np
import pytest
from asked_library import E_INVALIDARG, AskedLibrary

from dmlcheck.formats.registry import opened
from dmlcheck.fuzzing.reduce_case import NotReducible, Start, start_of
from dmlcheck.fuzzing.reducing import Failing
from dmlcheck.fuzzing.trials import BenchHere
from dmlcheck.running.settings import Settings

FILE = """\
operator: ELEMENT_WISE_ABS
cases:
  - name: small
    desc: {InputTensor: {DataType: FLOAT32, Sizes: [2]}, OutputTensor: {DataType: FLOAT32, Sizes: [2]}}
    inputs: {InputTensor: [1, 2]}
    outputs: {OutputTensor: [1, 3]}
  - name: large
    desc: {InputTensor: {DataType: FLOAT32, Sizes: [4]}, OutputTensor: {DataType: FLOAT32, Sizes: [4]}}
    inputs: {InputTensor: [1, -2, 3, -4]}
  - name: aligned
    desc:
      InputTensor: {DataType: FLOAT32, Sizes: [4], GuaranteedBaseOffsetAlignment: 3}
      OutputTensor: {DataType: FLOAT32, Sizes: [4]}
    invalid: [invalid-alignment]
"""


def start(path: Path, name: str | None, implementation: Any, **options: Any) -> Start:
    return start_of(opened(str(path)), name, BenchHere(implementation, Settings()), options)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_case_that_only_expects_something_else_is_not_reduced(file: Path) -> None:
    with pytest.raises(NotReducible, match="agrees with the reference engine"):
        start(file, "small", fuzzed.Right())
    with pytest.raises(NotReducible, match=r"small: .*; and 2 more that do not fail"):
        start(file, None, fuzzed.Right())


def test_a_desc_alone_is_reduced_where_a_library_refuses_it(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(FILE.partition("    inputs:")[0], encoding="utf-8")
    found = start(path, None, AskedLibrary(E_INVALIDARG, "1.15.4", "6_4"))
    assert isinstance(found.failing, Failing)
    assert (found.name, found.failing.is_of_desc) == ("small", True)
    with pytest.raises(NotReducible, match="nothing was compared"):
        start(path, None, fuzzed.Right())


def test_a_case_that_is_not_there_is_named_with_the_closest(file: Path) -> None:
    with pytest.raises(NotReducible, match=r"there is no case larg; did you mean .*large"):
        start(file, "larg", fuzzed.Right())


def test_a_node_of_a_model_is_taken_with_the_inputs_that_the_reference_has_for_it(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra `onnx` is not installed")
    helper = onnx.helper
    nodes = [helper.make_node("Neg", ["x"], ["y"], "first"), helper.make_node("Abs", ["y"], ["z"], "second")]
    values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in ("x", "z")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx")
    found = start(tmp_path / "m.onnx", "second", fuzzed.LosesLast(), seed=1)
    assert isinstance(found.failing, Failing)
    assert found.failing.desc.spec.short == "ELEMENT_WISE_ABS"
    first = start(tmp_path / "m.onnx", None, fuzzed.LosesLast(), seed=1)
    assert isinstance(first.failing, Failing)
    assert np.array_equal(-first.failing.inputs["InputTensor"], found.failing.inputs["InputTensor"])
    with pytest.raises(NotReducible, match="there is no node third"):
        start(tmp_path / "m.onnx", "third", fuzzed.LosesLast(), seed=1)
