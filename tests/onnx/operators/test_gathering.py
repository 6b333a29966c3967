"""ONNX's operators that follow indices, sort, count or add up along an axis, as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import Array, computed, float32, node_of
from onnx_nodes import agrees, fields, found, zeros

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import provider_steps

X = zeros(2, 3)


def indices(*sizes: int) -> Any:
    return zeros(*sizes, dtype="int64")


def test_scattering_replaces_elements_and_combines_none() -> None:
    made = found("ScatterElements", [X, indices(2, 1), zeros(2, 1)], X, axis=1)
    assert (made.operator, fields(made)) == ("SCATTER", {"Axis": 1})
    made = found("ScatterND", [X, indices(1, 1), zeros(1, 3)], X)
    assert (made.operator, fields(made)) == ("SCATTER_ND", {"InputDimensionCount": 2, "IndicesDimensionCount": 2})
    with pytest.raises(
        Unmapped, match=r"^ScatterElements that combines updates with elements by add, which DirectML's does not$"
    ):
        provider_steps(node_of("ScatterElements", [X, indices(1, 3), zeros(1, 3)], float32(2, 3), reduction="add"))


def test_fewer_updates_than_scatter_takes_are_gathered_with_the_elements() -> None:
    updates = np.array([[10, 20]], np.float32)
    made = node_of("ScatterElements", [SIX, np.array([[-1, 0]]), updates], float32(2, 3))
    assert computed(made)[0].tolist() == [[1, 20, 3], [10, 5, 6]]
    with pytest.raises(Unmapped, match="ScatterElements of several updates for an element"):
        computed(node_of("ScatterElements", [SIX, np.array([[1, 1]]), updates], float32(2, 3), axis=1))


def test_one_hot_keeps_the_axis_of_the_output() -> None:
    made = found("OneHot", [indices(2), np.array(3), zeros(2)], zeros(2, 3))
    assert made.operator == "ONE_HOT"
    assert made.fields["IndicesTensor"].shape == (2, 1)
    assert made.fields["ValuesTensor"].shape == (1, 2)
    assert fields(made) == {"Axis": 1}
    whole, half = (np.array([1, number], np.float32) for number in (2, 2.5))
    assert found("OneHot", [whole, np.array(3), zeros(2)], zeros(2, 3)).fields["IndicesTensor"].dtype == np.int64
    assert found("OneHot", [half, np.array(3), zeros(2)], zeros(2, 3)).fields["IndicesTensor"].dtype == np.float32


def test_lengths_of_sequences_lie_along_the_batches() -> None:
    made = found("ReverseSequence", [X, np.array([1, 2, 2])], X, batch_axis=1, time_axis=0)
    assert made.operator == "REVERSE_SUBSEQUENCES"
    assert made.fields["SequenceLengthsTensor"].values.tolist() == [[1, 2, 2]]
    assert made.fields["SequenceLengthsTensor"].dtype == np.uint32
    assert fields(made) == {"Axis": 0}


def test_rows_of_coordinates_beyond_the_last_are_left_open() -> None:
    made = found("NonZero", [np.array([[0, 5], [7, 0]])], np.array([[0, 1], [1, 0]]))
    assert made.operator == "NONZERO_COORDINATES"
    assert made.fields["OutputCountTensor"].values.tolist() == [2]
    assert made.fields["OutputCoordinatesTensor"].values.tolist() == [[0, 1], [1, 0], [None, None], [None, None]]


SIX = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def integers(*values: Any) -> Any:
    return np.array(values, np.int64)


def test_features_are_columns() -> None:
    made = found("ai.onnx.ml.ArrayFeatureExtractor", [SIX, integers([2, 0])], SIX[:, [2, 0]])
    assert (made.operator, made.fields["Axis"]) == ("GATHER", 1)
    assert agrees(made)


@pytest.mark.parametrize(
    ("axis", "condition", "y"),
    [
        (0, [False, True], SIX[1:]),
        (-1, [True, False, True], SIX[:, ::2]),
        (None, [False, True, False, True], SIX.flat[[1, 3]]),
    ],
)
def test_what_is_true_is_gathered(axis: int | None, condition: list[bool], y: Any) -> None:
    more = {} if axis is None else {"axis": axis}
    made = found("Compress", [SIX, np.array(condition)], y, **more)
    assert made.operator == "GATHER"
    assert agrees(made)


def test_updates_follow_each_other_from_the_first_of_each_batch() -> None:
    cache, updates = np.zeros((2, 4, 1), np.float32), np.array([[[1], [2]], [[3], [4]]], np.float32)

    def rows(*values: Any) -> Any:
        return np.array(values, np.float32)[:, :, None]

    made = found("TensorScatter", [cache, updates, integers(1, 2)], rows([0, 1, 2, 0], [0, 0, 3, 4]))
    assert (made.operator, made.fields["Axis"]) == ("SCATTER", 1)
    assert agrees(made)
    assert agrees(found("TensorScatter", [cache, updates], rows([1, 2, 0, 0], [3, 4, 0, 0])))
    around = found("TensorScatter", [cache, updates, integers(3, 0)], rows([2, 0, 0, 1], [3, 4, 0, 0]), mode="circular")
    assert agrees(around)


# ---- reductions, each worked out by adding up in a loop


def _combine(x: Array, places: Any, updates: Any, reduction: str) -> Array:
    made = x.copy()
    for place, update in zip(places, updates, strict=True):
        old = made[place]
        made[place] = {"add": old + update, "mul": old * update, "max": max(old, update), "min": min(old, update)}[
            reduction
        ]
    return made


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_updates_of_the_same_element_are_combined(reduction: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, (4, 3)).astype(dtype)
    indices = np.array([[0, 3, -1], [0, 3, 1], [0, 1, -4]], np.int64)
    updates = rng.integers(-9, 9, (3, 3)).astype(dtype)
    places = [(indices[row, column], column) for row in range(3) for column in range(3)]
    expected = _combine(x, places, updates.reshape(-1), reduction)
    output = TensorRef.of(expected).unknown()
    (made,) = computed(node_of("ScatterElements", [x, indices, updates], output, axis=0, reduction=reduction))
    assert made.tolist() == expected.tolist()


def test_combined_updates_that_are_not_computed_say_why() -> None:
    x, updates = zeros(3), zeros(2)
    for indices, said in (([0, 5], "an index that is not in a dimension of 3"), ([0, -4], "an index that is not")):
        with pytest.raises(Unmapped, match=said):
            found("ScatterElements", [x, np.array(indices), updates], x, reduction="add")
    with pytest.raises(Unmapped, match="of reduction median"):
        found("ScatterND", [x, np.array([[0]]), zeros(1)], x, reduction="median")
    half = zeros(3, dtype="float16")
    with pytest.raises(Unmapped, match="of several FLOAT16 updates for an element"):
        found("ScatterElements", [half, np.array([0, 0]), half[:2]], half, reduction="add")
