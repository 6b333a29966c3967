"""Measures what dmlcheck costs, each time as a ratio to the least that the same job could cost on the same machine.

    python tests/benchmarks/run.py [start-up | run | sum] [--rounds N]

Both sides of a ratio are measured in turn, and the best time of each counts, so that what else the machine does matters
little. Goals are those of the project: start-up 2.0, a run 1.5, a sum 3.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FILES, CASES_A_FILE = 40, 100
SUM_ELEMENTS = 2**26

DESC = """\
operator: DML_OPERATOR_ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [0]
  AxisDirection: INCREASING
"""
CASE = """\
  - name: sum-{number}
    desc:
      Function: SUM
      InputTensor: {{DataType: FLOAT32, Sizes: [3, 3]}}
      OutputTensor: {{DataType: FLOAT32, Sizes: [1, 3]}}
      Axes: [0]
    inputs: {{InputTensor: [[1, 2, 3], [3, 0, 4], [2, 4, {number}]]}}
    outputs: {{OutputTensor: [[6, 6, {total}]]}}
"""
LOAD_ALL = """\
import glob, sys, yaml
for path in sorted(glob.glob(sys.argv[1] + "/*.yaml")):
    with open(path, "rb") as file:
        yaml.load(file, yaml.CSafeLoader)
"""

Job = Callable[[], object]


def start_up(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck validate one.yaml`, and importing the two libraries that every call needs."""
    path = folder / "one.yaml"
    path.write_text(DESC, encoding="utf-8")
    return command(dmlcheck(), "validate", str(path)), command(sys.executable, "-c", "import click, yaml")


def run(folder: Path) -> tuple[Job, Job]:
    """Return `dmlcheck run` of 4,000 small cases in 40 files, and loading the same files with yaml.CSafeLoader."""
    head = "operator: DML_OPERATOR_REDUCE\nsource: by hand\ncases:\n"
    body = "".join(CASE.format(number=number, total=7 + number) for number in range(CASES_A_FILE))
    for number in range(FILES):
        (folder / f"{number:02}.yaml").write_text(head + body, encoding="utf-8")
    return command(dmlcheck(), "run", str(folder)), command(sys.executable, "-c", LOAD_ALL, str(folder))


def sum_(_: Path) -> tuple[Job, Job]:
    """Return SUM over 2^26 FLOAT32, and numpy's sum of the same in float64."""
    import numpy as np

    import dmlcheck as library

    values = np.random.default_rng(7).standard_normal(SUM_ELEMENTS, dtype=np.float32)
    desc = {
        "Function": "SUM",
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [SUM_ELEMENTS]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1]},
        "Axes": [0],
    }
    return lambda: library.evaluate("REDUCE", desc, {"InputTensor": values}), lambda: values.sum(dtype=np.float64)


BENCHMARKS = {"start-up": (start_up, 2.0, 15), "run": (run, 1.5, 7), "sum": (sum_, 3.0, 5)}


def dmlcheck() -> str:
    """Return the path of the console script that belongs to this interpreter."""
    script = Path(sysconfig.get_path("scripts")) / ("dmlcheck.exe" if os.name == "nt" else "dmlcheck")
    return str(script)


def command(*arguments: str) -> Job:
    """Return a job that runs a command and checks that it succeeds."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=environment)


def seconds(job: Job) -> float:
    """Return how long a job takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main() -> None:
    """Run the benchmarks that were named, or all."""
    parser = argparse.ArgumentParser(description="ratios to the least that a job could cost")
    parser.add_argument("names", nargs="*", help=f"which to run: {', '.join(BENCHMARKS)}")
    parser.add_argument("--rounds", type=int, help="how often each side is measured")
    options = parser.parse_args()
    for name in options.names or BENCHMARKS:
        if name not in BENCHMARKS:
            parser.error(f"{name} is not one of {', '.join(BENCHMARKS)}")
        prepare, goal, rounds = BENCHMARKS[name]
        with tempfile.TemporaryDirectory() as folder:
            ours, least = prepare(Path(folder))
            seconds(ours), seconds(least)  # once to warm up
            pairs = [(seconds(ours), seconds(least)) for _ in range(options.rounds or rounds)]
            mine, other = (min(side) for side in zip(*pairs, strict=True))
            print(f"{name}: {mine:.3f} s against {other:.3f} s, ratio {mine / other:.2f} (goal {goal})")  # noqa: T201 - a program


if __name__ == "__main__":
    main()
