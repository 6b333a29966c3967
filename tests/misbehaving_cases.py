"""Case files for the implementations of `misbehaving`: the first input element of a case says what happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BAD = "python:misbehaving:Misbehaving"
HEAD = """\
operator: DML_OPERATOR_REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {DataType: TYPE, Sizes: [3]}
  OutputTensor: {DataType: TYPE, Sizes: [1]}
  Axes: [0]
cases:
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty folder, from which the misbehaving implementations can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    return tmp_path


def write(name: str, *firsts: int, data_type: str = "INT32") -> None:
    """Write a file of sums of a data type, one for each first element."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    cases = "".join(
        f"- {{name: c{number}, inputs: {{InputTensor: [{first}, 1, 2]}}, outputs: {{OutputTensor: [{first + 3}]}}}}\n"
        for number, first in enumerate(firsts)
    )
    Path(name).write_text(HEAD.replace("TYPE", data_type) + cases, encoding="utf-8")
