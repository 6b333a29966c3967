"""What a model does with its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
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


def test_an_index_is_one_beside_others_too_and_a_part_of_sizes_is_not_all_of_them() -> None:
    assert use(node("Concat", "other i", "a", axis=1), node("ScatterND", "table a u", "y")).most == 4
    assert use(node("Concat", "other i", "a", axis=0), node("Reshape", "table a", "y")) == Use()


@pytest.mark.parametrize("inputs", ["c i other", "c other i"])
def test_an_index_passes_through_a_choice(inputs: str) -> None:
    assert use(node("Where", inputs, "a"), node("Gather", "table a", "y")).most == 7


def test_an_index_is_a_part_of_an_input() -> None:
    """Graph networks have the ends of their edges in one input of two rows."""
    assert use(node("Gather", "i row", "a"), node("Gather", "table a", "y")).most == 7


@pytest.mark.parametrize("inputs", ["i n", "n i"])
@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul"])
def test_an_index_may_be_moved(operator: str, inputs: str) -> None:
    assert use(node(operator, inputs, "a"), node("Gather", "table a", "y")).most == 7


def made_lengths(name: str, sizes: dict[str, tuple[int, ...]], shape: tuple[int, ...]) -> Any:
    """Return the numbers that are made for an input of some shape, of a model with others of some sizes."""
    made = model([], {}, {})
    made.graph.input.extend(tensor(each, size, INT64) for each, size in {**sizes, name: shape}.items())
    found = uses_of(made, {**sizes, name: shape})[name].related
    return None if found is None else list(found(shape))


@pytest.mark.parametrize(
    ("name", "sizes", "shape", "expected"),
    [
        ("x_lengths", {"scales": (3,), "x": (3, 8)}, (3,), [8, 7, 6]),
        ("input_len", {"x": (4, 80, 2)}, (4,), [2, 1, 1, 1]),
        ("len", {"x": (4, 6)}, (), [6]),
        ("len", {"x": (4, 6)}, (1,), [6]),
        ("len", {"x": (4, 6)}, (2,), None),  # of no batch that there is
        ("len", {"x": (4, 6)}, (4, 6), None),
        ("len", {"x": (4, 0)}, (4,), None),
        ("counts", {"x": (4, 6)}, (4,), None),
    ],
)
def test_lengths_of_sequences_are_told_by_their_names(
    name: str, sizes: dict[str, tuple[int, ...]], shape: tuple[int, ...], expected: list[int] | None
) -> None:
    assert made_lengths(name, sizes, shape) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((3, 2), [[6, 3], [6, 2], [6, 1]]),
        ((2, 1), [[6], [5]]),
        ((9, 1), [[6], [5], [4], [3], [2], [1], [0], [6], [5]]),
        ((2,), [6, 5]),  # from which the tuples are made
        ((1, 3), [[0, 0, 0]]),  # more indices than dimensions
        ((2, 0), [[], []]),
    ],
)
def test_updates_are_at_places_of_their_own(shape: tuple[int, ...], expected: list[Any]) -> None:
    made = use(node("Cast", "i", "a", to=7), node("ScatterND", "table a u", "y")).related
    assert made is not None
    assert np.array(made(shape)).tolist() == expected


def test_updates_along_an_axis_are_at_places_of_their_own() -> None:
    made = use(node("ScatterElements", "table i u", "y", axis=1)).related
    assert made is not None
    assert np.array(made((2, 3))).tolist() == [[3, 2, 1], [3, 2, 1]]
    assert np.array(made((3,))).tolist() == [0, 0, 0]  # of fewer dimensions, which is no model


def test_indices_of_updates_that_index_something_else_too_are_within_both() -> None:
    update = node("ScatterND", "table i u", "y")
    assert use(update, update).related is not None
    assert use(update, node("Gather", "table i", "z")) == Use(4)
    assert use(update, node("ScatterElements", "table i u", "z")) == Use(4)
    assert use(node("ScatterND", "unknown i u", "y")) == Use(1)


def test_lengths_of_attention_are_known() -> None:
    made = node("GroupQueryAttention", "q k v past pv i total", "y", domain="com.microsoft")
    assert use(made) == Use(length="last", past="past", new=("k", "q"))


def test_a_mask_that_is_counted_stays_a_mask() -> None:
    """OPT counts the tokens that are not hidden: its positions are indices, made of the mask."""
    nodes = (node("CumSum", "attention_mask zero", "c"), node("Mul", "c attention_mask", "p"))
    found = use(*nodes, node("Gather", "table p", "y"), name="attention_mask")
    assert (found.most, found.is_mask, found.is_part) == (None, True, True)


def test_an_index_is_padded() -> None:
    assert use(node("Pad", "i pads padding", "a"), node("Gather", "table a", "y")).most == 7


@pytest.mark.parametrize("branches", [["a", "i"], ["i", "a"]])
def test_an_index_passes_through_a_branch(branches: list[str]) -> None:
    """As PyTorch writes scatter_reduce."""
    graphs = [
        helper.make_graph([node("Identity", inner, name)], name, [], [tensor(name, [3], INT64)])
        for name, inner in zip(("then", "else"), branches, strict=True)
    ]
    chosen = node("If", "c", "chosen", then_branch=graphs[0], else_branch=graphs[1])
    assert use(chosen, node("Gather", "table chosen", "y")).most == 7


@pytest.mark.parametrize(("axis", "is_distinct"), [(1, True), (0, False)])
def test_places_of_updates_are_within_what_they_index_too(axis: int, *, is_distinct: bool) -> None:
    """A table of 7 rows and 4 columns is updated along its rows or columns, and read along its columns."""
    update, read = node("ScatterElements", "table i u", "y", axis=axis), node("GatherElements", "table i", "z", axis=1)
    found = use(update, read)
    assert (found.most, found.related is not None) == (4, is_distinct)


def test_numbers_that_are_a_part_of_an_index_are_told() -> None:
    """A place among all elements is made of those along two axes."""
    nodes = (node("Mul", "i columns", "a"), node("Add", "a j", "b"), node("Gather", "table b", "y"))
    assert use(*nodes).is_part
    assert not use(node("Gather", "table i", "y")).is_part
