"""Which reports a command writes, and where it may not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import GOOD, dmlcheck, write


def test_a_report_replaces_what_a_link_leads_to(folder: Path) -> None:
    write("a.yaml", GOOD)
    write("real/report.json", "old")
    try:
        (folder / "link.json").symlink_to(folder / "real" / "report.json")
    except OSError:
        pytest.skip("links need a privilege here")
    assert dmlcheck("run", "a.yaml", "--json", "link.json").exit_code == 0
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "real" / "report.json").read_text(encoding="utf-8"))["summary"]["passed"] == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are other things there")
def test_a_report_may_go_into_a_pipe(folder: Path) -> None:
    write("a.yaml", GOOD)
    os.mkfifo(folder / "pipe")
    with subprocess.Popen([sys.executable, "-m", "dmlcheck", "run", "a.yaml", "--json", "pipe"]) as process:
        report = json.loads((folder / "pipe").read_text(encoding="utf-8"))
        assert process.wait(timeout=60) == 0
    assert report["summary"]["passed"] == 1
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("path", ["", ".", "missing/report.json"])
def test_a_report_that_cannot_be_written_is_refused_before_the_run(path: str) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", "--json", path)
    assert result.exit_code == 2
    assert "passed" not in result.stdout
    assert "--json" in result.stderr


@pytest.mark.parametrize("words", [["--json", "a.yaml"], ["--json", "x", "--junitxml", "x"]])
def test_a_report_takes_the_place_of_nothing_that_is_needed(words: list[str]) -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("run", "a.yaml", *words)
    assert result.exit_code == 2
    assert Path("a.yaml").read_text(encoding="utf-8") == GOOD
