"""RotaryEmbedding: the descs that DmlOperatorRotaryEmbedding.cpp makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import float32, node_of
from onnx_nodes import Desc, descs, zeros

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import exact_steps

NAME = "com.microsoft.RotaryEmbedding"
X, POSITIONS = zeros(2, 5, 32), zeros(2, 5, dtype="int64")
ANGLES = zeros(9, 4)


def looked_up(table: str, indices: str, output: str) -> Desc:
    tensors = {"InputTensor": table, "IndicesTensor": indices, "OutputTensor": output}
    return Desc("GATHER", {**tensors, "Axis": 2, "IndexDimensions": 2}, "3_0")


def test_a_part_of_heads_that_come_first_is_cut_off_turned_and_joined() -> None:
    """Six of eight elements in pairs; one position for all, to which the step is added."""
    x, angles = zeros(2, 4, 5, 8), zeros(9, 3)
    made = descs(
        NAME, [x, zeros(1, dtype="int64"), angles, angles], x, num_heads=4, rotary_embedding_dim=6, interleaved=1
    )
    cut, copy, split, steps, added, *gathers, _, joined, cosines, _, signs, total, last = made
    whole, parts = "FLOAT32 2 4 5 8", ["FLOAT32 2 4 5 6", "FLOAT32 2 4 5 2"]
    plain, strided = "FLOAT32 2 5 4 6", "FLOAT32 2 5 4 6 by 120 6 30 1"
    data, single = "FLOAT32 2 5 4 3 2", "FLOAT32 2 5 4 3 1"
    assert cut == Desc("SPLIT", {"InputTensor": whole, "OutputTensors": parts, "Axis": 3}, "1_0")
    assert (copy.fields["InputTensor"], copy.fields["OutputTensor"]) == (strided, plain)
    assert split.fields == {"InputTensor": data, "OutputTensors": [single, single], "Axis": 4}
    sequence = {"OutputTensor": "INT64 1 1 1 5", "ValueDataType": "INT64", "ValueStart": 0, "ValueDelta": 1}
    assert steps == Desc("FILL_VALUE_SEQUENCE", sequence, "5_0")
    assert (added.operator, added.fields["OutputTensor"], added.level) == ("ELEMENT_WISE_ADD", "INT64 1 1 2 5", "4_1")
    assert added.fields["BTensor"] == "INT64 1 1 2 5 by 0 0 0 0"
    assert gathers == [looked_up("FLOAT32 1 1 9 3", "INT64 1 1 2 5", "FLOAT32 1 2 5 3")] * 2
    assert joined.fields == {"InputTensors": [single, single], "OutputTensor": data, "Axis": 4}
    assert (cosines.fields["BTensor"], signs.fields["BTensor"]) == (f"{data} by 15 3 0 1 0", f"{data} by 0 0 0 0 1")
    assert total.fields == {"ATensor": plain, "BTensor": plain, "OutputTensor": strided}
    assert last == Desc("JOIN", {"InputTensors": parts, "OutputTensor": whole, "Axis": 3}, "1_0")


@pytest.mark.parametrize(
    ("inputs", "attributes", "said"),
    [
        ([zeros(2, 32), POSITIONS, ANGLES, ANGLES], {}, "input has 2 dimensions"),
        ([X, POSITIONS, ANGLES, zeros(9, 3)], {}, "its cosines 2"),
        ([X, POSITIONS, ANGLES], {}, "has no input 3"),
        ([X, POSITIONS, ANGLES, ANGLES], {"num_heads": 5}, "32 elements in heads of 6"),
        ([X, POSITIONS, ANGLES, ANGLES], {"num_heads": 33}, "32 elements in heads of 0"),
        ([zeros(2, 10, 32), POSITIONS, ANGLES, ANGLES], {}, "of 10 steps, where cosines are for 9"),
        ([X, POSITIONS, ANGLES, ANGLES], {"interleaved": "yes"}, "is 'yes', not a whole number"),
    ],
)
def test_what_does_not_go_together_is_refused(inputs: list[Any], attributes: dict[str, Any], said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        descs(NAME, inputs, X, **attributes)


# ---- ONNX's own


def test_angles_of_steps_have_three_dimensions() -> None:
    x, angles = np.ones((2, 4, 5, 8), np.float32), np.ones((9, 4), np.float32)
    one = node_of("RotaryEmbedding", [x, angles, angles], float32(2, 4, 5, 8), opset=23)
    with pytest.raises(Unmapped, match=r"cosines have the sizes \[9, 4\]"):
        exact_steps(one)
