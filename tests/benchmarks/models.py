"""Judging whole models: `python tests/benchmarks/models.py` runs three networks on ONNX Runtime's CPU.

They are like YOLOv8n, ResNet-50 and BERT-base, with random weights. It prints the seconds of the run and of its parts,
what judging costs as a multiple of the reference's own computing, the memory above that of the weights, where the
system tells it, and the processor seconds of `dmlcheck run` as a multiple of those of `dmlcheck eval`. `run` of an
implementation whose Sigmoids are wrong has some forty failing nodes in the first network.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from dmlcheck.formats.find import Target
from dmlcheck.implementations.onnxruntime import OnnxRuntime
from dmlcheck.models import run as model_run
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.chain import Chain
from dmlcheck.reference import engine
from dmlcheck.running.events import Done, Plan

Array = Any
RANDOM = np.random.default_rng(0)


class Network:
    """Nodes and weights as they are added, each node with one output of its own name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}

    def add(self, type: str, *inputs: str | Array, **attributes: Any) -> str:
        name = f"{type}_{len(self.nodes)}"
        names = []
        for place, given in enumerate(inputs):
            if not isinstance(given, str):
                self.weights[f"{name}.{place}"] = given
            names.append(given if isinstance(given, str) else f"{name}.{place}")
        self.nodes.append(helper.make_node(type, names, [name], name=name, **attributes))
        return name

    def save(self, path: Path, inputs: tuple[str, int, list[int]], output: str, sizes: list[int]) -> None:
        values = helper.make_tensor_value_info(*inputs), helper.make_tensor_value_info(output, TensorProto.FLOAT, sizes)
        weights = [numpy_helper.from_array(array, name) for name, array in self.weights.items()]
        graph = helper.make_graph(self.nodes, "network", [values[0]], [values[1]], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def random(*sizes: int, scale: float = 0.02) -> Array:
    return (RANDOM.standard_normal(sizes) * scale).astype(np.float32)


def resnet(path: Path) -> None:
    """ResNet-50 at 224 x 224, its normalizations folded into the convolutions."""
    made = Network()

    def conv(x: str, inner: int, outer: int, size: int, step: int) -> str:
        weights = random(outer, inner, size, size, scale=(2 / (inner * size * size)) ** 0.5)
        window = {"kernel_shape": [size] * 2, "strides": [step] * 2, "pads": [size // 2] * 4}
        return made.add("Conv", x, weights, random(outer), **window)

    x = made.add("Relu", conv("x", 3, 64, 7, 2))
    x, count = made.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
    for width, blocks, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = 1 if block else first
            inner = made.add("Relu", conv(x, count, width, 1, 1))
            inner = made.add("Relu", conv(inner, width, width, 3, step))
            shortcut = x if block else conv(x, count, 4 * width, 1, step)
            x, count = made.add("Relu", made.add("Add", conv(inner, width, 4 * width, 1, 1), shortcut)), 4 * width
    x = made.add("Flatten", made.add("GlobalAveragePool", x))
    y = made.add("Gemm", x, random(1000, count), random(1000), transB=1)
    made.save(path, ("x", TensorProto.FLOAT, [1, 3, 224, 224]), y, [1, 1000])


def bert(path: Path, layers: int = 12, hidden: int = 768, heads: int = 12, length: int = 128) -> None:
    """BERT-base of 128 tokens, its Gelu by Erf."""
    made = Network()

    def linear(x: str, outer: int, inner: int = hidden) -> str:
        return made.add("Add", made.add("MatMul", x, random(inner, outer)), random(outer))

    def norm(x: str) -> str:
        return made.add("LayerNormalization", x, np.ones(hidden, np.float32), random(hidden), axis=-1)

    apart, beside = np.array([1, length, heads, hidden // heads]), np.array([1, length, hidden])
    root, sqrt2 = np.array((hidden // heads) ** 0.5, np.float32), np.array(2**0.5, np.float32)
    one, half = np.array(1, np.float32), np.array(0.5, np.float32)
    x = norm(made.add("Add", made.add("Gather", random(30522, hidden), "ids"), random(1, length, hidden)))
    for _ in range(layers):
        query, key, value = (
            made.add("Transpose", made.add("Reshape", linear(x, hidden), apart), perm=order)
            for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        weights = made.add("Softmax", made.add("Div", made.add("MatMul", query, key), root), axis=-1)
        context = made.add("Transpose", made.add("MatMul", weights, value), perm=[0, 2, 1, 3])
        x = norm(made.add("Add", linear(made.add("Reshape", context, beside), hidden), x))
        wide = linear(x, 4 * hidden)
        gates = made.add("Add", made.add("Erf", made.add("Div", wide, sqrt2)), one)
        wide = made.add("Mul", made.add("Mul", wide, gates), half)
        x = norm(made.add("Add", linear(wide, hidden, 4 * hidden), x))
    made.save(path, ("ids", TensorProto.INT64, [1, length]), x, [1, length, hidden])


def yolo(path: Path, size: int = 320) -> None:
    """Convolutions with SiLU at three sizes, upsampled and joined, as YOLOv8n has them."""
    made = Network()

    def conv(x: str, inner: int, outer: int, taps: int = 3, step: int = 1) -> str:
        weights = random(outer, inner, taps, taps, scale=(2 / (inner * taps * taps)) ** 0.5)
        x = made.add(
            "Conv", x, weights, random(outer), kernel_shape=[taps] * 2, strides=[step] * 2, pads=[taps // 2] * 4
        )
        return made.add("Mul", x, made.add("Sigmoid", x))

    def bottlenecks(x: str, inner: int, outer: int, count: int) -> str:
        half = outer // 2
        parts = [conv(x, inner, half, 1), conv(x, inner, half, 1)]
        for _ in range(count):
            parts.append(made.add("Add", conv(conv(parts[-1], half, half), half, half), parts[-1]))
        return conv(made.add("Concat", *parts, axis=1), half * len(parts), outer, 1)

    x, levels = conv(conv("x", 3, 16, step=2), 16, 32, step=2), []
    for inner, outer in ((32, 64), (64, 128), (128, 256)):
        x = conv(bottlenecks(x, inner, inner, 1), inner, outer, step=2)
        levels.append(x)
    for level, inner, outer in ((1, 256, 128), (0, 128, 64)):
        wide = made.add("Resize", x, "", np.array([1, 1, 2, 2], np.float32), mode="nearest")
        x = bottlenecks(made.add("Concat", wide, levels[level], axis=1), inner + outer, outer, 1)
    y = made.add("Conv", conv(conv(x, 64, 64), 64, 64), random(84, 64, 1, 1), random(84), kernel_shape=[1, 1])
    made.save(path, ("x", TensorProto.FLOAT, [1, 3, size, size]), y, [1, 84, size // 8, size // 8])


class WrongSigmoid(OnnxRuntime):
    """ONNX Runtime with Sigmoids that are a thousandth too large."""

    def run_model(self, model: bytes | str, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        """Return tensors of a model, whose Sigmoids are wrong if it is one node."""
        found = super().run_model(model, inputs, keep)
        is_sigmoid = isinstance(model, bytes) and onnx.load_from_string(model).graph.node[0].op_type == "Sigmoid"
        return {name: array * np.float32(1.001) for name, array in found.items()} if is_sigmoid else found


class Watch:
    """The seconds that calls of some functions take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.twice = 0.0  # what was computed once more, only to measure it

    def of(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

        return timed

    def alone(self, evaluate: Callable[..., Any]) -> Callable[..., Any]:
        """Return the engine's function, which computes once more without a watch: that is the reference alone."""

        def evaluated(*given: Any, watch: Any = None) -> Any:
            start = time.perf_counter()
            found = evaluate(*given)
            taken = time.perf_counter() - start
            self.seconds["reference"] = self.seconds.get("reference", 0.0) + taken
            if watch is None:
                return found
            self.twice += taken
            return evaluate(*given, watch=watch)

        return evaluated


def measure(path: Path) -> None:
    """Run a model, and print what its parts took."""
    watch, start = Watch(), time.perf_counter()
    plain = engine.evaluate, model_run.judge_node, Chain.add, OnnxRuntime.run_model
    engine.evaluate = watch.alone(engine.evaluate)
    model_run.judge_node = watch.of("judging", model_run.judge_node)
    Chain.add = watch.of("outputs", Chain.add)  # type: ignore[method-assign]
    OnnxRuntime.run_model = watch.of("implementation", OnnxRuntime.run_model)  # type: ignore[method-assign]
    execution = model_run.ModelExecution(Target(str(path), path.name), Plan("onnxruntime"), ModelRequest())
    outcomes = Counter(event.result.outcome for event in execution.events() if isinstance(event, Done))
    engine.evaluate, model_run.judge_node, Chain.add, OnnxRuntime.run_model = plain  # type: ignore[method-assign]
    seconds = time.perf_counter() - start - watch.twice
    watch.seconds["judging"] -= watch.twice
    parts = ", ".join(f"{name} {taken:.1f} s" for name, taken in watch.seconds.items())
    ratio = watch.seconds["judging"] / watch.seconds["reference"]
    memory = peak() - path.stat().st_size / 2**20
    sys.stdout.write(
        f"{path.stem}: {sum(outcomes.values())} cases, {outcomes['failed']} failed, {seconds:.1f} s: {parts}\n"
    )
    sys.stdout.write(f"  judging / reference {ratio:.1f}; memory above the weights {memory:.0f} MiB\n")


def peak() -> float:
    """Return the most memory that the process had, in MiB; NaN where the system does not tell.

    What getrusage tells has the memory of the parent in it, which made the models.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def compare(path: Path, implementation: str = "onnxruntime") -> None:
    """Print the processor seconds of `dmlcheck run` of a model as a multiple of those of `dmlcheck eval`."""
    seconds = []
    for words in (["eval", str(path)], ["run", str(path), "--implementation", implementation]):
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "dmlcheck", *words], env=ONE_THREAD, stdout=subprocess.DEVNULL, check=False
        )
        after = os.times()
        seconds.append(sum(after[2:4]) - sum(before[2:4]))
    sys.stdout.write(f"  run {seconds[1]:.1f} s / eval {seconds[0]:.1f} s = {seconds[1] / seconds[0]:.1f}")
    sys.stdout.write(f" ({implementation})\n")
    sys.stdout.flush()


# Threads of a product that wait for each other count as busy.
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
WRONG = "python:tests.benchmarks.models:WrongSigmoid"


def main() -> None:
    """Measure the model that is named, or each in a process of its own, which shows its own memory."""
    makers = {"yolo": yolo, "resnet": resnet, "bert": bert}
    if len(sys.argv) == 1:
        with tempfile.TemporaryDirectory() as folder:
            for name, make in makers.items():
                make(path := Path(folder) / f"{name}.onnx")
                subprocess.run([sys.executable, __file__, str(path)], check=True)
                for implementation in ("onnxruntime", *[WRONG] * (name == "yolo")):
                    compare(path, implementation)
    else:
        measure(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
