"""The plain types of desc fields: numbers, lists of numbers and enumeration values."""

from __future__ import annotations

from typing import Any

from dmlcheck.diagnostics import Finding, describe, did_you_mean
from dmlcheck.document import Path
from dmlcheck.header import ENUMS, UINT_MAX, enum_prefix

EXPECTED = {
    "UINT": "a whole number from 0 to 4294967295",
    "UINT_ARRAY": "a list of whole numbers from 0 to 4294967295",
    "TENSOR_DESC": "a mapping such as {DataType: FLOAT32, Sizes: [2, 3]}",
}


def is_uint(value: Any, most: int = UINT_MAX) -> bool:
    """Whether a value is a whole number from 0 to `most`."""
    return type(value) is int and 0 <= value <= most


def read_enum(enum: str, label: str, given: Any, path: Path, findings: list[Finding]) -> str | None:
    """Return an enumeration value's suffix, given in full or as the suffix."""
    if isinstance(given, str):
        suffix = given.removeprefix(enum_prefix(enum))
        if suffix in ENUMS[enum]:
            return suffix
        help = did_you_mean(suffix, ENUMS[enum])
        note = "one of " + " ".join(ENUMS[enum])
        findings.append(Finding("unknown-enum-value", path, {"found": given, "enum": enum}, help=help, note=note))
    else:
        params = {"field": label, "found": describe(given), "expected": f"a value of {enum}"}
        findings.append(Finding("field-type", path, params, note="one of " + " ".join(ENUMS[enum])))
    return None


def read_uints(label: str, given: Any, path: Path, findings: list[Finding]) -> tuple[int, ...] | None:
    """Return a list of UINTs as a tuple, or None when it is not one."""
    if not isinstance(given, (list, tuple)):
        params = {"field": label, "found": describe(given), "expected": EXPECTED["UINT_ARRAY"]}
        help = f"write [{given}]" if is_uint(given) else None
        findings.append(Finding("field-type", path, params, help=help))
        return None
    before = len(findings)
    for index, element in enumerate(given):
        if type(element) is not int or not 0 <= element <= UINT_MAX:
            params = {
                "field": f"{label}[{index}]",
                "found": describe(element),
                "expected": EXPECTED["UINT"],
            }
            findings.append(Finding("field-type", (*path, index), params))
    return tuple(given) if len(findings) == before else None
