"""Commands run as people run them, and the files that they are given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from dmlcheck.cli import main

FILES = Path(__file__).parent / "snapshots" / "files"
GOOD = """\
operator: DML_OPERATOR_REDUCE
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
  Axes: [0]
inputs: {InputTensor: [1, 2, 3]}
outputs: {OutputTensor: [6]}
"""
WRONG = GOOD.replace("[6]", "[7]")
ILLEGAL = GOOD.replace("Axes: [0]", "Axes: [1]")
DESC = GOOD.partition("inputs")[0]


def dmlcheck(*words: object, stdin: str = "") -> Result:
    """Run a command in this process, letting bugs show as tracebacks."""
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin, catch_exceptions=False)


run = partial(dmlcheck, "run")


def json_of(path: str | Path) -> Any:
    """Return what a JSON file has."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def spawned(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "dmlcheck", *words]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=False, timeout=60)


def write(name: str, text: str) -> str:
    """Write a file, with the folders that its name has, and return the name."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


def many(number: int) -> str:
    """Return a file of so many cases."""
    cases = "".join(f"- {{name: c{index}, outputs: {{OutputTensor: [6]}}}}\n" for index in range(number))
    return GOOD.partition("outputs")[0] + "cases:\n" + cases
