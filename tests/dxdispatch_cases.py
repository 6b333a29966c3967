"""Cases to export as DxDispatch models, and what the tests of that share."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commandline import dmlcheck, json_of

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.dxdispatch.form import MODEL

HERE = Path(__file__).parent
# Results by hand. Each case is there for a part of a model that it would come out wrong without.
CASES = """\
cases:
  - name: strides
    operator: REDUCE
    desc:
      Function: SUM
      InputTensor: {DataType: INT32, Sizes: [2, 3], Strides: [4, 1]}
      OutputTensor: {DataType: INT32, Sizes: [2, 1], Strides: [3, 1]}
      Axes: [1]
    inputs: {InputTensor: [[1, 2, 3], [4, 5, 6]]}
    outputs: {OutputTensor: [[6], [15]]}
  - name: bytes-behind-the-elements
    operator: REDUCE
    desc:
      Function: MAX
      InputTensor: {DataType: UINT8, Sizes: [3, 2]}
      OutputTensor: {DataType: UINT8, Sizes: [3, 1], TotalTensorSizeInBytes: 6}
      Axes: [1]
    inputs: {InputTensor: [[1, 2], [4, 3], [255, 0]]}
    outputs: {OutputTensor: [[2], [4], [255]]}
  - name: array-of-tensors
    operator: SPLIT
    desc:
      InputTensor: {DataType: FLOAT16, Sizes: [3, 2]}
      OutputTensors: [{DataType: FLOAT16, Sizes: [1, 2]}, {DataType: FLOAT16, Sizes: [2, 2]}]
      Axis: 0
    inputs: {InputTensor: [[1, -2], [3, inf], [5, 0.5]]}
    outputs: {OutputTensors: [[[1, -2]], [[3, inf], [5, 0.5]]]}
  - name: owned-by-dml-and-fused
    operator: ELEMENT_WISE_ADD1
    desc:
      ATensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2], Flags: OWNED_BY_DML}
      BTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
      OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 2]}
      FusedActivation: {Type: ACTIVATION_LEAKY_RELU, Alpha: 0.5}
    inputs: {ATensor: [[[[-3, 3]]]], BTensor: [[[[1, 1]]]]}
    outputs: {OutputTensor: [[[[-1, 4]]]]}
  - name: scalar-inf
    matrix: {T: [FLOAT16, FLOAT32, FLOAT64]}
    operator: FILL_VALUE_CONSTANT
    desc: {OutputTensor: {DataType: "${T}", Sizes: [3]}, ValueDataType: "${T}", Value: -inf}
    outputs: {OutputTensor: [-inf, -inf, -inf]}
  - name: scalar-of-64-bits
    operator: FILL_VALUE_CONSTANT
    desc: {OutputTensor: {DataType: UINT64, Sizes: [1]}, ValueDataType: UINT64, Value: 18446744073709551614}
    outputs: {OutputTensor: [18446744073709551614]}
  - name: not-valid-on-purpose
    operator: ARGMAX
    feature_level: "3_0"
    desc:
      InputTensor: {DataType: INT64, Sizes: [3, 3]}
      OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
      Axes: [0]
      AxisDirection: INCREASING
    invalid: [unsupported-data-type]
"""
COUNT = 8  # of models


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run every test in a folder with one case file, and see that no temporary file is left."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(CASES, encoding="utf-8")
    yield tmp_path
    assert list((tmp_path / "temporary").iterdir()) == []


def export(*words: str, to: str = "out") -> Result:
    return dmlcheck("export", "--to", "dxdispatch", *words, "-o", to)


def desc_of(operator: str, **fields: Any) -> OperatorDesc:
    reading = read_desc(operator, fields)
    assert reading.desc is not None
    assert not reading.findings
    return reading.desc


TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}


def model_of(folder: str) -> Any:
    return json_of(Path(folder, MODEL))


def model_named(name: str, to: str = "out") -> Any:
    """Return the model that stands for a case."""
    manifest = json_of(Path(to, "manifest.json"))
    (entry,) = [entry for entry in manifest["entries"] if f"a.yaml::{name}" in entry["cases"]]
    return model_of(f"{to}/{entry['folder']}")


def npy_bytes(path: Path) -> bytes:
    """Return what follows the header of a .npy file."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<H", data, 8)
    return data[10 + length :]


FOLDED = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 6, 4]}, "DimensionCount": 1, "WindowSizes": [2]}
FOLDED |= {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 5]}, "Strides": [1], "Dilations": [1]}
FOLDED |= {"StartPadding": [0], "EndPadding": [0]}
