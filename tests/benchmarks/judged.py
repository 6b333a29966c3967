"""Models judged beside what they cost at least: `python tests/benchmarks/judged.py [NAME ...] [--beside FOLDER]`.

`dmlcheck run MODEL --implementation onnxruntime` is measured in turn with `dmlcheck eval` of the same model, and
`validate` of 2,000 nodes with importing what reads a model; with --beside also with the build in a folder. The best
times count, and the CPU time of all processes stands beside them, since other work on a machine hardly changes it.
Goals: 1.8 times `eval` where all nodes pass, 2.5 times with forty that fail, half the time of the build of 2026-11-29.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import models
import run
from onnx import TensorProto

HERE = Path(__file__).resolve().parents[2]
FAILING, SIDE, CHANNELS = 40, 40, 32
ON_CPU = ("--implementation", "onnxruntime")


class Spent(NamedTuple):
    """What a command took: seconds, CPU seconds, and the most memory of one of its processes in MiB."""

    seconds: float
    cpu: float
    memory: float


def gated(path: Path) -> None:
    """Forty convolutions, each times its own Sigmoid, which ONNX Runtime's CPU computes with few bits below -8."""
    made = models.Network()
    x = made.add("Mul", "x", models.random(1, scale=0) + 16)
    for _ in range(FAILING):
        weights = models.random(CHANNELS, CHANNELS, 3, 3, scale=(2 / (9 * CHANNELS)) ** 0.5)
        y = made.add("Conv", x, weights, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = made.add("Mul", y, made.add("Sigmoid", y))
    sizes = [1, CHANNELS, SIDE, SIDE]
    made.save(path, ("x", TensorProto.FLOAT, sizes), x, sizes)


def nodes(path: Path) -> None:
    """2,000 nodes of ten operators, the one after the other."""
    run.model(path.parent)
    (path.parent / "model.onnx").rename(path)


def spent(build: Path, folder: Path, *words: str) -> Spent:
    """Return what a command of a build takes in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(build)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, env=environment, cwd=folder) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: nodes that fail
        raise subprocess.CalledProcessError(process.returncode, words)
    return Spent(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def best(rounds: int, *jobs: Callable[[], Spent]) -> list[Spent]:
    """Return the least of each figure of some jobs, which run in turn."""
    found = [[job() for job in jobs] for _ in range(rounds)]
    return [Spent(*map(min, zip(*each, strict=True))) for each in zip(*found, strict=True)]


MODELS = {"resnet": models.resnet, "bert": models.bert, "gated": gated, "nodes": nodes}


def measure(name: str, path: Path, beside: Path | None, rounds: int) -> None:
    """Print what a model costs here, and as a multiple of what it is compared with."""
    MODELS[name](path)
    ours = ("-m", "dmlcheck", "validate", str(path))
    others: dict[str, tuple[Path, tuple[str, ...]]] = {"importing": (HERE, ("-c", "import numpy, onnx"))}
    if name != "nodes":
        ours = ("-m", "dmlcheck", "run", str(path), *ON_CPU)
        others = {"eval": (HERE, ("-m", "dmlcheck", "eval", str(path)))}
    if beside is not None:
        others["the other build"] = (beside, ours)
    jobs = [(HERE, ours), *others.values()]
    own, *found = best(
        rounds, *(lambda build=build, words=words: spent(build, path.parent, *words) for build, words in jobs)
    )
    print(f"{name}: {own.seconds:.2f} s, {own.cpu:.2f} s of CPU, {own.memory:.0f} MiB")  # noqa: T201 - a program
    for title, other in zip(others, found, strict=True):
        ratios = ", ".join(f"{mine / its:.2f}" for mine, its in zip(own, other, strict=True))
        print(f"  of {title}: {ratios} of the time, of the CPU time and of the memory")  # noqa: T201


def main() -> None:
    """Measure the models that are named, or all."""
    parser = argparse.ArgumentParser(description="what it costs to judge models")
    parser.add_argument("names", nargs="*", help=f"which models: {', '.join(MODELS)}")
    parser.add_argument("--beside", type=Path, help="the folder of another build")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    options = parser.parse_args()
    for name in options.names or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            measure(name, Path(folder) / f"{name}.onnx", options.beside, options.rounds)


if __name__ == "__main__":
    main()
