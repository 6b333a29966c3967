"""What plain scalars mean in YAML 1.2, and how much of a file is read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dmlcheck.files.document import Overflow, Position
from dmlcheck.files.scalars import MAX_DIGITS, MISSING, plain_scalar, too_deep, too_many, too_many_digits


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("nUll", "nUll"),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("on", "on"),
        ("12", 12),
        ("-012", -12),
        ("+7", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1e-5", 1e-5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1.5E+3", -1500.0),
        ("1e", "1e"),
        (".", "."),
        ("-.inf", -math.inf),
        (".Inf", math.inf),
        ("inf", "inf"),
        ("12:30", "12:30"),
        ("2020-01-01", "2020-01-01"),
        ("1\n", "1\n"),
    ],
)
def test_a_scalar_is_null_a_truth_value_a_number_or_text(text: str, value: Any) -> None:
    found = plain_scalar(text)
    assert (type(found), found) == (type(value), value)


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
