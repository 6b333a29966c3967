"""What `eval` computes."""

from __future__ import annotations

from typing import Any

import pytest
from commandline import GOOD, dmlcheck

from dmlcheck.reference import engine


def test_memory_that_ends_in_eval_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(engine, "run", run)
    result = dmlcheck("eval", "-", stdin=GOOD)
    assert result.exit_code == 1
    assert "error[tensor-too-large]" in result.output
