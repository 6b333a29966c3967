"""ONNX's backend tests, written and imported, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from commandline import dmlcheck

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def write_test(folder: Path, model: Any, *data_sets: tuple[list[Any], list[Any]]) -> Path:
    """Write a model and its data sets as ONNX does, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for number, data in enumerate(data_sets):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        for kind, values in zip(("input", "output"), data, strict=True):
            for index, value in enumerate(values):
                tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value))
                (place / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())
    return folder


def model_of(
    type: str, inputs: list[Any], outputs: list[Any], *, opset: int = 17, constants: int = 0, **attributes: Any
) -> Any:
    """Return a model of one operator for some values; the last inputs are constants of the model."""
    names = [[f"{kind}{index}" for index in range(len(values))] for kind, values in (("x", inputs), ("y", outputs))]
    given = len(inputs) - constants

    def infos(names: list[str], values: list[Any]) -> list[Any]:
        kinds = [helper.np_dtype_to_tensor_dtype(value.dtype) for value in values]
        return [
            helper.make_tensor_value_info(name, kind, value.shape)
            for name, kind, value in zip(names, kinds, values, strict=False)
        ]

    node = helper.make_node(type, *names, **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        infos(names[0][:given], inputs[:given]),
        infos(names[1], outputs),
        [numpy_helper.from_array(value, name) for name, value in zip(names[0][given:], inputs[given:], strict=True)],
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in [node.domain] if name)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def imported(tmp_path: Path, type: str, inputs: list[Any], outputs: list[Any], **more: Any) -> tuple[Any, str]:
    """Import a test of one operator; return its case file as YAML reads it, or None, and what was printed."""
    constants = more.get("constants", 0)
    model = model_of(type, inputs, outputs, **more)
    folder = write_test(tmp_path / "test_one", model, (inputs[: len(inputs) - constants], outputs))
    result = dmlcheck("import", "onnx", folder, "-o", tmp_path / "imported")
    path = tmp_path / "imported" / "test_one.yaml"
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None), result.output


def floats(*values: Any) -> Any:
    return np.array(values, dtype=np.float32)


def arrays(case: Case) -> dict[str, Any]:
    """Return the values of a case's tensors, inputs and given outputs, by field."""
    prepared = prepare(case)
    assert prepared.findings == ()
    return {**prepared.inputs, **{name: array for name, (_, array) in prepared.expected.items()}}
