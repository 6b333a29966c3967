"""Whole models with operators of onnxruntime's own: what each node becomes, and the level that each desc needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from whole_models import (
    INT64,
    diffusion_blocks,
    fused_transformer,
    model,
    node,
    numbers,
    plain_diffusion_blocks,
    recurrent_model,
    save,
    tensor,
    weight,
)

from dmlcheck.models.legality import ModelResult, validated_model
from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.nodes import nodes_of
from dmlcheck.running.legality import LevelRequest

pytest.importorskip("onnx")

pytestmark = pytest.mark.usefixtures("folder")

ADD, MULTIPLY, GEMM = "ELEMENT_WISE_ADD 1_0", "ELEMENT_WISE_MULTIPLY 1_0", "GEMM 1_0"
SIGMOID, SPLIT, COPY = "ACTIVATION_SIGMOID 1_0", "SPLIT 1_0", "ELEMENT_WISE_IDENTITY 1_0"


def validated(made: Any, sizes: Mapping[str, int] | None = None) -> ModelResult:
    return validated_model(save(made), LevelRequest(), sizes or {})


def nodes(result: ModelResult) -> dict[str, list[str]]:
    """Return of each node its operators with their lowest levels, or the rule of its note."""
    found: dict[str, list[str]] = {}
    for desc in result.descs:
        said = desc.diagnostics[0].rule if desc.operator is None else f"{desc.operator[13:]} {desc.minimum}".strip()
        found.setdefault(str(desc.node), []).append(said.removeprefix("_"))
    return found


def test_embeddings_and_a_layer_of_bert_are_mapped() -> None:
    result = validated(fused_transformer(), {"batch": 2, "sequence": 12})
    normalize = ["ELEMENT_WISE_ADD 1_0"] * 2 + ["MEAN_VARIANCE_NORMALIZATION2 6_3"]
    assert nodes(result) == {
        "embed": [
            "FILL_VALUE_SEQUENCE 2_1",
            *["GATHER 3_0"] * 3,
            ADD,
            ADD,
            "MEAN_VARIANCE_NORMALIZATION1 4_0",
            "FILL_VALUE_CONSTANT 2_1",
            "ELEMENT_WISE_LOGICAL_EQUALS 2_1",
            "REDUCE 2_1",
        ],
        "attend": ["GEMM 4_0", COPY, "MULTIHEAD_ATTENTION 6_1"],
        "project": [GEMM],
        "norm1": normalize,
        "up": [GEMM],
        "gelu": ["ELEMENT_WISE_ADD1 5_1"],
        "down": [GEMM],
        "norm2": normalize,
    }
    assert (result.minimum, result.checked) == ("6_3", 8)


def test_the_blocks_of_stable_diffusion_are_mapped() -> None:
    assert nodes(validated(diffusion_blocks())) == {
        "norm": [COPY, "CAST 1_0", "CAST 1_0", "MEAN_VARIANCE_NORMALIZATION 1_0", SIGMOID, MULTIPLY],
        "convolve": ["CONVOLUTION 1_0"],
        "tokens": [COPY],
        "project": [GEMM],
        "pack": [COPY],
        "attend": ["MULTIHEAD_ATTENTION 6_1"],
        "skip": [ADD, ADD],
        "up": [GEMM],
        "gelu": [ADD, SPLIT, "ACTIVATION_GELU 5_1", MULTIPLY],
    }


def test_the_blocks_of_stable_diffusion_as_exporters_write_them_are_mapped() -> None:
    result = validated(plain_diffusion_blocks())
    made = nodes(result)
    assert made["norm"] == ["MEAN_VARIANCE_NORMALIZATION1 2_1"]
    assert (made["scale"], made["shift"]) == ([MULTIPLY], [ADD])
    assert (made["scores"], made["mix"]) == ([GEMM], [GEMM])
    assert made["weights"] == ["ACTIVATION_SOFTMAX1 5_1"]
    copies = [
        "groups",
        "back",
        "flat",
        *(f"{step}_{letter}" for step in ("split", "heads") for letter in "qkv"),
    ]
    assert all(made[name] == [COPY] for name in copies)
    assert made["last"] == ["ELEMENT_WISE_IDENTITY 3_0"]  # of three dimensions
    assert (result.minimum, result.checked) == ("5_1", 20)


def test_a_recurrent_model_is_mapped_with_lengths_and_states() -> None:
    result = validated(recurrent_model(), {"steps": 7, "batch": 3})
    assert nodes(result) == {
        "embed": ["GATHER 3_0"],
        "lstm": ["LSTM 1_0"],
        "order": [COPY],
        "merge": [COPY],
        "tags": [GEMM],
    }


def test_lengths_and_states_of_a_network_are_tensors_of_four_dimensions() -> None:
    """DmlOperatorRecurrentNeuralNetwork.cpp: seven steps, a batch of three, two directions of 16 elements."""
    (network,) = (
        one for one in nodes_of(read_whole(save(recurrent_model()), {"steps": 7, "batch": 3})) if one.name == "lstm"
    )
    (made,) = network.found
    shapes = {name: value.shape for name, value in made.fields.items() if hasattr(value, "shape")}
    assert shapes == {
        "InputTensor": (1, 7, 3, 24),
        "WeightTensor": (1, 2, 64, 24),
        "RecurrenceTensor": (1, 2, 64, 16),
        "BiasTensor": (1, 1, 2, 128),
        "SequenceLengthsTensor": (1, 1, 1, 3),
        "HiddenInitTensor": (1, 2, 3, 16),
        "CellMemInitTensor": (1, 2, 3, 16),
        "OutputSequenceTensor": (7, 2, 3, 16),
        "OutputSingleTensor": (1, 2, 3, 16),
        "OutputCellSingleTensor": (1, 2, 3, 16),
    }
    assert (made.fields["Direction"], network.operator) == ("BIDIRECTIONAL", "LSTM-14")


def test_the_tensors_of_a_sequence_are_followed() -> None:
    """A third one is put first, and the last one taken out."""
    made = model(
        [
            node("SequenceConstruct", "a b", "s0", "make"),
            node("SequenceInsert", "s0 c zero", "s1", "insert"),
            node("SequenceErase", "s1", "s", "erase"),
            node("ConcatFromSequence", "s", "y", "join", axis=1),
            node("Relu", "y", "z", "relu"),
        ],
        {"a": [2, 3], "b": [2, 4], "c": [2, 5]},
        {"z": [2, 8]},
        [numbers("zero", [0])],
    )
    found = {one.name: one.found for one in nodes_of(read_whole(save(made), {}))}
    (join,), (relu,) = found["join"], found["relu"]
    assert [part.shape for part in join.fields["InputTensors"]] == [(1, 1, 2, 5), (1, 1, 2, 3)]
    assert relu.fields["InputTensor"].shape == (1, 1, 2, 8)
    assert nodes(validated(made)) == {
        **{name: ["runs-elsewhere"] for name in ("make", "insert", "erase")},
        "join": ["JOIN 1_0"],
        "relu": ["ACTIVATION_RELU 1_0"],
    }


@pytest.mark.parametrize("place", ["unknown", "five"])
def test_a_place_in_a_sequence_that_is_not_known_or_not_there_leaves_sizes_open(place: str) -> None:
    made = model(
        [
            node("SequenceConstruct", "a b", "s0", "make"),
            node("SequenceErase", f"s0 {place}", "s", "erase"),
            node("ConcatFromSequence", "s", "y", "join", axis=1),
        ],
        {"a": [2, 3], "b": [2, 4]},
        {"y": [2, 3]},
        [numbers("five", [5])],
    )
    made.graph.input.append(tensor("unknown", [], INT64))
    assert nodes(validated(made))["join"] == ["unknown-sizes"]


def test_a_sequence_from_outside_leaves_sizes_open() -> None:
    from onnx import helper

    made = model([node("ConcatFromSequence", "s", "y", "join", axis=0)], {}, {"y": [4]})
    made.graph.input.append(helper.make_tensor_sequence_value_info("s", 1, None))
    assert nodes(validated(made)) == {"join": ["unknown-sizes"]}


def test_experimental_operators_are_known_up_to_opset_9() -> None:
    chain = [node("Affine", "x", "y", "affine", alpha=2.0), node("ScaledTanh", "y", "z", "tanh")]
    assert nodes(validated(model(chain, {"x": [4]}, {"z": [4]}, opset=9))) == {
        "affine": [COPY],
        "tanh": ["ACTIVATION_SCALED_TANH 1_0"],
    }
    assert nodes(validated(model(chain, {"x": [4]}, {"z": [4]}, opset=10)))["affine"] == ["no-provider"]


def test_a_decoder_with_groups_and_rotary_embeddings_is_mapped() -> None:
    own = {"domain": "com.microsoft"}
    made = model(
        [
            node("SimplifiedLayerNormalization", "x gamma", "n", "norm"),
            node("MatMulNBits", "n packed scales", "q0", "query", N=64, K=64, bits=4, block_size=32, **own),
            node("RotaryEmbedding", "q0 places cosines sines", "q", "turn", **own),
            node(
                "GroupQueryAttention",
                "q k k past past lengths total",
                "a pk pv",
                "attend",
                num_heads=4,
                kv_num_heads=2,
                **own,
            ),
            node("SkipSimplifiedLayerNormalization", "a x gamma", "y", "last", **own),
        ],
        {"x": [1, 1, 64], "k": [1, 1, 32], "past": [1, 2, 9, 16]},
        {"y": [1, 1, 64], "pk": [1, 2, 9, 16], "pv": [1, 2, 9, 16]},
        [
            weight("gamma", [64]),
            weight("packed", [64, 2, 16], 2),
            weight("scales", [128]),
            *(weight(name, [128, 8]) for name in ("cosines", "sines")),
        ],
    )
    for name, sizes, kind in (("places", [1, 1], INT64), ("lengths", [1], 6), ("total", [1], 6)):
        made.graph.input.append(tensor(name, sizes, kind))
    found = nodes(validated(made))
    assert found["norm"] == ["MEAN_VARIANCE_NORMALIZATION2 6_3"]
    assert found["query"] == ["DEQUANTIZE 6_3", "GEMM 4_0"]
    assert len(found["turn"]) == 10
    assert found["attend"] == ["MULTIHEAD_ATTENTION1 6_3"]
    assert found["last"] == [ADD, "MEAN_VARIANCE_NORMALIZATION2 6_3"]
