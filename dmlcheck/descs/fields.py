"""The plain types of desc fields: numbers, lists of numbers, enumeration values and small structs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.record import ABSENT, ONE_OF, PRESENT, TYPE, Checking, Claim, Finding
from dmlcheck.diagnostics.wording import describe, did_you_mean, misspelt, unknown_names
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
_INFINITE_FROM = {"FLOAT16": 65520.0, "FLOAT32": 3.4028235677973366e38}  # numbers from here on round to infinity
_FLOAT_MAX = _INFINITE_FROM["FLOAT32"]
LARGEST = {"FLOAT16": 65504.0, "FLOAT32": 2.0**128 - 2.0**104, "FLOAT64": 2.0**1023 * (2 - 2.0**-52)}


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


def fits_float(value: Any) -> bool:
    """Whether a value is a number in the range of FLOAT32, an infinity or NaN."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return abs(value) < _FLOAT_MAX
    return type(value) is float


def is_finite_as(data_type: str, value: float) -> bool:
    """Whether a number does not become infinite in a float type, unless it is an infinity or NaN as such."""
    if type(value) is float and not math.isfinite(value):
        return type(value) is float and not hasattr(value, "text")  # 1e999 is beyond every type
    if data_type == "FLOAT64":
        return abs(value) < 2**1024 - 2**970
    return abs(value) < _INFINITE_FROM[data_type]


_IS: dict[str, Callable[[Any], bool]] = {
    "UINT": is_uint,
    "INT": lambda value: type(value) is int and -(2**31) <= value < 2**31,
    "FLOAT": fits_float,
    "BOOL": lambda value: type(value) is bool or (type(value) is int and value in (0, 1)),
    "SCALAR_UNION": lambda value: type(value) in (int, float),
}


def _number(kind: str, given: Any) -> Any:
    """Return a value as a number of a type in `EXPECTED`, or None when it is not one."""
    if _IS[kind](given):
        return bool(given) if kind == "BOOL" else given
    word = given.strip().lower().removeprefix("+") if type(given) is str else ""
    return float(word) if kind in ("FLOAT", "SCALAR_UNION") and word in ("inf", "-inf", "nan") else None


def read_number(kind: str, label: str, given: Any, path: Path) -> Checking[Any]:
    """Return a number of a type in `EXPECTED`, or None when it is not one."""
    number = _number(kind, given)
    if number is None:
        word = _WORDS.get(given.casefold()) if kind == "BOOL" and type(given) is str else None
        yield mistyped(label, given, path, EXPECTED[kind], help=f"write {word}" if word else None)
    return number


_WORDS = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}


def read_enum(enum: str, label: str, given: Any, path: Path) -> Checking[str | None]:
    """Return an enumeration value's suffix, given in full, as the suffix, or as the number in DirectML.h."""
    known = tuple(name for name in ENUMS[enum] if name not in _NO_USE)
    values = " ".join(known)
    if type(given) is int:
        if 0 <= given < len(ENUMS[enum]):
            return ENUMS[enum][given]
        numbers = " ".join(f"{name} ({ENUMS[enum].index(name)})" for name in known)
        own = Claim(path, ONE_OF, known)
        yield Finding("unknown-enum-value", path, {"found": given, "enum": enum}, note=f"one of {numbers}", claim=own)
        return None
    if not isinstance(given, str):
        found = mistyped(label, given, path, f"a value of {enum}", note=f"one of {values}")
        yield found._replace(claim=Claim(path, ONE_OF, known))
        return None
    suffix = given if given in ENUMS[enum] else given.removeprefix(enum_prefix(enum))
    if suffix in ENUMS[enum]:
        return suffix
    from dmlcheck.specs.search import type_help

    other = _OTHER_VALUES.get(suffix.upper(), suffix)
    help = type_help(suffix) if enum == "DML_TENSOR_DATA_TYPE" else did_you_mean(other, known)
    params, own = {"found": given, "enum": enum}, Claim(path, ONE_OF, known)
    yield Finding("unknown-enum-value", path, params, help=help, note=f"one of {values}", claim=own)
    return None


# What ONNX, WebNN and PyTorch call values of DirectML's enumerations.
_OTHER_VALUES = {"MEAN": "AVERAGE", "PROD": "MULTIPLY", "PRODUCT": "MULTIPLY", "BOTH": "BIDIRECTIONAL"}
_NO_USE = ("UNKNOWN", "INVALID")  # values of an enumeration that no operator has a use for


def read_numbers(kind: str, label: str, given: Any, path: Path) -> Checking[tuple[Any, ...] | None]:
    """Return a list of numbers of a type as a tuple, or None when it is not one."""
    if not isinstance(given, (list, tuple)):
        help = f"write [{given}]" if _IS[kind](given) else None
        yield mistyped(label, given, path, EXPECTED[f"{kind}_ARRAY"], help=help)
        return None
    if all(map(_IS[kind], given)):
        return tuple(given)
    numbers = []
    for index, element in enumerate(given):
        numbers.append((yield from read_number(kind, f"{label}[{index}]", element, (*path, index))))
    return None if None in numbers else tuple(numbers)


def read_struct(kind: str, label: str, given: Any, path: Path) -> Checking[Size2D | ScaleBias | None]:
    """Return a SIZE_2D or a SCALE_BIAS, or None when it is not one."""
    made, part = _STRUCTS[kind]
    if not isinstance(given, Mapping):
        yield mistyped(label, given, path, EXPECTED[kind])
        return None
    unknown = list(unknown_fields(label, given, made._fields, path))
    yield from unknown
    meant = misspelt(given, made._fields).values()
    values = []
    for name in made._fields:
        place = (*path, name)
        if given.get(name) is None:
            if name not in meant:
                yield missing(label, name, place)
        else:
            values.append((yield from read_number(part, f"{label}.{name}", given[name], place)))
    is_right = len(values) == len(made._fields) and None not in values and not unknown
    return made(*values) if is_right else None


_STRUCTS: dict[str, tuple[type[Size2D | ScaleBias], str]] = {
    "SIZE_2D": (Size2D, "UINT"),
    "SCALE_BIAS": (ScaleBias, "FLOAT"),
}


# ---- what is wrong with a field


def mistyped(
    label: str, given: Any, path: Path, expected: str, *, help: str | None = None, note: str | None = None
) -> Finding:
    """Return the finding about a value of the wrong type."""
    params, own = {"field": label, "found": describe(given), "expected": expected}, Claim(path, TYPE, expected)
    return Finding("field-type", path, params, help, note=note, claim=own)


def missing(owner: str, field: str, path: Path, help: str | None = None) -> Finding:
    """Return the finding about a missing field of an operator, a tensor or a struct."""
    return Finding("missing-field", path, {"operator": owner, "field": field}, help, claim=Claim(path, PRESENT))


def unknown_fields(
    owner: str, given: Mapping[str, Any], known: Collection[str], path: Path, names: str = "its fields are"
) -> Iterator[Finding]:
    """Yield a finding for each unknown field of an operator, a tensor or a struct."""
    for key, help in unknown_names(given, known, names):
        yield unknown(owner, key, path, help)


def unknown(owner: str, field: Any, path: Path, help: str) -> Finding:
    """Return the finding about an unknown field of the mapping at a path."""
    params, own = {"operator": owner, "field": field}, Claim((*path, field), ABSENT)
    return Finding("unknown-field", own.field, params, help, at_key=True, claim=own)


LONG_FORM = ("Type", "Desc")


def long_form_strays(owner: str, given: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """Yield a finding for each key other than Type and Desc in the long form {Type, Desc}."""
    meant = misspelt(given, LONG_FORM)
    for key in given:
        if key not in LONG_FORM:
            help = f"did you mean {meant[key]}?" if key in meant else "with Desc, all fields but Type belong inside it"
            yield unknown(owner, key, path, help)
