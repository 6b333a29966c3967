"""`selfcheck` on the command line; `inspection/test_added_operator.py` runs it for what is shipped."""

from __future__ import annotations

import pytest
from commandline import dmlcheck

from dmlcheck.inspection.selfcheck import SelfCheck


@pytest.mark.parametrize(("problems", "code"), [([], 0), (["cases/x: no operator of this name", "another"], 1)])
def test_problems_and_a_summary_are_printed(problems: list[str], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcheck.cli.selfcheck.check", lambda: SelfCheck(problems, "1 operator: told"))
    result = dmlcheck("selfcheck")
    assert (result.exit_code, result.stdout.splitlines()) == (code, [*problems, "1 operator: told"])
