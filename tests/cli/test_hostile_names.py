"""Names with ends of lines, control characters and commands of GitHub in them: none reaches a terminal or a log."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, WRONG, dmlcheck, json_of, spawned, write

from dmlcheck.running.events import digest, digest_of

NAME = "n\n::error::x ##[error]y\x1b[31mred\x1b]0;title\x07\u202e"
CASE = WRONG.replace("operator:", f"name: {json.dumps(NAME)}\noperator:", 1)
COMMANDS = [
    ["run", "{}"],
    ["run", "{}", "-v"],
    ["run", "{}", "-q"],
    ["run", "{}", "--format", "concise"],
    ["validate", "{}", "--all-levels"],
    ["validate", "{}"],
    ["validate", "{}", "--format", "json"],
    ["validate", "{}", "--format", "sarif"],
    ["eval", "{}"],
    ["coverage", "{}"],
    ["export", "--to", "dxdispatch", "{}", "-o", "out"],
    ["run", "{}::nope\n::error::x\x1b[31m"],
    ["run", "{}", "-k", "(\n::error::x\x1b[31m"],
    ["run", "{}", "--nope\n::error::x\x1b[31m"],
    ["run", "{}", "--implementation", "\n::error::x\x1b[31m"],
    ["run", "{}", "--shard", "\n::error::x\x1b[31m ##[error]"],
    ["show", "\n::error::x\x1b[31m ##[error]"],
    ["explain", "\n::error::x\x1b[31m ##[error]"],
    ["nope\n::error::x\x1b[31m ##[error]"],
]


def lines_to_fear(text: str) -> list[str]:
    """Return the lines that a terminal or a GitHub workflow would take for something else than text."""
    return [
        line
        for line in re.split("[\n\r]", text)
        if re.search("^\\s*::|##\\[|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", line)
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_no_name_reaches_a_log_as_it_is(command: list[str]) -> None:
    write("a.yaml", CASE)
    result = dmlcheck(*(word.format("a.yaml") for word in command))
    assert result.exit_code in (0, 1, 2, 5)
    assert lines_to_fear(result.output) == []
    assert len(result.output) > 20


@pytest.mark.skipif(sys.platform == "win32", reason="no file has such a name there")
@pytest.mark.parametrize(
    "command",
    [["run", "."], ["run", ".", "--format", "concise"], ["validate", "."], ["coverage", "."], ["eval", "{}"]],
    ids=" ".join,
)
@pytest.mark.parametrize("text", [WRONG, GOOD, "{", "cases: 1\n"])
def test_neither_does_the_name_of_a_file(command: list[str], text: str) -> None:
    name = "::error::a\n::error::b\x1b[31m##[c]\udcff.yaml"
    write(name, text)
    result = dmlcheck(*(word.format(name) for word in command))
    assert lines_to_fear(result.output) == []
    if command[0] == "validate" or (command[0] == "run" and text != GOOD):
        assert r"::error::a\n::error::b\x1b[31m##\[c]\udcff.yaml" in result.output


def test_annotations_are_the_only_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    write("a.yaml", CASE)
    found = lines_to_fear(dmlcheck("run", "a.yaml").output)
    assert len(found) == 1
    assert found[0].startswith("::error file=a.yaml,line=")


def test_a_report_that_anyone_wrote_says_nothing_to_a_log(folder: Path) -> None:
    write("a.yaml", WRONG)
    dmlcheck("run", "a.yaml", "--shard", "1/1", "--json", "r.json")
    text = (folder / "r.json").read_text("utf-8")
    report = json.loads(text)

    def spoilt(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: spoilt(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [spoilt(part, key) for part in value]
        is_read = key in (
            "schema",
            "outcome",
            "digest",
            "data_type",
            "type",
            "accumulate",
            "inputs",
            "shape",
            "expected",
            "actual",
        )
        return value + NAME if isinstance(value, str) and not is_read else value

    report = spoilt(report)
    report["digest"] = digest_of([digest(case["id"] for case in report["cases"])])
    write("r.json", json.dumps(report))
    result = dmlcheck("merge", "r.json", "-v", "--html", "r.html", "--junitxml", "r.xml", "--sarif", "r.sarif")
    assert (result.exit_code, lines_to_fear(result.output)) == (1, [])
    write("known.yaml", "[]\n")
    result = dmlcheck("expectations", "update", "r.json", "known.yaml", "--add", "--reason", NAME)
    assert (result.exit_code, lines_to_fear(result.output)) == (0, [])


@pytest.mark.slow
def test_colours_of_a_name_do_not_reach_a_pipe() -> None:
    write("a.yaml", CASE)
    assert b"\x1b" not in spawned("run", "a.yaml", TERM="xterm-256color").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["show"], ["nope"], ["run", "missing.yaml"], ["validate", "-"]]
)
@pytest.mark.parametrize(
    "streams", [">&-", "2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full", "<&- >&- 2>&-"]
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_streams_that_are_closed_or_full_are_no_traceback(folder: Path, words: list[str], streams: str) -> None:
    import shlex
    import subprocess

    write("a.yaml", GOOD)
    command = shlex.join([sys.executable, "-m", "dmlcheck", *words])
    done = subprocess.run(
        ["sh", "-c", f"{command} {streams} <a.yaml"], cwd=folder, capture_output=True, check=False, timeout=60
    )
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"Exception ignored" not in done.stdout + done.stderr
    is_lost = ">/dev/full" in streams.split() or words[0] in ("nope", "run")
    assert done.returncode == (2 if is_lost else 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed by a POSIX shell")
def test_a_report_does_not_take_the_number_of_a_closed_stream(folder: Path) -> None:
    import subprocess

    write("a.yaml", WRONG)
    command = f"'{sys.executable}' -m dmlcheck run a.yaml --json r.json <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=folder, check=False, timeout=60).returncode == 1
    assert json_of(folder / "r.json")["summary"]["failed"] == 1
