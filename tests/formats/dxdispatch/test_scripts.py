"""What goes with exported models, whatever they are; `tests/implementations/test_recorded.py` runs run.sh."""

from __future__ import annotations

import re

import pytest

from dmlcheck.formats.dxdispatch.exporter import ABOUT, EXIT_CODE, LOG, OUTPUTS, script
from dmlcheck.formats.dxdispatch.form import MODEL


@pytest.mark.parametrize("script", [script("run.cmd"), script("run.sh")], ids=["run.cmd", "run.sh"])
def test_a_script_clears_what_an_earlier_run_left_before_it_writes_the_same_files(script: str) -> None:
    assert script.isascii()
    for name in (OUTPUTS, LOG, EXIT_CODE):
        clears = re.search(rf"(rm -rf|rmdir|del) [^\n]*\b{re.escape(name)}", script)
        written = script.rindex(name)
        assert clears is not None, name
        assert clears.start() < written
    assert ABOUT in script
    assert MODEL in script


def test_no_variable_of_the_batch_file_stands_in_parentheses_but_in_quotes() -> None:
    for line in script("run.cmd").splitlines():
        for enclosed in re.findall(r"\(([^()]*)\)", re.sub(r'"[^"]*"', "", line)):
            assert "%" not in enclosed, line


def test_the_page_names_both_scripts_what_they_leave_and_how_it_is_judged() -> None:
    for name in ("run.cmd", "sh run.sh", MODEL, f"{OUTPUTS}/", LOG, EXIT_CODE, "--implementation recorded:"):
        assert name in script("README.md")
