"""`coverage` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import dmlcheck
from inspection.test_coverage import FILE


@pytest.fixture
def path(folder: Path) -> Path:
    """Write a file whose cases cover some things, and return its folder."""
    (folder / "argmax.yaml").write_text(FILE, encoding="utf-8")
    return folder


def test_of_an_operator_without_a_case_there_is_nothing_to_measure(path: Path) -> None:
    result = dmlcheck("coverage", str(path), "--operator", "GEMM")
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr == "dmlcheck: nothing was measured: there is no case of these operators\n"
