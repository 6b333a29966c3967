"""The part that an implementation has in a result."""

from __future__ import annotations

import pytest
from results import case

from dmlcheck.running.results import LEGAL, CaseResult


@pytest.mark.parametrize(
    ("result", "is_computed"),
    [
        (CaseResult(case(), "passed"), True),
        (CaseResult(case(), "failed"), True),
        (CaseResult(case(), "skipped"), False),
        (CaseResult(case(), "passed", LEGAL, is_unrun=True), False),
        (CaseResult(case(), "failed", is_unrun=True), False),
    ],
)
def test_an_implementation_has_a_part_in_what_it_ran(result: CaseResult, *, is_computed: bool) -> None:
    assert result.is_computed is is_computed
