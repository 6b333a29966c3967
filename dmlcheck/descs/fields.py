"""The plain types of desc fields: numbers, lists of numbers, enumeration values and small structs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe, did_you_mean, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.specs.names import ENUMS, UINT_MAX, enum_prefix

EXPECTED = {
    "UINT": "a whole number from 0 to 4294967295",
    "INT": "a whole number from -2147483648 to 2147483647",
    "FLOAT": "a number that FLOAT32 can hold",
    "BOOL": "true or false",
    "UINT_ARRAY": "a list of whole numbers from 0 to 4294967295",
    "INT_ARRAY": "a list of whole numbers from -2147483648 to 2147483647",
    "FLOAT_ARRAY": "a list of numbers that FLOAT32 can hold",
    "SCALAR_UNION": "a number",
    "SIZE_2D": "a mapping such as {Width: 3, Height: 2}",
    "SCALE_BIAS": "a mapping such as {Scale: 2.0, Bias: 0.5}",
    "TENSOR_DESC": "a mapping such as {DataType: FLOAT32, Sizes: [2, 3]}",
    "TENSOR_DESC_ARRAY": "a list of tensors such as {DataType: FLOAT32, Sizes: [2, 3]}",
    "OPERATOR_DESC": "a mapping such as {Type: ACTIVATION_RELU}",
    "OPERATOR_DESC_ARRAY": "a list of operators such as {Type: ACTIVATION_TANH}",
}
_INFINITE_FROM = {"FLOAT16": 65520.0, "FLOAT32": 3.4028235677973366e38}  # what rounds to infinity begins here
_FLOAT_MAX = _INFINITE_FROM["FLOAT32"]


class Size2D(NamedTuple):
    """A DML_SIZE_2D, which is also a DML_SIZE_2D of strides or scales."""

    Width: int
    Height: int


class ScaleBias(NamedTuple):
    """A DML_SCALE_BIAS: x becomes x * Scale + Bias."""

    Scale: float
    Bias: float


def is_uint(value: Any, most: int = UINT_MAX) -> bool:
    """Whether a value is a whole number from 0 to `most`."""
    return type(value) is int and 0 <= value <= most


def is_int(value: Any) -> bool:
    """Whether a value is a whole number that INT holds."""
    return type(value) is int and -(2**31) <= value < 2**31


def is_float(value: Any) -> bool:
    """Whether a value is a number that FLOAT32 holds; infinities and NaN as such are."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return abs(value) < _FLOAT_MAX
    return type(value) is float


def is_finite_as(data_type: str, value: float) -> bool:
    """Whether a number does not become infinite in a float type, unless it is an infinity or NaN as such."""
    if type(value) is float and not math.isfinite(value):
        return type(value) is float and not hasattr(value, "text")  # 1e999 is a number that no type holds
    if data_type == "FLOAT64":
        return abs(value) < 2**1024 - 2**970
    return abs(value) < _INFINITE_FROM[data_type]


_IS: dict[str, Callable[[Any], bool]] = {
    "UINT": is_uint,
    "INT": is_int,
    "FLOAT": is_float,
    "BOOL": lambda value: type(value) is bool or (type(value) is int and value in (0, 1)),
    "SCALAR_UNION": lambda value: type(value) in (int, float),
}


def read_number(kind: str, label: str, given: Any, path: Path, findings: list[Finding]) -> Any:
    """Return a number of a type in `EXPECTED`, or None when it is not one."""
    if _IS[kind](given):
        return bool(given) if kind == "BOOL" else given
    word = given.strip().lower().removeprefix("+") if type(given) is str else ""
    if kind in ("FLOAT", "SCALAR_UNION") and word in ("inf", "-inf", "nan"):
        return float(word)
    findings.append(Finding("field-type", path, {"field": label, "found": describe(given), "expected": EXPECTED[kind]}))
    return None


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


def read_numbers(kind: str, label: str, given: Any, path: Path, findings: list[Finding]) -> tuple[Any, ...] | None:
    """Return a list of numbers of a type as a tuple, or None when it is not one."""
    if not isinstance(given, (list, tuple)):
        params = {"field": label, "found": describe(given), "expected": EXPECTED[f"{kind}_ARRAY"]}
        help = f"write [{given}]" if _IS[kind](given) else None
        findings.append(Finding("field-type", path, params, help=help))
        return None
    before = len(findings)
    is_right = _IS[kind]
    numbers = [
        element if is_right(element) else read_number(kind, f"{label}[{index}]", element, (*path, index), findings)
        for index, element in enumerate(given)
    ]
    return tuple(numbers) if len(findings) == before else None


def read_uints(label: str, given: Any, path: Path, findings: list[Finding]) -> tuple[int, ...] | None:
    """Return a list of UINTs as a tuple, or None when it is not one."""
    return read_numbers("UINT", label, given, path, findings)


def read_struct(kind: str, label: str, given: Any, path: Path, findings: list[Finding]) -> Any:
    """Return a SIZE_2D or a SCALE_BIAS, or None when it is not one."""
    made, part = (Size2D, "UINT") if kind == "SIZE_2D" else (ScaleBias, "FLOAT")
    if not isinstance(given, Mapping):
        params = {"field": label, "found": describe(given), "expected": EXPECTED[kind]}
        findings.append(Finding("field-type", path, params))
        return None
    before = len(findings)
    for key, help in unknown_names(given, made._fields, "its fields are"):
        params = {"operator": label, "field": key}
        findings.append(Finding("unknown-field", (*path, key), params, help=help, at_key=True))
    values = []
    for name in made._fields:
        if given.get(name) is None:
            findings.append(Finding("missing-field", (*path, name), {"operator": label, "field": name}))
        else:
            values.append(read_number(part, f"{label}.{name}", given[name], (*path, name), findings))
    return made(*values) if len(findings) == before else None
