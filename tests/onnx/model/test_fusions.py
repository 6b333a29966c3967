"""What ONNX Runtime fuses by default: patterns, and what looks like them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from fused_patterns import (
    CASES,
    OWN,
    attention_block,
    gelu,
    layer_norm,
    whole,
)
from whole_models import model, node, save, tensor

from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.fusions import FusionPart, Parts
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode, nodes_and_fusions
from dmlcheck.onnx.model.values import CONSTANT, Value, of_numbers

onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.usefixtures("folder")
NAMES = {name for _, names in CASES.values() for name in names}


def fused(made: Any, sizes: Mapping[str, int] | None = None) -> list[ModelNode]:
    return [one for one in nodes_and_fusions(read_whole(save(made), sizes or {})) if one.replaced]


def names(made: Any) -> list[str]:
    return [one.operator.rpartition("-")[0] for one in fused(made)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_onnx_runtime_fuses_is_recognised(name: str) -> None:
    made, expected = CASES[name]
    assert names(made) == expected


@pytest.mark.parametrize("name", CASES)
def test_the_onnx_runtime_that_is_installed_makes_the_same(name: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    made, expected = CASES[name]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = "optimized.onnx"
    onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    nodes = onnx.load("optimized.onnx").graph.node
    found = Counter(f"{each.domain}.{each.op_type}" if each.domain else each.op_type for each in nodes)
    assert {operator: number for operator, number in found.items() if operator in NAMES} == Counter(expected)


@pytest.mark.parametrize("inputs", ["", "x"])
def test_a_normalization_without_inputs_is_no_crash(inputs: str) -> None:
    """Before opset 17 it is onnxruntime's own, and onnx does not look at it."""
    made = model([node("LayerNormalization", inputs, "y")], {"x": ["n", 8, 16]}, {}, opset=14)
    assert fused(made) == []


def test_values_that_a_branch_reads_are_kept() -> None:
    branch = onnx.helper.make_graph([node("Neg", "erf", "e2")], "branch", [], [tensor("e2", [2, 8, 16])])
    made = whole(gelu("x", "y"))
    assert names(made) == [f"{OWN}Gelu"]
    made.graph.node.append(node("If", "c", "w", then_branch=branch, else_branch=branch))
    made.graph.input.append(tensor("c", [], 9))
    assert names(made) == []


def test_fused_nodes_of_unknown_sizes_say_so() -> None:
    (one,) = fused(whole(layer_norm("x", "y"), sizes=["n", "s", 16]))
    assert isinstance(one.found, UnusableNode)
    assert one.found.rule == "unknown-sizes"
    (one,) = fused(whole(layer_norm("x", "y"), sizes=["n", "s", 16]), {"n": 2, "s": 3})
    assert not isinstance(one.found, UnusableNode)


def possible(made: Any) -> list[tuple[str, str]]:
    return [(one.operator, one.name) for one in nodes_and_fusions(read_whole(save(made), {})) if one.is_possible]


def block(*, normalized: bool = True) -> Any:
    made = whole(attention_block(normalized=normalized), opset=17)
    made.graph.input.extend([tensor("ids", [2, 8], 7), tensor("mask", [2, 1, 1, 8])])
    return made


def test_attention_asks_for_one_value_before_queries_keys_and_values() -> None:
    made = block()
    (key,) = (each for each in made.graph.node if each.output[0] == "k0")
    key.input[0] = "e"
    assert possible(made) == [(f"{OWN}EmbedLayerNormalization-1", "embedded")]


def test_embeddings_are_sums_of_rows_alone() -> None:
    made = block()
    (total,) = (each for each in made.graph.node if each.name == "sum")
    made.graph.node.remove(total)
    made.graph.node.insert(2, node("Add", "w other", "e"))
    made.graph.input.append(tensor("other", [2, 8, 16]))
    assert possible(made) == [(f"{OWN}Attention-1", "attend")]


pytest.importorskip("onnx")


def part(place: int, operator: str, inputs: str, output: str) -> FusionPart:
    return FusionPart(operator, tuple(inputs.split()), (output,), {}, (place,))


ROOT, ERF, SUM = part(0, "Div", "x r", "a"), part(1, "Erf", "a", "b"), part(2, "Add", "b one", "c")
VALUES = {
    "r": of_numbers(np.array([1.414], np.float16))._replace(origin=CONSTANT),
    "one": of_numbers(np.array(1.0, np.float32)),
    "wide": of_numbers(np.array([1.0, 1.0])),
    "text": Value(None),
}


def parts(*others: FusionPart, kept: frozenset[str] = frozenset()) -> Parts:
    return Parts([ROOT, ERF, SUM, *others], VALUES, kept)


def test_values_have_makers_and_constants_numbers() -> None:
    index = parts()
    assert index.maker("a", "Mul", "Div") is ROOT
    assert index.maker("a", "Mul") is None
    assert index.maker("x", "Div") is None
    assert list(index.made_inputs(SUM, "Erf")) == [(ERF, "one")]
    assert list(index.made_inputs(ERF, "Div")) == []  # of one input
    assert index.number("one") == 1
    assert (index.number("wide"), index.number("text"), index.number("x")) == (None, None, None)
    assert (index.sizes("wide"), index.sizes("x")) == ((2,), None)
    assert (index.is_constant("r"), index.is_constant("one"), index.is_constant("x")) == (True, False, False)


def test_a_constant_of_float16_is_near_enough() -> None:
    index = parts()
    assert index.other_input(ROOT, 2**0.5) == "x"
    assert index.other_input(ROOT, 1.5) is None
    assert index.other_input(SUM, 1) == "b"
    assert index.other_input(ERF, 1) is None


def test_parts_are_apart_if_nothing_else_reads_what_is_inside() -> None:
    found = (SUM, ERF, ROOT)
    assert parts().are_apart(found)
    assert parts(part(3, "Neg", "c", "d")).are_apart(found)  # what they make in the end
    assert not parts(part(3, "Neg", "b", "d")).are_apart(found)
    assert not parts(kept=frozenset("a")).are_apart(found)
