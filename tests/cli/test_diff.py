"""`diff` on the command line."""

from __future__ import annotations

import pytest
from commandline import dmlcheck


@pytest.mark.parametrize("form", ["text", "json"])
def test_levels_may_stand_in_any_order(form: str) -> None:
    result = dmlcheck("diff", "4_1", "3_0", "--format", form)
    assert result.exit_code == 0
    assert result.stdout == dmlcheck("diff", "3_0", "4_1", "--format", form).stdout
