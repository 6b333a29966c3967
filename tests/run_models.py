"""Models to run, and implementations that run them right but for a planted fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
from whole_models import model, node

from dmlcheck.implementations.protocol import Implementation

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
ort = pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")

ROUNDED = 1 + 2.0**-9  # what BFLOAT16 does to a result


def constant(name: str, values: Any, dtype: Any = np.float32) -> Any:
    return onnx.numpy_helper.from_array(np.asarray(values, dtype), name)


def random(name: str, *sizes: int, scale: float = 1.0, dtype: Any = np.float32) -> Any:
    seed = sum(map(ord, name)) + sum(sizes)
    return constant(name, np.random.default_rng(seed).standard_normal(sizes) * scale, dtype)


def perceptron() -> Any:
    """Return two layers: a product, a sum, a rectifier, a product and a softmax; `batch` is open."""
    return model(
        [
            node("MatMul", "x w1", "m1", "up"),
            node("Add", "m1 b1", "a1", "bias"),
            node("Relu", "a1", "r1", "relu"),
            node("MatMul", "r1 w2", "m2", "down"),
            node("Softmax", "m2", "y", "softmax"),
        ],
        {"x": ["batch", 16]},
        {"y": ["batch", 8]},
        [random("w1", 16, 32), random("b1", 32), random("w2", 32, 8)],
    )


def one_input(nodes: list[Any], sizes: list[Any], constants: list[Any] = [], **more: Any) -> Any:  # noqa: B006
    """Return a model of x to y."""
    return model(nodes, {"x": sizes}, {"y": sizes}, constants, **more)


class Runtime(Implementation):
    """ONNX Runtime's CPU, with what a test plants, by the names of nodes.

    `factors` are those of the first output of a node, `off_by_one` nodes one whole number of which is 1 too large, and
    `raising` nodes that raise.
    """

    name = "runtime"
    factors: ClassVar[dict[str, float]] = {}
    off_by_one: ClassVar[set[str]] = set()
    raising: ClassVar[set[str]] = set()
    calls: ClassVar[list[list[str]]] = []

    def unsupported(self, _: Any) -> None:
        return None

    def run(self, _: Any, __: Any) -> Any:
        raise AssertionError("it runs no descs")

    def run_model(self, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        type(self).calls.append(keep)
        made = onnx.load_from_string(data)
        if any(each.name in self.raising for each in made.graph.node):
            raise RuntimeError("the node ends in tears")
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        given = dict(zip(keep, session.run(keep, dict(inputs)), strict=True))
        for each in made.graph.node:
            if each.name in self.factors and each.output[0] in given:
                array = given[each.output[0]]
                is_whole = array.dtype.kind in "iu" and each.name in self.off_by_one
                given[each.output[0]] = (
                    _off_by_one(array) if is_whole else (array * self.factors[each.name]).astype(array.dtype)
                )
        return given


def _off_by_one(array: Any) -> Any:
    made = array.copy()
    made.reshape(-1)[made.size // 2] += 1
    return made


RUNTIME = "python:run_models:Runtime"


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> type[Runtime]:
    """Return the implementation without a fault; what a test plants is gone after it."""
    for field, empty in {"factors": {}, "off_by_one": set(), "raising": set(), "calls": []}.items():
        monkeypatch.setattr(Runtime, field, empty)
    return Runtime


def plant(
    monkeypatch: pytest.MonkeyPatch,
    *names: str,
    between: tuple[str, ...] = (),
    factor: float = 2.0,
    dtype: Any = np.float32,
) -> None:
    """Make the output of the last of some nodes wrong where all of them are in one model, and tensors are not kept."""
    right = Runtime.run_model

    def run_model(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        made = onnx.load_from_string(data)
        there = {each.name: each for each in made.graph.node}
        if not set(names) <= there.keys() or set(between) & set(keep):
            return right(self, data, inputs, keep)
        last = there[names[-1]]
        name = last.output[0]
        last.output[0] = f"{name}.right"
        made.graph.initializer.append(constant("the.fault", factor, dtype))
        at = list(made.graph.node).index(last) + 1
        made.graph.node.insert(at, node("Mul", f"{name}.right the.fault", name, "the.fault"))
        return right(self, made.SerializeToString(), inputs, keep)

    monkeypatch.setattr(Runtime, "run_model", run_model)
