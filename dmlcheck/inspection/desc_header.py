"""The C++ header that writes DirectML's descs in the notation, made from the specs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from dmlcheck import __version__
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS, FEATURE_LEVELS, LEVELS
from dmlcheck.specs.records import Field, OperatorSpec


def header_text() -> str:
    """Return the header: the common text of desc_header.h, and the code for the fields of each operator."""
    with open(os.path.join(os.path.dirname(__file__), "desc_header.h"), encoding="utf-8") as file:
        text = file.read()
    operators = [load_spec(name) for name in operator_names()]
    parts = {
        "VERSION": __version__,
        "ENUMS": "\n".join(_names(enum) for enum in ENUMS),
        "FIELDS": _by_level(operators, _function),
        "CASES": _by_level(operators, _case),
    }
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text.removesuffix("\n")


def _by_level(operators: Iterable[OperatorSpec], written: Callable[[OperatorSpec], str]) -> str:
    """Return the code of each operator; for an operator of a later level, under a condition on the header's level."""
    blocks = []
    for level in LEVELS:
        code = "\n".join(written(spec) for spec in operators if spec.introduced == level)
        if not code:
            continue
        if level != LEVELS[0]:
            code = f"#if DML_TARGET_VERSION >= {FEATURE_LEVELS[level].value:#x}\n{code}\n#endif"
        blocks.append(code)
    return "\n\n".join(blocks)


def _struct(spec: OperatorSpec) -> str:
    return f"DML_{spec.short}_OPERATOR_DESC"


def _case(spec: OperatorSpec) -> str:
    return f'    case {spec.operator}: return as<{_struct(spec)}>("{spec.operator}", desc, type, fields);'


def _function(spec: OperatorSpec) -> str:
    """Return the function that writes the fields of an operator, in the order of its struct."""
    counts = {array: field.name for field in spec.fields.values() for array in field.counts}
    lines = [f"    out.{_written(field, counts)};" for field in spec.fields.values()]
    opening = f"inline void write_fields(Writer& out, const {_struct(spec)}& desc)"
    return "\n".join([opening, "{", *lines, "}"])


_POINTERS = ("TENSOR_DESC", "OPERATOR_DESC", "SCALE_BIAS")


def _written(field: Field, counts: dict[str, str]) -> str:
    """Return the call that writes a field."""
    given = f'"{field.name}", desc.{field.name}'
    if field.enum is not None:
        return f"choice({given}, {_variable(field.enum)})"
    if field.boolean or field.type == "BOOL":
        return f"flag({given})"
    if field.data_type is not None:
        return f"scalar({given}, desc.{field.data_type})"
    if field.type.endswith("_ARRAY"):
        return f"array({given}, desc.{counts[field.name]})"
    return f"pointer({given})" if field.type in _POINTERS else f"field({given})"


def _variable(enum: str) -> str:
    """Return the name of the list of an enumeration's values: `axis_direction` of DML_AXIS_DIRECTION."""
    return enum.removeprefix("DML_").lower()


def _names(enum: str) -> str:
    names = "".join(f'\n    "{name}",' for name in ENUMS[enum])
    return f"inline constexpr const char* {_variable(enum)}[] = {{{names}\n}};"
