"""Networks as exporters write them: without a fault every node is right, and a fault is found in its node alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from network_faults import FAULTY, Faulty, half_sums, large_epsilon, one_off, zero_tile
from networks import diffusion, generating, quantized, quantized_image, recurrent, residual, several_steps, transformer
from run_models import runtime
from whole_models import save

from dmlcheck.formats.find import Target
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.results import CaseResult

__all__ = ["runtime"]


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def _right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Faulty, "spoil", {})


MAKERS = (residual, transformer, generating, quantized, quantized_image, recurrent, diffusion, several_steps)
NETWORKS = {made.__name__: made for made in MAKERS}


class Planted(NamedTuple):
    network: str
    nodes: tuple[str, ...]
    fault: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.network}-{self.nodes[0]}-{self.fault.__name__}"


_EVERYWHERE = {
    "residual": "stem norm conv shortcut average classifier softmax",
    "transformer": "norm q/MatMul scores softmax context gelu/Erf gelu/Mul",
    "generating": "norm k/MatMul scores softmax context up gelu/Tanh",
    "quantized": "range integers scale quantize dequantize floats",
    "quantized_image": "quantize conv sum dequantize average product dequantize2",
    "recurrent": "lstm tags softmax",
    "diffusion": "groups conv norm q/MatMul scores softmax context skip packed",
    "several_steps": "norm weights gelu rotary largest",
}
_WITH_EPSILON = {
    "residual": "norm", "transformer": "norm", "generating": "norm", "diffusion": "groups norm skip",
    "several_steps": "norm",
}  # fmt: skip
_WITH_SUMS = {
    "residual": "stem conv shortcut classifier",
    "transformer": "norm q/MatMul scores softmax context",
    "generating": "norm k/MatMul scores softmax context up",
    "quantized": "floats",
    "recurrent": "tags softmax",
    "diffusion": "conv norm q/MatMul scores context",
}
_FAULTS = {one_off: _EVERYWHERE, zero_tile: _EVERYWHERE, large_epsilon: _WITH_EPSILON, half_sums: _WITH_SUMS}


def at_once(fault: Callable[..., Any], nodes: list[str]) -> list[list[str]]:
    """Return the nodes that have a fault at the same time: every second one, but for zeros, which hide what follows."""
    return [[node] for node in nodes] if fault is zero_tile else list(filter(None, (nodes[::2], nodes[1::2])))


PLANTED = [
    Planted(network, tuple(some), fault)
    for fault, networks in _FAULTS.items()
    for network, nodes in networks.items()
    for some in at_once(fault, nodes.split())
]


def results(made: Any) -> dict[str, CaseResult]:
    execution = ModelExecution(Target(save(made), "model.onnx"), Plan(FAULTY), ModelRequest())
    return {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}


def failed(found: dict[str, CaseResult]) -> list[str]:
    return [name for name, result in found.items() if result.outcome not in ("passed", "skipped")]


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_without_a_fault_every_node_is_judged_and_right(name: str) -> None:
    found = results(NETWORKS[name]())
    assert failed(found) == []
    assert [name for name, result in found.items() if result.outcome == "skipped"] == []


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_a_fault_is_found_in_its_nodes_and_in_no_other(planted: Planted) -> None:
    Faulty.spoil.update(dict.fromkeys(planted.nodes, planted.fault))
    found = results(NETWORKS[planted.network]())
    nodes = [each for each in failed(found) if not each.startswith("output:")]
    assert sorted(nodes) == sorted(planted.nodes)
    outputs = [result for name, result in found.items() if name.startswith("output:")]
    assert outputs
    assert all(is_explained(result) for result in outputs)


def is_explained(result: CaseResult) -> bool:
    """Whether an output fails, is skipped for a reason, or is no farther off than the tolerance that is carried to it.

    An output may pass: a softmax that was flat stays flat, a sum of many elements hides one of them, and the tolerance
    of all nodes is wider than that of one.
    """
    output = result.output
    if result.outcome != "passed":
        return result.outcome == "failed" or bool(result.reason)
    return output is not None and output.error <= output.tolerance < 1


@pytest.mark.slow
@pytest.mark.parametrize("node", ["conv", "norm", "scores", "softmax", "integers"])
def test_a_fault_in_a_node_of_each_kind_is_found(node: str) -> None:
    """The quick ones of those above, with no other."""
    planted = next(each for each in PLANTED if node in each.nodes)
    test_a_fault_is_found_in_its_nodes_and_in_no_other(planted._replace(nodes=(node,)))
