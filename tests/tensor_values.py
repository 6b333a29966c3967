"""Values of tensors being read, for the tests of values, and rounding in plain Python."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.files import yaml
from dmlcheck.values.literals import Source
from dmlcheck.values.read import read_values

WIDTHS = {
    "FLOAT16": "f2", "FLOAT32": "f4", "FLOAT64": "f8",
    "INT4": "i1", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8",
    "UINT4": "u1", "UINT8": "u1", "UINT16": "u2", "UINT32": "u4", "UINT64": "u8",
}  # fmt: skip
LIMITS = {
    "INT4": (-8, 7),
    "INT8": (-128, 127),
    "INT16": (-32768, 32767),
    "INT32": (-2147483648, 2147483647),
    "INT64": (-9223372036854775808, 9223372036854775807),
    "UINT4": (0, 15),
    "UINT8": (0, 255),
    "UINT16": (0, 65535),
    "UINT32": (0, 4294967295),
    "UINT64": (0, 18446744073709551615),
}
INFINITY = float("inf")


def read(
    raw: Any, data_type: str, *sizes: int, source: Source | None = None, **layout: Any
) -> tuple[Any, list[Finding]]:
    """Return what values become and what is found wrong with them."""
    tensor = TensorDesc(data_type, sizes, **layout)
    return collected(read_values("T", tensor, raw, ("inputs", "T"), source or Source()))


def accepted(raw: Any, data_type: str, *sizes: int, **layout: Any) -> Any:
    """Return an array that nothing is wrong with, as nested lists."""
    values, findings = read(raw, data_type, *sizes, **layout)
    assert findings == []
    assert values.dtype == np.dtype(WIDTHS[data_type])
    assert values.shape == sizes
    return values.tolist()


def refused(raw: Any, data_type: str, *sizes: int, **layout: Any) -> Finding:
    """Return the one thing that is wrong with values."""
    values, findings = read(raw, data_type, *sizes, **layout)
    assert values is None
    (finding,) = findings
    return finding


def place(finding: Finding) -> tuple[str, str]:
    return finding.rule, pointer(finding.path)


def written(text: str, data_type: str, *sizes: int) -> tuple[Any, list[Finding]]:
    """Read values as a YAML file spells them."""
    document = yaml.parse(f"inputs:\n  T: {text}\n".encode(), "case.yaml")
    assert document.problems == []
    return read(document.value["inputs"]["T"], data_type, *sizes, source=Source("", document.literal))


def number(text: str, data_type: str) -> Any:
    """Return the one number that a YAML text becomes."""
    values, findings = written(f"[{text}]", data_type, 1)
    assert findings == []
    return values[0]


# ---- rounding, in plain Python and from its definition

BINARY = {"FLOAT16": (11, -14, 15), "FLOAT32": (24, -126, 127), "FLOAT64": (53, -1022, 1023)}


def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def nearest(value: Fraction, data_type: str) -> Fraction | None:
    """Round a rational number to nearest even in an IEEE format; None beyond its range."""
    precision, least, most = BINARY[data_type]
    size = abs(value)
    exponent = max(least, size.numerator.bit_length() - size.denominator.bit_length() - 1)
    while size >= power_of_two(exponent + 1):
        exponent += 1
    unit = power_of_two(exponent - precision + 1)
    rounded = round(size / unit) * unit  # round() of a Fraction goes to even
    if rounded >= power_of_two(most + 1):
        return None
    return -rounded if value < 0 else rounded


def decimal_text(value: Fraction) -> str:
    """Spell a number that has a finite decimal expansion, exactly."""
    places = value.denominator.bit_length() * 2
    while places and (value * 10 ** (places // 2)).denominator == 1:
        places //= 2
    assert (value * 10**places).denominator == 1
    return f"{int(value * 10**places)}e-{places}"
