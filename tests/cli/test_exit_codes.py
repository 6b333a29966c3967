"""What the exit codes mean, as the contract fixes them."""

from __future__ import annotations

from dmlcheck.cli.exit_codes import Exit


def test_the_exit_codes_are_those_of_the_contract() -> None:
    assert {code.name: code.value for code in Exit} == {
        "GOOD": 0,
        "FAILED": 1,
        "WRONG_INPUT": 2,
        "NOTHING_COLLECTED": 5,
        "INTERRUPTED": 130,
    }
