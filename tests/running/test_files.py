"""The files of a run: how often each is read, counted by the opening of files."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck

from dmlcheck.formats.find import Target
from dmlcheck.running import execution
from dmlcheck.running.events import Plan
from dmlcheck.running.execution import Files

CASE = """\
operator: ACTIVATION_RELU
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [2]}
  OutputTensor: {DataType: FLOAT32, Sizes: [2]}
cases:
- {name: a, inputs: {InputTensor: [-1, 2]}, outputs: {OutputTensor: [0, %s]}}
- {name: b, inputs: {InputTensor: [-1, 2]}, outputs: {OutputTensor: [0, 2]}}
"""
_OPENED: list[str] = []
_WATCHED: list[str] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _WATCHED and isinstance(arguments[0], (str, os.PathLike)):
        path = os.path.abspath(os.fspath(arguments[0]))
        if path.startswith(_WATCHED[0]) and str(arguments[1] or "r").startswith("r"):
            _OPENED.append(os.path.basename(path))


sys.addaudithook(_note)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the names of the files that are opened to be read in a folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    _OPENED.clear()
    _WATCHED[:] = [str(tmp_path.resolve())]
    yield _OPENED
    _WATCHED.clear()


def write(*names: str, wrong: bool = True) -> None:
    """Write files of two cases each, of which the first fails if it is wrong."""
    for name in names:
        Path(name).write_text(CASE % (3 if wrong else 2), encoding="utf-8")


@pytest.mark.parametrize(
    "options",
    [
        ["."],
        [".", "--feature-level", "5_0"],
        [".", "--max-failures", "1"],
        ["a.yaml::a", "a.yaml::b", "b.yaml", "c.yaml"],
        [".", "--junitxml", "report.xml", "--json", "report.json"],
    ],
)
def test_a_run_that_fails_reads_every_file_once(opened: list[str], options: list[str]) -> None:
    write("a.yaml", "b.yaml", "c.yaml")
    assert dmlcheck("run", *options).exit_code == 1
    assert Counter(name for name in opened if name.endswith(".yaml")) == {"a.yaml": 1, "b.yaml": 1, "c.yaml": 1}


@pytest.mark.slow
def test_of_several_processes_the_one_that_reports_reads_no_file_that_has_run(opened: list[str]) -> None:
    write("a.yaml", "b.yaml", wrong=False)
    write("c.yaml", "d.yaml")
    result = dmlcheck("run", ".", "-j", "2")
    assert "8 cases" in result.stdout
    assert sorted(name for name in opened if name.endswith(".yaml")) == ["c.yaml", "d.yaml"]


def targets(*names: str) -> list[Target]:
    return [Target(name, name) for name in names]


def test_what_does_not_fit_is_read_again(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MOST_KEPT", len(CASE))
    write("a.yaml", "b.yaml", "c.yaml")
    of_run = Files(targets("a.yaml", "b.yaml", "c.yaml"), Plan())
    assert of_run.total() == 6
    for target in of_run.targets:
        of_run.take(target)
    assert Counter(opened) == {"a.yaml": 1, "b.yaml": 2, "c.yaml": 2}
