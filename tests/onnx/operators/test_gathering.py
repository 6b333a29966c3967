"""ONNX's operators that follow indices, sort, count or add up along an axis, as DirectML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import agrees, fields, found, zeros
from whole_models import node

from dmlcheck.models.node_verdict import NodeVerdict, judge_node
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import provider_steps
from dmlcheck.running.verdict import Limits

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


def test_rows_of_coordinates_beyond_the_last_are_left_open() -> None:
    made = found("NonZero", [np.array([[0, 5], [7, 0]])], np.array([[0, 1], [1, 0]]))
    assert made.operator == "NONZERO_COORDINATES"
    assert made.fields["OutputCountTensor"].values.tolist() == [2]
    assert made.fields["OutputCoordinatesTensor"].values.tolist() == [[0, 1], [1, 0], [None, None], [None, None]]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ([[0, 1, 1], [1, 0, 1]], None),
        ([[0, 1, 1], [0, 0, 1]], "has [0, 0] in column 0; it must be [0, 1]"),
        ([[1, 0, 1], [0, 1, 1]], "has [1, 0] in column 0; it must be [0, 1]"),
        ([[0, 1], [1, 0]], "is {2, 2}; it must be {2, 3}: 3 elements are not 0"),
        ([[], []], "is {2, 0}; it must be {2, 3}: 3 elements are not 0"),
    ],
)
@pytest.mark.parametrize(
    "x", [np.array([[-0.0, np.nan], [1e-45, 2]], np.float32), np.array([[False, True], [True, True]])]
)
def test_coordinates_are_judged(x: Any, columns: list[list[int]], problem: str | None) -> None:
    found = judge_node(
        node("NonZero", "x", "y"), 13, [x], [np.array(columns, np.int64)], is_directml=False, limits=Limits()
    )
    assert isinstance(found, NodeVerdict)
    assert [each.params["problem"] for each in found.verdict.findings] == [problem] * (problem is not None)


def test_no_coordinates_of_zeros_are_right() -> None:
    none = np.zeros((2, 0), np.int64)
    found = judge_node(node("NonZero", "x", "y"), 13, [zeros(2, 2)], [none], is_directml=False, limits=Limits())
    assert isinstance(found, NodeVerdict)
    assert found.verdict.findings == ()


SIX = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def integers(*values: Any) -> Any:
    return np.array(values, np.int64)


def test_features_are_columns() -> None:
    made = found("ai.onnx.ml.ArrayFeatureExtractor", [SIX, integers([2, 0])], SIX[:, [2, 0]])
    assert (made.operator, made.fields["Axis"]) == ("GATHER", 1)
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
