"""What plain scalars mean in YAML 1.2, and how much of a file is read."""

from __future__ import annotations

import math

import pytest

from dmlcheck.files.document import Overflow, Position
from dmlcheck.files.scalars import MAX_DIGITS, MISSING, plain_scalar, too_deep, too_many, too_many_digits


def test_nan_is_a_number() -> None:
    assert math.isnan(plain_scalar(".nan"))


def test_a_float_beyond_float64_keeps_its_text() -> None:
    found = plain_scalar("-1e400")
    assert isinstance(found, Overflow)
    assert (found.text, found) == ("-1e400", -math.inf)


@pytest.mark.parametrize("prefix", ["", "0x"])
def test_a_whole_number_has_an_end(prefix: str) -> None:
    assert plain_scalar(prefix + "1" * (MAX_DIGITS - len(prefix))) is not MISSING
    assert plain_scalar(prefix + "1" * (MAX_DIGITS - len(prefix) + 1)) is MISSING


def test_what_is_too_much_says_how_much_it_may_be() -> None:
    at = Position(2, 3)
    assert str(too_many_digits("1" * 4001, at)) == "a number of 4,001 digits is not read"
    assert str(too_deep(at)) == "too many levels of lists and mappings"
    refused = too_many("a.yaml", at)
    assert str(refused) == "a.yaml has more than 1,000,000 values, aliases expanded"
    assert (refused.rule, refused.position) == ("file-too-large", at)
