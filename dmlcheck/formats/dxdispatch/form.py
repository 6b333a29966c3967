"""The form of a model's parts: findings about it, and the differences from case files' notation."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from dmlcheck.cases.form import wrong_type
from dmlcheck.descs.fields import is_uint
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.files.document import Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES
from dmlcheck.specs.records import Field

MODEL = "model.json"  # in an exported folder


def missing_key(path: Path, where: str, key: str) -> Finding:
    """Return the finding about a missing key."""
    return Finding("missing-key", path, {"where": where, "key": key})


def count_findings(raw: Mapping[str, Any], key: str, path: Path, most: int, *, least: int = 0) -> Iterator[Finding]:
    """Yield the finding about an optional whole number, if it is wrong."""
    value = raw.get(key, least)
    if not is_uint(value, most) or value < least:
        yield wrong_type((*path, key), key, value, f"a whole number from {least} to {most:,}")


def file_path_findings(value: Any, path: Path) -> Iterator[Finding]:
    """Yield the finding about the path of a file, whether or not the file exists."""
    if not isinstance(value, str) or not value or "\0" in value:
        yield wrong_type(path, str(path[-1]), value, "the path of a file")


def name_findings(section: str, name: str, names: Mapping[str, Any] | None, path: Path) -> Iterator[Finding]:
    """Yield the finding about a name that a section does not have; None stands for an unreadable section."""
    if names is not None and name not in names:
        yield Finding("unknown-key", path, {"where": section, "key": name}, help=did_you_mean(name, names))


# ---- differences between DxDispatch's notation and case files': data types, tensors' defaults, scalar unions


# The values of a tensor's fields that DxDispatch takes as missing.
_LEFT_OUT: tuple[tuple[str, Any], ...] = (("Strides", []), ("TotalTensorSizeInBytes", 0))


def data_type(raw: Any) -> str | None:
    """Return a data type's short name as a resource gives it, in full or short, or None."""
    name = raw.removeprefix(DATA_TYPE_PREFIX) if isinstance(raw, str) else None
    return name if name in DATA_TYPES else None


def plain_desc(operator: str, desc: dict[str, Any]) -> dict[str, Any]:
    """Return a dispatchable's desc as a case file has it: the same object if there is nothing to change."""
    plain = {key: _plain_tensor(value) for key, value in desc.items()}
    return _with_plain_unions(operator, desc if all(plain[key] is desc[key] for key in desc) else plain)


# ---- tensors


def _plain_tensor(value: Any) -> Any:
    if isinstance(value, list):
        return _plain_tensors(value)
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("Desc"), dict):
        inner = _plain_tensor(value["Desc"])
        return value if inner is value["Desc"] else {**value, "Desc": inner}
    absent = [key for key, empty in _LEFT_OUT if key in value and _is_same(value[key], empty)]
    if not absent or "Sizes" not in value or "DataType" not in value:
        return value
    return {key: part for key, part in value.items() if key not in absent}


def _plain_tensors(values: list[Any]) -> list[Any]:
    parts = [_plain_tensor(value) for value in values]
    return values if all(part is given for part, given in zip(parts, values, strict=True)) else parts


def _is_same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


# ---- scalar unions


def _with_plain_unions(operator: str, desc: dict[str, Any]) -> dict[str, Any]:
    """Return a desc whose scalar unions are numbers, where one is given by its member: {Float32: inf}."""
    plain = {field.name: _member(field, desc) for field in _unions(operator)}
    given = {name: value for name, value in plain.items() if value is not None}
    return {**desc, **given} if given else desc


def _unions(operator: str) -> list[Field]:
    name = full_name(operator)
    return [field for field in load_spec(name).fields.values() if field.data_type is not None] if name else []


def _member(field: Field, desc: Mapping[str, Any]) -> Any:
    """Return the number that a union has in the member of its data type, or None if it is none of that form."""
    union, kind = desc.get(field.name), data_type(desc.get(field.data_type or ""))
    member = "UInt16" if kind == "FLOAT16" else (kind or "").capitalize().replace("Uint", "UInt")
    if not isinstance(union, dict) or list(union) != [member]:
        return None
    value = union[member]
    # The union has no half floats, but their bits.
    if kind == "FLOAT16" and type(value) is int and 0 <= value <= 0xFFFF:
        return struct.unpack("<e", struct.pack("<H", value))[0]
    return value
