"""`explain` on the command line."""

from __future__ import annotations

import pytest
from commandline import dmlcheck

from dmlcheck.diagnostics.catalog import RULES


def test_without_a_rule_all_are_listed() -> None:
    head, *rows = dmlcheck("explain").stdout.splitlines()
    assert head.split() == ["rule", "group", "summary"]
    assert [row.split()[0] for row in rows] == list(RULES)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("size-mismach", "is neither a rule nor a constraint; did you mean size-mismatch?"),
        ("zzzz", "is neither a rule nor a constraint; `dmlcheck explain` lists the rules"),
        ("reduse/c2", "is neither a rule nor a constraint; did you mean REDUCE/C2?"),
        ("ZZZZ/C1", "is neither a rule nor a constraint; `dmlcheck explain` lists the rules"),
        ("REDUCE/C99", "DML_OPERATOR_REDUCE has no constraint C99; it has C1, C2"),
        ("C37", "did you mean MULTIHEAD_ATTENTION/C37 or MULTIHEAD_ATTENTION1/C37?"),
        ("gemm/e1", "gemm/e1 is an erratum; `dmlcheck show GEMM --errata` shows it"),
        ("softmx", "did you mean ACTIVATION_SOFTMAX or ACTIVATION_SOFTMAX1?"),
        ("Axis", "Axis is a field of CUMULATIVE_PRODUCT and of 11 other operators"),
    ],
)
def test_what_is_neither_is_refused_with_what_there_is(given: str, words: str) -> None:
    result = dmlcheck("explain", given)
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr


def test_an_unknown_message_is_refused_with_the_nearest() -> None:
    result = dmlcheck("explain", "Mismatched tensor colours.")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Mismatched tensor sizes. Tensor '{tensor}' has size" in result.stderr
