"""`selfcheck` of what is shipped."""

from __future__ import annotations

import pytest
from commandline import dmlcheck


@pytest.mark.slow
def test_selfcheck_finds_nothing() -> None:
    result = dmlcheck("selfcheck")
    assert result.exit_code == 0
    assert result.stdout.endswith("rules: all agree\n")
