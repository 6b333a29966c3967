"""The outputs that a model wrote: read with care, whoever wrote them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dxdispatch_cases import TENSOR, desc_of

from dmlcheck.formats.dxdispatch.descs import OUTPUTS, OutputFile, outputs_of, read_outputs

STRIDED = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor={**TENSOR, "Strides": [8, 8, 3, 1]})


def written(folder: Path, values: Any) -> Path:
    path = folder / OUTPUTS / "OutputTensor.npy"
    path.parent.mkdir()
    np.save(path, values)
    return path


def test_each_output_has_a_file() -> None:
    split = desc_of("SPLIT", InputTensor=TENSOR, OutputTensors=[{**TENSOR, "Sizes": [1, 1, 1, 2]}] * 2, Axis=2)
    assert outputs_of(split) == [
        OutputFile("OutputTensors[0]", "outputs/OutputTensors.0.npy", "FLOAT32", (1, 1, 1, 2)),
        OutputFile("OutputTensors[1]", "outputs/OutputTensors.1.npy", "FLOAT32", (1, 1, 1, 2)),
    ]


def test_an_output_is_read_through_its_strides(tmp_path: Path) -> None:
    written(tmp_path, np.arange(5, dtype=np.float32))
    assert read_outputs(STRIDED, str(tmp_path))["OutputTensor"].tolist() == [[[[0, 1], [3, 4]]]]


def test_bytes_may_be_in_another_order(tmp_path: Path) -> None:
    written(tmp_path, np.arange(5, dtype=">f4"))
    assert read_outputs(STRIDED, str(tmp_path))["OutputTensor"].tolist() == [[[[0, 1], [3, 4]]]]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.arange(4, dtype=np.float32), "wrote outputs/OutputTensor.npy as float32 [4], and FLOAT32 [5] is expected"),
        (np.arange(5), "wrote outputs/OutputTensor.npy as int64 [5], and FLOAT32 [5] is expected"),
        (np.array(["x"] * 5, dtype=object), "which cannot be used: it contains Python objects"),
    ],
)
def test_another_type_or_size_is_told(tmp_path: Path, values: Any, problem: str) -> None:
    written(tmp_path, values)
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_outputs(STRIDED, str(tmp_path))


def test_a_file_that_is_not_there_or_cut_short_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"wrote no OutputTensor: outputs/OutputTensor\.npy: no such file"):
        read_outputs(STRIDED, str(tmp_path))
    path = written(tmp_path, np.arange(5, dtype=np.float32))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="which cannot be used: it is cut short"):
        read_outputs(STRIDED, str(tmp_path))
