"""A pipe, a device or a folder in the place of a file: every command says so, and none waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import GOOD, dmlcheck, write

PIPE = "is a pipe, a device or a socket, not a file"
COMMANDS = [
    ["validate", "{}"],
    ["run", "{}"],
    ["run", "a.yaml", "--expectations", "{}"],
    ["run", "a.yaml", "--compare-to", "{}"],
    ["eval", "{}"],
    ["coverage", "{}"],
    ["export", "--to", "dxdispatch", "{}", "-o", "out"],
    ["import", "dxdispatch", "{}", "-o", "out"],
    ["import", "onnx", "{}", "-o", "out"],
    ["merge", "{}"],
    ["expectations", "update", "{}", "a.yaml"],
    ["expectations", "update", "r.json", "{}"],
]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_pipe_is_said_to_be_one(folder: Path, command: list[str]) -> None:
    if "onnx" in command:
        pytest.importorskip("onnx")
    write("a.yaml", GOOD)
    dmlcheck("run", "a.yaml", "--json", "r.json")
    os.mkfifo(folder / "pipe.json")
    result = dmlcheck(*(word.format("pipe.json") for word in command))
    assert (result.exit_code, PIPE in result.output) == (2, True), result.output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_manifest_that_is_a_pipe_is_no_manifest(folder: Path) -> None:
    write("a.yaml", GOOD)
    (folder / "out").mkdir()
    os.mkfifo(folder / "out" / "manifest.json")
    result = dmlcheck("export", "--to", "dxdispatch", "a.yaml", "-o", "out")
    assert (result.exit_code, "is no folder of this kind that dmlcheck wrote" in result.stderr) == (2, True)
    result = dmlcheck("run", "a.yaml", "--implementation", "recorded:out")
    assert (result.exit_code, PIPE in result.stderr) == (2, True)


def test_a_report_beyond_the_limit_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    write("a.yaml", GOOD)
    dmlcheck("run", "a.yaml", "--json", "r.json")
    monkeypatch.setattr("dmlcheck.reports.reading.MAX_REPORT", 100)
    for command in (["merge", "r.json"], ["expectations", "update", "r.json", "a.yaml"]):
        result = dmlcheck(*command)
        assert (result.exit_code, "dmlcheck reads up to 100 of such a file" in result.stderr) == (2, True)
