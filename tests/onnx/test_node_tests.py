"""ONNX's own tests of operators, as models: what the provider takes is mapped to legal descs, or has a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from whole_models import (
    attention_layer,
    diffusion_blocks,
    fused_transformer,
    mobile_block,
    plain_diffusion_blocks,
    quantized_block,
    residual_block,
    save,
)

from dmlcheck.descs.read import read_desc
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.model.file import read_whole
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode, nodes_of
from dmlcheck.onnx.provider.registrations import registrations
from dmlcheck.specs.names import LEVEL_ORDER
from dmlcheck.validation import minimum_level

onnx = pytest.importorskip("onnx")

NOT_MAPPED = {"Resize"}  # parts of some axes
# Operators of DirectML that need more than the level that the provider makes its device with, the level that the descs
# need, and why the provider makes them all the same: it comes with a DirectML.dll that has all levels.
NEWER_OPERATOR, NEWER_TYPES, NEWER_MODE = "the operator is newer", "the types are newer", "the mode is newer"
NEWER_ACTIVATION = "the activation that is fused to it is newer"
ABOVE = {
    "ACTIVATION_HARDMAX1": ("5_1", NEWER_OPERATOR),
    "ACTIVATION_LOG_SOFTMAX1": ("5_1", NEWER_OPERATOR),
    "ACTIVATION_SOFTMAX1": ("5_1", NEWER_OPERATOR),
    "AVERAGE_POOLING1": ("6_2", NEWER_OPERATOR),
    "DEQUANTIZE": ("6_3", NEWER_OPERATOR),
    "DIAGONAL_MATRIX": ("5_1", NEWER_TYPES),
    "DIAGONAL_MATRIX1": ("5_1", NEWER_OPERATOR),
    "ELEMENT_WISE_ADD": ("5_1", NEWER_TYPES),
    "ELEMENT_WISE_DIVIDE": ("6_0", NEWER_TYPES),
    "ELEMENT_WISE_MULTIPLY": ("5_1", NEWER_TYPES),
    "ELEMENT_WISE_SUBTRACT": ("5_1", NEWER_TYPES),
    "FOLD": ("6_4", NEWER_OPERATOR),
    "LP_POOLING1": ("6_2", NEWER_OPERATOR),
    "PADDING1": ("6_4", NEWER_MODE),
    "QUANTIZE": ("6_3", NEWER_OPERATOR),
    "RESAMPLE3": ("6_4", NEWER_OPERATOR),
}
# Those that only networks have, not ONNX's tests of operators.
ABOVE_IN_NETWORKS = {
    "ACTIVATION_GELU": ("5_1", NEWER_OPERATOR),
    "ELEMENT_WISE_ADD1": ("5_1", NEWER_ACTIVATION),
    "MEAN_VARIANCE_NORMALIZATION2": ("6_3", NEWER_OPERATOR),
    "MULTIHEAD_ATTENTION": ("6_1", NEWER_OPERATOR),
}
# Of version 21, whose scales may be FLOAT16, which the provider does not ask about and DirectML takes at no level.
NEVER = {"QUANTIZED_LINEAR_MATRIX_MULTIPLY"}
# Their numbers are inputs of sequences, or what a loop makes.
OPEN = {"Add", "Identity", "Slice"}


def unusable(nodes: list[ModelNode], rule: str) -> Iterator[str]:
    """Yield the operators of the nodes that have a note of a rule."""
    for node in nodes:
        if isinstance(node.found, UnusableNode) and node.found.rule == rule:
            yield node.operator.rpartition("-")[0]


@pytest.mark.slow
def test_no_node_is_called_wrong(nodes: list[ModelNode]) -> None:
    assert list(unusable(nodes, "onnx-syntax")) == []


@pytest.mark.slow
def test_what_the_provider_takes_is_mapped(nodes: list[ModelNode]) -> None:
    assert set(unusable(nodes, "not-mapped")) <= NOT_MAPPED
    assert set(unusable(nodes, "unknown-sizes")) <= OPEN
    mapped = Counter(node.operator.rpartition("-")[0] for node in nodes if not isinstance(node.found, UnusableNode))
    assert len(mapped) > 100
    assert sum(mapped.values()) > 600


def levels(nodes: Iterable[ModelNode]) -> dict[str, set[str | None]]:
    """Return the lowest levels of the descs of nodes, by operator of DirectML."""
    made = [each for node in nodes if not isinstance(node.found, UnusableNode) for each in node.found]
    found: dict[str, set[str | None]] = {}
    for each in made:
        found.setdefault(each.operator, set()).add(minimum_level(read_desc(each.operator, fields_of(each.fields))))
    return found


def above_the_device(found: dict[str, set[str | None]]) -> dict[str, str]:
    """Return the highest level of operators with descs that need more than the device of the provider has."""
    highest = {name: max((LEVEL_ORDER[level], level) for level in some if level) for name, some in found.items()}
    asked = LEVEL_ORDER[registrations().level]
    return {name: level for name, (order, level) in highest.items() if order > asked}


@pytest.mark.slow
def test_every_desc_is_legal_at_some_level(nodes: list[ModelNode]) -> None:
    assert {operator for operator, found in levels(nodes).items() if None in found} == NEVER


@pytest.mark.slow
def test_every_desc_is_legal_on_the_device_of_the_provider_or_has_a_reason(nodes: list[ModelNode]) -> None:
    assert above_the_device(levels(nodes)) == {operator: level for operator, (level, _) in ABOVE.items()}


def test_the_blocks_of_known_networks_have_no_other_reasons(tmp_path: Path) -> None:
    path = str(tmp_path / "model.onnx")
    blocks = [(residual_block(), {"batch": 4}), (mobile_block(), {}), (quantized_block(), {})]
    blocks += [(each, {"batch": 2, "sequence": 128}) for each in (attention_layer(), fused_transformer())]
    blocks += [(diffusion_blocks(), {}), (plain_diffusion_blocks(), {})]
    nodes = [node for made, sizes in blocks for node in nodes_of(read_whole(save(made, path), sizes))]
    above = above_the_device(levels(nodes))
    known = {operator: level for operator, (level, _) in {**ABOVE, **ABOVE_IN_NETWORKS}.items()}
    assert above.keys() >= ABOVE_IN_NETWORKS.keys()
    assert above.items() <= known.items()
