"""The parts of an undefined result's text."""

from __future__ import annotations

import pytest

from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.undefined import Undefined, undefined


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("An integer quotient by 0.", Undefined("An integer quotient by 0.", (), "")),
        (
            "Every result where Steepness is 0: the formula divides by it.",
            Undefined("Every result where Steepness is 0.", ("The formula divides by it.",), ""),
        ),
        (
            "LINEAR: a result with weight 0: an implementation that multiplies gets NaN.",
            Undefined("LINEAR: a result with weight 0.", ("An implementation that multiplies gets NaN.",), ""),
        ),
        (
            "The elements whose index is outside. The page gives no value; the reference reads the first one.",
            Undefined(
                "The elements whose index is outside.",
                ("The page gives no value.",),
                "The reference reads the first one.",
            ),
        ),
        (
            "A row that contains NaN. The reference ignores NaN; in a row of NaN alone it marks the first element.",
            Undefined(
                "A row that contains NaN.",
                (),
                "The reference ignores NaN; in a row of NaN alone it marks the first element.",
            ),
        ),
        (
            "Results with lengths, unless all are 0: it reads the past. The rest is undefined too.",
            Undefined(
                "Results with lengths, unless all are 0.", ("It reads the past.", "The rest is undefined too."), ""
            ),
        ),
        (
            "The result for NaN; read literally, the comparison gives 0.",
            Undefined("The result for NaN.", ("Read literally, the comparison gives 0.",), ""),
        ),
        (
            "A scale below 0.5 (see 1.2): it is not documented.",
            Undefined("A scale below 0.5 (see 1.2).", ("It is not documented.",), ""),
        ),
    ],
)
def test_a_text_is_read_in_parts(text: str, parts: Undefined) -> None:
    assert undefined(text) == parts


def test_no_word_of_a_text_is_lost_or_added() -> None:
    def letters(text: str) -> list[str]:
        return sorted("".join(filter(str.isalnum, text)).lower())

    texts = {text for name in operator_names() for text in load_spec(name).unspecified}
    for text in texts:
        condition, outcomes, reference = undefined(text)
        assert letters(condition + "".join(outcomes) + reference) == letters(text)
        assert len(condition.split()) > 2
        assert condition[0].isupper() or condition[0].isdigit()
        assert condition.endswith(".")
