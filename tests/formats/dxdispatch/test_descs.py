"""Descs as DxDispatch reads them, and what it has no words for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dxdispatch_cases import FOLDED, TENSOR, desc_of

from dmlcheck.formats.dxdispatch import descs
from dmlcheck.formats.dxdispatch.descs import OUTPUTS, read_outputs


@pytest.mark.parametrize(
    ("number", "written"),
    [(0.1, 0.1), (0.10000000149011612, 0.10000000149011612), (2**-24, 2**-24), (16777217, 16777216), (3, 3)],
)
def test_a_number_that_a_float_holds_is_written_to_its_last_digit_and_another_as_short_as_can_be(
    number: float, written: float
) -> None:
    desc = desc_of("ACTIVATION_LINEAR", InputTensor=TENSOR, OutputTensor=TENSOR, Alpha=number, Beta=0)
    assert descs.desc_of(desc)["Alpha"] == written


def test_a_scalar_that_its_type_holds_is_written_to_its_last_digit() -> None:
    half = {**TENSOR, "DataType": "FLOAT16"}
    fields = {"InputTensor": half, "OutputTensor": half, "MinMaxDataType": "FLOAT16", "Min": 2**-24, "Max": 0.1}
    written = descs.desc_of(desc_of("ELEMENT_WISE_CLIP1", **fields))
    assert (written["Min"], written["Max"]) == (2**-24, 0.1)


HALVES = {"InputTensor": {"DataType": "INT4", "Sizes": [2]}, "OutputTensor": {"DataType": "INT4", "Sizes": [2]}}
WRAPPED = {"InputTensor": TENSOR, "OutputTensor": {**TENSOR, "Sizes": [1, 1, 2, 3]}, "PaddingMode": "WRAP"}
WRAPPED |= {"DimensionCount": 4, "StartPadding": [0, 0, 0, 1], "EndPadding": [0] * 4, "PaddingValue": 0}
WIDE = {"InputTensor": {**TENSOR, "Strides": [0, 0, 0, 2**25]}, "OutputTensor": TENSOR}
CANNOT: dict[str, tuple[str, dict[str, Any]]] = {
    "DxDispatch does not know DML_OPERATOR_FOLD": ("FOLD", FOLDED),
    "the strides of InputTensor spread 4 elements over 0.1 GiB, for which no buffer is made": (
        "ELEMENT_WISE_IDENTITY",
        WIDE,
    ),
    "DxDispatch has no buffers of INT4": ("ELEMENT_WISE_IDENTITY", HALVES),
    "DxDispatch does not know the PaddingMode WRAP": ("PADDING", WRAPPED),
    "DxDispatch binds the tensors of InputTensors all at once: all or none can be OWNED_BY_DML": (
        "JOIN",
        {
            "InputTensors": [TENSOR, {**TENSOR, "Flags": "OWNED_BY_DML"}],
            "OutputTensor": {**TENSOR, "Sizes": [1, 1, 4, 2]},
            "Axis": 2,
        },
    ),
}


@pytest.mark.parametrize("reason", CANNOT)
def test_what_dxdispatch_has_no_words_for_is_said(reason: str) -> None:
    operator, fields = CANNOT[reason]
    assert descs.unsupported(desc_of(operator, **fields)) == reason


# ---- the outputs that a model wrote: read with care, whoever wrote them


STRIDED = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor={**TENSOR, "Strides": [8, 8, 3, 1]})


def written(folder: Path, values: Any) -> Path:
    path = folder / OUTPUTS / "OutputTensor.npy"
    path.parent.mkdir()
    np.save(path, values)
    return path


def test_an_output_is_read_through_its_strides(tmp_path: Path) -> None:
    written(tmp_path, np.arange(5, dtype=np.float32))
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
