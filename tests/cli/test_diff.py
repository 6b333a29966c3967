"""`diff` on the command line."""

from __future__ import annotations

import json

import pytest
from commandline import dmlcheck


def test_the_command_prints_text_and_json() -> None:
    text = dmlcheck("diff", "3_0", "4_1").stdout
    assert text.startswith("DML_FEATURE_LEVEL_3_0 to DML_FEATURE_LEVEL_4_1: 12 new operators, ")
    assert "\nDML_OPERATOR_ARGMAX\n  InputTensor: INT64 UINT64\n" in text
    read = json.loads(dmlcheck("diff", "DML_FEATURE_LEVEL_3_0", "4.1", "--format", "json").stdout)
    assert (read["schema"], read["from"], read["to"]) == ("dmlcheck-diff/1", "3_0", "4_1")
    (argmax,) = (change for change in read["operators"] if change["operator"] == "DML_OPERATOR_ARGMAX")
    assert argmax["tensors"] == [
        {"tensor": "InputTensor", "when": None, "types": ["INT64", "UINT64"], "dims": []},
    ]


@pytest.mark.parametrize("form", ["text", "json"])
def test_levels_may_stand_in_any_order(form: str) -> None:
    result = dmlcheck("diff", "4_1", "3_0", "--format", form)
    assert result.exit_code == 0
    assert result.stdout == dmlcheck("diff", "3_0", "4_1", "--format", form).stdout


@pytest.mark.parametrize("words", [["diff"], ["diff", "3_0"], ["diff", "3_0", "9_9"]])
def test_a_level_that_is_missing_or_unknown_is_refused(words: list[str]) -> None:
    assert dmlcheck(*words).exit_code == 2
