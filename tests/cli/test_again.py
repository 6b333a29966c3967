"""The command that runs a case again."""

from __future__ import annotations

import os
import subprocess
import sys

from commandline import WRONG, dmlcheck, write


def test_the_command_at_the_end_of_a_failure_runs_that_case_again() -> None:
    write("a folder/it's.yaml", WRONG)
    first = dmlcheck("run", "a folder").stdout
    (again,) = (line.partition("again: ")[2] for line in first.splitlines() if "again: " in line)
    words = again.split("dmlcheck ", 1)[1]
    if os.name == "nt":
        repeated = subprocess.run(f"{sys.executable} -m dmlcheck {words}", capture_output=True, check=False)
    else:
        command = f"{sys.executable} -m dmlcheck {words}"
        repeated = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert repeated.returncode == 1
    failure, table, _ = first.partition("\noperator ")
    assert table
    assert repeated.stdout.decode().replace("\r\n", "\n").partition("\noperator ")[0] == failure
