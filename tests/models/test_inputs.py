"""The inputs of models: given ones that fit, and random ones that the model can take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_models import constant, random
from whole_models import INT64, model, node, numbers, tensor, weight

from dmlcheck.models import inputs as model_inputs
from dmlcheck.models.inputs import InnerSizes, ModelInputs, given_inputs

pytestmark = pytest.mark.usefixtures("folder")


def two_inputs() -> Any:
    return model([node("Add", "a b", "y")], {"a": ["n", 2], "b": ["n", 2]}, {"y": ["n", 2]})


def random_inputs(made: Any, sizes: dict[str, int], seed: int) -> ModelInputs:
    weights = {tensor.name: tensor for tensor in made.graph.initializer}
    return model_inputs.random_inputs(made, weights, sizes, seed)


def messages(given: ModelInputs) -> list[str]:
    return [finding.message for finding in given.findings]


ONES = np.ones((3, 2), np.float32)


def test_a_folder_has_a_file_for_each_input() -> None:
    np.save("a.npy", ONES)
    np.save("b.npy", ONES * 2)
    given = given_inputs(two_inputs(), ".")
    assert (given.arrays["b"].tolist(), given.findings) == ([[2, 2]] * 3, ())


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"a": ONES}, "the input 'b' of the model has no values under --inputs"),
        ({"a": ONES, "b": ONES, "c": ONES}, "--inputs has values for 'c', which is no input of the model"),
        ({"a": ONES, "b": ONES.astype(np.float64)}, "b is an array of float64, which FLOAT cannot hold"),
        ({"a": ONES, "b": ONES[:, :1]}, "b has an array {3, 1}; the model has {n, 2}"),
        ({"a": ONES, "b": ONES[:2]}, "b has the size 2 for n; a has 3"),
        ({"a": ONES, "b": ONES[0]}, "b has an array {2}; the model has {n, 2}"),
    ],
)
def test_what_does_not_fit_is_said(arrays: dict[str, Any], said: str) -> None:
    np.savez("in.npz", **arrays)
    assert said in messages(given_inputs(two_inputs(), "in.npz"))


def test_sizes_without_a_name_may_differ() -> None:
    made = model([node("Add", "x z", "y")], {"x": ["?", ""], "z": ["?", ""]}, {"y": [None, None]})
    np.savez("in.npz", x=ONES, z=ONES[:1, :1])
    assert messages(given_inputs(made, "in.npz")) == []


def test_pickled_objects_are_not_read() -> None:
    np.savez("in.npz", a=np.array([print], object), b=ONES)
    (finding,) = given_inputs(two_inputs(), "in.npz").findings
    assert finding.rule == "file-not-found"


def test_sizes_that_are_open_are_listed() -> None:
    assert messages(random_inputs(two_inputs(), {}, 0)) == ["the model's inputs have sizes without a number: n"]
    made = model([node("Relu", "x", "y")], {"x": [1, ""]}, {"y": [1, ""]})
    (finding,) = random_inputs(made, {}, 0).findings
    assert "--inputs" in str(finding.help)


def test_sums_of_sizes_are_worked_out_and_what_earlier_runs_left_is_nothing() -> None:
    made = model(
        [node("Concat", "past new", "y", axis=1)],
        {"past": [1, "past_length", 4], "new": [1, "n + 1", 4]},
        {"y": [1, "past_length + n + 1", 4]},
    )
    given = random_inputs(made, {"n": 2}, 0)
    assert (given.arrays["past"].shape, given.arrays["new"].shape) == ((1, 0, 4), (1, 3, 4))


def whole(nodes: list[Any], name: str, kind: int = INT64, sizes: tuple[int, ...] = (200,)) -> Any:
    made = model(nodes, {}, {"y": [1]}, [random("table", 7, 4)])
    made.graph.input.append(tensor(name, sizes, kind))
    return random_inputs(made, {}, 0).arrays[name]


def test_indices_are_within_what_they_index_through_what_keeps_them() -> None:
    nodes = [node("Cast", "i", "c", to=6), node("Unsqueeze", "c a", "u"), node("Gather", "table u", "y")]
    found = whole(nodes, "i")
    assert (found.dtype, found.min(), found.max()) == (np.int64, 0, 6)
    assert whole([node("Gather", "table i", "y", axis=1)], "i").max() == 3


def test_indices_are_within_what_a_node_makes() -> None:
    """The nodes of a graph network index what a layer made of them."""
    nodes = [node("MatMul", "x table", "made"), node("Gather", "edges zero", "from"), node("Gather", "made from", "y")]
    made = model(nodes, {"x": ["n", 7]}, {"y": [1]}, [random("table", 7, 4), numbers("zero", [0])])
    made.graph.input.append(tensor("edges", [2, 200], INT64))
    assert random_inputs(made, {"n": 5}, 0).arrays["edges"].max() == 4


@pytest.mark.parametrize(("number", "expected"), [(-np.inf, 0), (-1e9, 0), (-1.0, 1), (np.inf, 1)])
@pytest.mark.parametrize("is_node", [False, True])
def test_a_mask_whose_ones_hide_is_of_zeros(number: float, expected: int, *, is_node: bool) -> None:
    """As PyTorch's masked_fill writes it."""
    low = constant("low", number)
    nodes = [node("Constant", "", "low", value=low)] if is_node else []
    nodes += [node("Cast", "mask", "m", to=9), node("Where", "m low x", "y")]
    for kind in (9, 7):  # BOOL and INT64
        made = model(nodes, {"x": [2, 3]}, {"y": [2, 3]}, [] if is_node else [low])
        made.graph.input.append(tensor("mask", [2, 3], kind))
        assert (random_inputs(made, {}, 0).arrays["mask"] == expected).all()


def test_masks_let_all_through() -> None:
    assert (whole([node("Cast", "attention_mask", "y", to=1)], "attention_mask") == 1).all()
    assert whole([node("Where", "b table table", "y")], "b", 9, (7, 4)).all()


def test_small_types_have_their_whole_range() -> None:
    image = whole([node("Cast", "image", "y", to=1)], "image", 2, (4000,))
    assert (image.dtype, image.min(), image.max()) == (np.uint8, 0, 255)
    assert whole([node("Cast", "n", "y", to=1)], "n").max() < 100


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"q": (1, 4, 8), "k": (1, 4, 8), "v": (1, 4, 8)}, 4),
        ({"q": (1, 4, 8), "k": (1, 4, 8), "v": (1, 4, 8), "pk": (1, 2, 3, 4)}, 7),
        ({"embeds": (1, 5, 8)}, 5),  # from which a model computes the others
        ({}, 1),
    ],
)
def test_lengths_of_attention_count_the_tokens_that_are_inputs(
    sizes: dict[str, tuple[int, ...]], expected: int
) -> None:
    from whole_models import FLOAT

    attend = node(
        "GroupQueryAttention", "q k v pk pv last total", "y", domain="com.microsoft", num_heads=2, kv_num_heads=2
    )
    made = model([attend], {}, {"y": [1]})
    for name, shape in sizes.items():
        made.graph.input.append(tensor(name, shape, FLOAT))
    made.graph.input.append(tensor("last", (1, 1), 6))
    made.graph.input.append(tensor("total", (), 6))
    given = random_inputs(made, {}, 0).arrays
    assert (given["last"].tolist(), given["total"].tolist()) == ([[expected - 1]], expected)


@pytest.mark.parametrize(
    ("size", "sizes", "help"), [("n", {"n": 2**28}, "give smaller sizes with --dim NAME=SIZE"), (2**28, {}, None)]
)
def test_inputs_that_do_not_fit_into_memory_are_not_made(
    monkeypatch: pytest.MonkeyPatch, size: Any, sizes: dict[str, int], help: str | None
) -> None:
    """2**28 elements of FLOAT32, and the numbers of 64 bits that are drawn for them: 3 GiB."""
    monkeypatch.setattr(model_inputs, "available_bytes", lambda: 2**30)
    made = model([node("Add", "x z", "y")], {"x": [1, size], "z": [3]}, {"y": [None]})
    (finding,) = random_inputs(made, sizes, 0).findings
    assert (finding.rule, finding.help) == ("tensor-too-large", help)
    assert finding.message == (
        "the model's inputs, x {1, 268435456} the largest, take 3.0 GiB, and this machine has 1.0 GiB to spare"
    )


def test_inputs_that_are_no_tensors_have_no_random_values() -> None:
    from onnx import helper

    made = model([node("SequenceAt", "s i", "y")], {}, {"y": [1]})
    made.graph.input.append(helper.make_tensor_sequence_value_info("s", 1, [1]))
    (finding,) = random_inputs(made, {}, 0).findings
    assert "the input s is sequence_type" in finding.message


@pytest.mark.parametrize("data", [None, b"no archive", b"PK\x03\x04 and no more"])
def test_a_file_that_cannot_be_read_is_said(data: bytes | None) -> None:
    if data is not None:
        Path("in.npz").write_bytes(data)
    (finding,) = given_inputs(two_inputs(), "in.npz").findings
    assert (finding.rule, finding.params["path"]) == ("file-not-found", "in.npz")


GIVEN = {"x": (2, 3)}


def sizes(nodes: list[Any], **more: Any) -> InnerSizes:
    """Return the sizes of a model with an input of one size that has a name."""
    made = model(nodes, {"x": [2, "n"]}, {}, **more)
    return InnerSizes(made, {one.name: one for one in made.graph.initializer}, GIVEN)


def test_sizes_follow_from_those_that_are_given() -> None:
    found = sizes([node("MatMul", "x w", "a"), node("Transpose", "a", "b")], constants=[weight("w", [3, 5])])
    assert (found["b"], found["a"], found["x"]) == ((5, 2), (2, 5), (2, 3))
    assert found.get("c") is None


def test_sizes_follow_from_numbers_that_are_computed_and_from_constants() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Constant", "", "one", value=numbers("", [1])),
        node("Concat", "s one", "more", axis=0),
        node("Reshape", "x more", "y"),
    ]
    assert sizes(nodes)["y"] == (2, 3, 1)


def test_nodes_are_followed_once_and_only_for_a_size_that_is_not_given() -> None:
    found = sizes([node("Relu", "x", "y")])
    assert found["x"] == (2, 3)
    assert len(found) == 1
    assert found["y"] == (2, 3)
    assert sorted(found) == ["x", "y"]


def test_what_a_model_declares_counts_where_nothing_follows() -> None:
    nodes = [node("Own", "x", "y", domain="own"), node("MatMul", "x x", "wrong"), node("Relu", "wrong", "z")]
    made = sizes(nodes, infos=[tensor("y", [7], INT64), tensor("z", [4])])
    assert (made["y"], made.get("wrong"), made["z"]) == ((7,), None, (4,))
