"""Descs and tensors as records: counts, extents, bytes, labels and nested operators."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc

TENSOR = {"DataType": "FLOAT32", "Sizes": [2, 3]}
SPLIT = {"InputTensor": TENSOR, "OutputTensors": [TENSOR, TENSOR], "Axis": 0}


def desc_of(operator: str, raw: dict[str, Any]) -> OperatorDesc:
    desc = read_desc(operator, raw).desc
    assert desc is not None
    return desc


@pytest.mark.parametrize(
    ("data_type", "sizes", "strides", "extent", "implied"),
    [
        ("FLOAT32", (2, 3), None, 6, 24),
        ("FLOAT16", (3,), None, 3, 8),
        ("FLOAT32", (2, 3), (4, 1), 7, 28),
        ("FLOAT32", (2, 3), (0, 1), 3, 12),
        ("UINT4", (3,), None, 3, 4),
        ("UINT4", (9,), None, 9, 8),
    ],
)
def test_a_tensor_reaches_from_its_first_element_to_its_last(
    data_type: str, sizes: tuple[int, ...], strides: tuple[int, ...] | None, extent: int, implied: int
) -> None:
    tensor = TensorDesc(data_type, sizes, strides)
    assert (tensor.extent, tensor.implied_bytes) == (extent, implied)


def test_the_parts_of_an_array_of_tensors_have_labels_and_paths() -> None:
    desc = desc_of("SPLIT", SPLIT)
    assert [(part.label, part.path) for part in desc.tensors("output_tensor")] == [
        ("OutputTensors[0]", ("OutputTensors", 0)),
        ("OutputTensors[1]", ("OutputTensors", 1)),
    ]
    assert [part.label for part in desc.tensors()] == ["InputTensor", "OutputTensors[0]", "OutputTensors[1]"]


def test_a_single_tensor_goes_by_its_field() -> None:
    desc = desc_of("SPLIT", SPLIT)
    assert desc.tensor("InputTensor") == TensorDesc("FLOAT32", (2, 3))
    assert (desc.tensor("OutputTensors"), desc.tensor("NoTensor")) == (None, None)


def test_a_desc_can_be_asked_like_a_mapping() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
    tensors = dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), tensor)
    desc = desc_of("GEMM", {**tensors, "TransA": "TRANSPOSE", "TransB": "NONE", "Alpha": 0, "Beta": 1, "CTensor": None})
    assert (desc["TransA"], desc["TransB"], desc["Alpha"]) == ("TRANSPOSE", "NONE", 0)
    assert desc["ATensor"].sizes == (1, 1, 2, 2)
    assert ("Alpha" in desc, "CTensor" in desc, "Gamma" in desc) == (True, False, False)
    assert (desc.get("Beta"), desc.get("CTensor"), desc.get("CTensor", 3)) == (1, None, 3)
    assert desc_of("SPLIT", SPLIT)["OutputTensors"][1].data_type == "FLOAT32"
    with pytest.raises(KeyError, match="CTensor is left out"):
        desc["CTensor"]
    with pytest.raises(KeyError, match="GEMM has no field Gamma; it has ATensor, BTensor, "):
        desc["Gamma"]


def test_a_desc_stays_a_tuple() -> None:
    desc = desc_of("SPLIT", SPLIT)
    spec, values, *_ = desc
    assert (desc[0], desc[1]) == (spec, values)
    assert spec in desc
    assert desc._replace(steps=("Desc",)).steps == ("Desc",)
