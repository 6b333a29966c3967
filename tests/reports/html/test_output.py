"""The elements of an output on the page."""

from __future__ import annotations

import pytest

from dmlcheck.reports.html.output import bits_text


@pytest.mark.parametrize(
    ("value", "data_type", "bits"),
    [
        (1.0, "FLOAT16", "0x3C00"),
        (-0.0, "FLOAT32", "0x80000000"),
        (float("inf"), "FLOAT64", "0x7FF0000000000000"),
        (float("nan"), "FLOAT32", None),
        (1e300, "FLOAT32", None),
        (-8, "INT32", "0xFFFFFFF8"),
        (255, "UINT8", "0xFF"),
        (1.0, "", None),
    ],
)
def test_values_are_told_as_bits(value: float, data_type: str, bits: str | None) -> None:
    assert bits_text(value, data_type) == bits
