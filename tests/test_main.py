"""The command line as a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import gc, sys
from dmlcheck.__main__ import main
assert "click" not in sys.modules
try:
    main()
except SystemExit as end:
    print(end.code, gc.get_threshold()[0] >= 10_000, gc.get_freeze_count() > 10_000)
"""


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.slow
def test_the_module_is_the_command() -> None:
    done = python("-m", "dmlcheck", "show", "--nonsense")
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: dmlcheck show [OPTIONS]")


def test_no_time_goes_into_garbage() -> None:
    """Not while a command runs, and not when it ends."""
    done = python("-c", SCRIPT, "explain", "yaml-syntax")
    assert done.stdout.endswith("\n0 True True\n")
