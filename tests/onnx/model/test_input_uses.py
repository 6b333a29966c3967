"""What a model does with its inputs."""

from __future__ import annotations

from typing import Any

import pytest
from whole_models import INT64, model, node, tensor

from dmlcheck.onnx.model.input_uses import Use, uses_of

SIZES = {"table": (7, 4), "i": (3,)}


def use(*nodes: Any, name: str = "i") -> Use:
    made = model(list(nodes), {}, {})
    made.graph.input.append(tensor(name, [3], INT64))
    return uses_of(made, SIZES)[name]


@pytest.mark.parametrize(
    ("made", "most"),
    [
        (node("Gather", "table i", "y"), 7),
        (node("Gather", "table i", "y", axis=-1), 4),
        (node("GatherElements", "table i", "y", axis=1), 4),
        (node("ScatterElements", "table i table", "y"), 7),
        (node("GatherND", "table i", "y"), 4),
        (node("OneHot", "i d v", "y"), 1),
        (node("Gather", "unknown i", "y"), 1),
        (node("RotaryEmbedding", "x i table sin", "y", domain="com.microsoft"), 7),
        (node("RotaryEmbedding", "x table sin i", "y"), 7),
        (node("EmbedLayerNormalization", "i s table", "y", domain="com.microsoft"), 7),
        (node("EmbedLayerNormalization", "x s w table k g b m i", "y", domain="com.microsoft"), 7),
        (node("QEmbedLayerNormalization", "x i w p table", "y", domain="com.microsoft"), 7),
        (node("Gather", "i table", "y"), None),
        (node("Add", "i i", "y"), None),
    ],
)
def test_an_index_is_within_what_it_indexes(made: Any, most: int | None) -> None:
    assert use(made).most == most


def test_an_index_passes_through_what_keeps_it() -> None:
    assert use(node("Cast", "i", "a", to=6), node("Reshape", "a s", "b"), node("Gather", "table b", "y")).most == 7
    assert use(node("Neg", "i", "a"), node("Gather", "table a", "y")).most is None


@pytest.mark.parametrize("inputs", ["c i other", "c other i"])
def test_an_index_passes_through_a_choice(inputs: str) -> None:
    assert use(node("Where", inputs, "a"), node("Gather", "table a", "y")).most == 7


def test_the_smallest_limit_holds() -> None:
    assert use(node("Gather", "table i", "y"), node("Gather", "table i", "z", axis=1)).most == 4


def test_masks_are_known_by_name_and_by_use() -> None:
    assert use(node("Cast", "attention_mask", "y", to=1), name="attention_mask").is_mask
    assert use(node("MultiHeadAttention", "q k v b i", "y", domain="com.microsoft")).is_mask
    assert use(node("EmbedLayerNormalization", "x s w p k g b i", "y", domain="com.microsoft")).is_mask
    assert use(node("Where", "i table table", "y")).is_mask
    assert not use(node("Where", "table i table", "y")).is_mask


def test_lengths_of_attention_are_known() -> None:
    made = node("GroupQueryAttention", "q k v past pv i total", "y", domain="com.microsoft")
    assert use(made) == Use(length="last", past="past", new=("k", "q"))


def test_readers_inside_of_other_nodes_count() -> None:
    from onnx import helper

    branch = helper.make_graph([node("Gather", "table i", "t")], "t", [], [tensor("t", [3])])
    assert use(node("If", "c", "y", then_branch=branch, else_branch=branch)).most == 7
