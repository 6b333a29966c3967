"""Networks as exporters write them: without a fault every node is right, and a fault is found in its node alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_models import RUNTIME, Runtime, constant, random, runtime
from whole_models import model, node, save

from dmlcheck.cases.find import Target
from dmlcheck.running.events import Done, Plan
from dmlcheck.running.model_cases import Asked
from dmlcheck.running.model_run import ModelExecution
from dmlcheck.running.results import CaseResult

__all__ = ["runtime"]
OWN = "com.microsoft"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def residual() -> Any:
    """Return a block of a ResNet: convolutions, a shortcut, pooling and a classifier."""
    one, three = {"kernel_shape": [1, 1]}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        node("Conv", "x w1 b1", "c1", "stem", strides=[2, 2], **three),
        node("BatchNormalization", "c1 g h m v", "n1", "norm"),
        node("Relu", "n1", "r1", "relu"),
        node("MaxPool", "r1", "p1", "pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "p1 w2", "c2", "conv", **three),
        node("Conv", "p1 w3", "c3", "shortcut", **one),
        node("Add", "c2 c3", "a", "add"),
        node("GlobalAveragePool", "a", "gap", "average"),
        node("Flatten", "gap", "f", "flatten"),
        node("Gemm", "f w4 b4", "z", "classifier", transB=1),
        node("Softmax", "z", "y", "softmax", axis=-1),
    ]
    weights = [random("w1", 8, 3, 3, 3), random("b1", 8), random("w2", 16, 8, 3, 3), random("w3", 16, 8, 1, 1)]
    weights += [random("g", 8), random("h", 8), random("m", 8), constant("v", np.linspace(0.5, 2, 8))]
    weights += [random("w4", 10, 16), random("b4", 10)]
    return model(nodes, {"x": [1, 3, 32, 32]}, {"y": [1, 10]}, weights)


def transformer() -> Any:
    """Return a layer of a transformer: LayerNormalization, attention of two heads, Gelu by Erf."""
    nodes = [
        node("LayerNormalization", "x g h", "n", "norm"),
        *(node("MatMul", f"n {part}w", f"{part}0", f"{part}/MatMul") for part in "qkv"),
        *(node("Reshape", f"{part}0 heads", f"{part}1", f"{part}/Reshape") for part in "qkv"),
        *(
            node("Transpose", f"{part}1", part, f"{part}/Transpose", perm=order)
            for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
        ),
        node("MatMul", "q k", "s0", "scores"),
        node("Div", "s0 root", "s1", "scale"),
        node("Softmax", "s1", "s", "softmax"),
        node("MatMul", "s v", "o0", "context"),
        node("Transpose", "o0", "o1", "o/Transpose", perm=[0, 2, 1, 3]),
        node("Reshape", "o1 flat", "o", "o/Reshape"),
        node("Add", "o x", "r", "residual"),
        node("Div", "r sqrt2", "e0", "gelu/Div"),
        node("Erf", "e0", "e1", "gelu/Erf"),
        node("Add", "e1 one", "e2", "gelu/Add"),
        node("Mul", "r e2", "y", "gelu/Mul"),
    ]
    weights = [random(f"{part}w", 32, 32) for part in "qkv"] + [random("g", 32), random("h", 32)]
    weights += [constant("heads", [1, 8, 2, 16], np.int64), constant("flat", [1, 8, 32], np.int64)]
    weights += [constant("root", 4.0), constant("sqrt2", 2**0.5), constant("one", 1.0)]
    return model(nodes, {"x": [1, 8, 32]}, {"y": [1, 8, 32]}, weights)


def quantized() -> Any:
    """Return a network of quantized products: with scales of the inputs' own range, and with fixed ones."""
    nodes = [
        node("DynamicQuantizeLinear", "x", "q s z", "range"),
        node("MatMulInteger", "q w z", "i", "integers"),
        node("Cast", "i", "c", "cast", to=1),
        node("Mul", "c s", "f", "scale"),
        node("QuantizeLinear", "f s2 z2", "q2", "quantize"),
        node("DequantizeLinear", "q2 s2 z2", "d", "dequantize"),
        node("MatMul", "d v", "y", "floats"),
    ]
    weights = [constant("w", np.random.default_rng(1).integers(-20, 20, (16, 24)), np.int8), random("v", 24, 4)]
    weights += [constant("s2", 0.75), constant("z2", 120, np.uint8)]
    return model(nodes, {"x": [3, 16]}, {"y": [3, 4]}, weights)


def several_steps() -> Any:
    """Return nodes that become several operators of DirectML: fused normalizations and activations, packed weights."""
    nodes = [
        node("SkipLayerNormalization", "x skip g h", "n", "norm", domain=OWN, epsilon=1e-5),
        node("MatMulNBits", "n w s", "m", "weights", domain=OWN, K=64, N=32, bits=4, block_size=32),
        node("FastGelu", "m b", "f", "gelu", domain=OWN),
        node("RotaryEmbedding", "f p cos sin", "r", "rotary", domain=OWN, num_heads=2),
        node("Max", "r r f f", "y", "largest"),
    ]
    rng = np.random.default_rng(2)
    weights = [random("skip", 1, 4, 64), random("g", 64), random("h", 64), random("b", 32)]
    weights += [constant("w", rng.integers(0, 256, (32, 2, 16)), np.uint8), constant("s", rng.uniform(0.01, 0.1, 64))]
    weights += [random("cos", 8, 8), random("sin", 8, 8), constant("p", [[0, 1, 2, 3]], np.int64)]
    return model(nodes, {"x": [1, 4, 64]}, {"y": [1, 4, 32]}, weights)


NETWORKS = {made.__name__: made for made in (residual, transformer, quantized, several_steps)}
PLANTED = {
    "residual": ["stem", "norm", "conv", "shortcut", "average", "classifier", "softmax"],
    "transformer": ["norm", "q/MatMul", "scores", "softmax", "context", "gelu/Erf", "gelu/Mul"],
    "quantized": ["range", "integers", "scale", "quantize", "dequantize", "floats"],
    "several_steps": ["norm", "weights", "gelu", "rotary", "largest"],
}


def results(made: Any) -> dict[str, CaseResult]:
    execution = ModelExecution(Target(save(made), "model.onnx"), Plan(RUNTIME), Asked())
    return {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}


def failed(found: dict[str, CaseResult]) -> list[str]:
    return [name for name, result in found.items() if result.outcome not in ("passed", "skipped")]


@pytest.mark.parametrize("name", NETWORKS)
def test_without_a_fault_every_node_is_judged_and_right(name: str, runtime: type[Runtime]) -> None:
    found = results(NETWORKS[name]())
    assert runtime.calls
    assert failed(found) == []
    assert [name for name, result in found.items() if result.outcome == "skipped"] == []


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, some in PLANTED.items() for wrong in some])
def test_a_fault_is_found_in_its_node_and_in_no_other(name: str, wrong: str, runtime: type[Runtime]) -> None:
    """Floats are off by 2^-9 of themselves, one whole number by 1."""
    runtime.factors[wrong] = 1 + 2.0**-9
    runtime.off_by_one.add(wrong)
    nodes = [each for each in failed(results(NETWORKS[name]())) if not each.startswith("output:")]
    assert nodes == [wrong]
