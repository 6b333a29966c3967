"""The JSON Schema of case files, for editors and programs, and the C++ header that writes descs, from the specs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dmlcheck import __version__
from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS, FEATURE_LEVELS, LEVELS, OPERATOR_PREFIX, OTHER_NAMES, UINT_MAX, enum_prefix
from dmlcheck.specs.records import Field, OperatorSpec

ID = "urn:dmlcheck:case-file"


def case_file_schema() -> dict[str, Any]:
    """Return the schema: the form of case files, and for each operator the fields of its desc.

    Common parts of operators (types, enumerations, tensors) are defined once. A definition that fields refer to has no
    description, so that an editor shows the field's own.
    """
    operators = [load_spec(name) for name in operator_names()]
    shared = _shared_fields(operators)
    properties = {key: _of(key) for key in CASE_KEYS}
    by_operator = [_of("by_operator")]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "dmlcheck case file",
        "description": "Operator descs of DirectML with inputs and expected outputs.",
        "type": "object",
        "properties": {"$schema": {"type": "string"}, **properties, "cases": _cases()},
        "additionalProperties": False,
        "allOf": by_operator,
        "$defs": {
            **{key: _or_null(schema) for key, schema in _keys().items()},
            "case": {**_mapping(properties, "name"), "allOf": by_operator},
            "by_operator": _by_operator(operators),
            "heir": {"not": {"anyOf": [{"required": ["operator"]}, {"required": ["invalid"]}]}},
            "variable": {"type": "string", "pattern": _VARIABLE_PATTERN},
            "values": _values(),
            "operator_name": _one_of(
                prefix + name for spec in operators for name in _names(spec) for prefix in (OPERATOR_PREFIX, "")
            ),
            "nested_name": _one_of(_nested_names(operators)),
            **_types(operators),
            **{name: _field(field) for field, name in shared.items()},
            **{spec.short: _operator(spec, shared) for spec in operators},
        },
    }


def schema_text() -> str:
    """Return the schema as it is printed: a line for each key and each definition."""
    schema = case_file_schema()
    definitions = schema.pop("$defs")
    lines = [f"{json.dumps(key)}: {_compact(value)}," for key, value in schema.items()]
    defined = [f"{json.dumps(key)}: {_compact(value)}" for key, value in definitions.items()]
    return "\n".join(["{", *lines, '"$defs": {', ",\n".join(defined), "}", "}"])


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


_VARIABLE = _of("variable")
_VARIABLE_PATTERN = r"\$\{"


def _one_of(names: Iterable[str | int]) -> dict[str, Any]:
    """Return the form of a name, for which a variable of a matrix may stand."""
    return {"anyOf": [{"enum": list(names)}, _VARIABLE]}


def _or_variable(schema: dict[str, Any], description: str | None = None) -> dict[str, Any]:
    """Let a variable of a matrix stand for a value that is no text itself; mistakes in the value keep their places."""
    described = {} if description is None else {"description": description}
    return {**described, **schema, "type": [schema["type"], "string"], "pattern": _VARIABLE_PATTERN}


def _enumeration(enum: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the form of an enumeration's value: its suffix, its name in full, or its number."""
    return _one_of((*names, *(enum_prefix(enum) + name for name in names), *range(len(names))))


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Let a key of a case be null, which means that it is left out."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}


# ---- what depends on the operator


def _by_operator(operators: list[OperatorSpec]) -> dict[str, Any]:
    """Apply an operator's form to cases of the operator, except negative ones, which may have unknown fields."""
    names = {spec.short: {"pattern": f"^({OPERATOR_PREFIX})?({'|'.join(_names(spec))})$"} for spec in operators}
    rules = [{"if": {"properties": {"operator": name}}, "then": _of(short)} for short, name in names.items()]
    is_named = {"required": ["operator"], "properties": {"operator": {"type": "string"}}}
    known = {"properties": {"operator": _of("operator_name")}}
    return {"if": {"required": ["invalid"]}, "else": {**known, "if": is_named, "then": {"allOf": rules}}}


def _names(spec: OperatorSpec) -> list[str]:
    return [spec.short, *(other for other, short in OTHER_NAMES.items() if short == spec.short)]


def _operator(spec: OperatorSpec, shared: Mapping[Field, str]) -> dict[str, Any]:
    """Return the form of a file or a case of an operator: its desc, and the descs of cases that name no other."""
    desc = {
        "type": ["object", "string"],  # a text is a variable, as the key's own form says
        "description": spec.page["url"],
        "properties": {
            name: _of(shared[field]) if field in shared else _field(field) for name, field in spec.fields.items()
        },
        "additionalProperties": False,
    }
    cases = {"items": {"if": _of("heir"), "then": _of(spec.short)}}
    return {"properties": {"desc": desc, "cases": cases}}


def _shared_fields(operators: list[OperatorSpec]) -> dict[Field, str]:
    """Return the fields that several operators have alike, each with the name of its definition."""
    times = Counter(field for spec in operators for field in spec.fields.values())
    shared = [field for field, count in times.items() if count > 1]
    numbers: Counter[str] = Counter()
    names = {}
    for field in shared:
        numbers[field.name] += 1
        names[field] = f"{field.name}_{numbers[field.name]}"
    return names


def _field(field: Field) -> dict[str, Any]:
    schema = _of(_type_name(field))
    return {**schema, "description": field.about} if field.about else schema


def _type_name(field: Field) -> str:
    """Return the name of the definition of a field's type."""
    name = field.enum or ("BOOL" if field.boolean else field.type)
    return f"{name}_or_null" if field.optional or field.counts else name


def _nested_names(operators: list[OperatorSpec]) -> list[str]:
    """Return the names of the operators that can be nested in another."""
    rows = [row for spec in operators for row in spec.constraints if row.word == "operators"]
    names = sorted({name for row in rows for listed in row.args.values() for name in listed})
    return [*names, *(OPERATOR_PREFIX + name for name in names)]


# ---- the keys of a case


def _cases() -> dict[str, Any]:
    return {"type": "array", "items": _of("case"), "description": "Cases; the other keys are their defaults."}


_STRINGS = {"type": "array", "items": {"type": "string"}}


def _keys() -> dict[str, Any]:
    return {
        "name": _text("Unique in the file; a case's id is PATH::NAME."),
        "operator": _text("A DML_OPERATOR, in full or without the prefix."),
        "feature_level": {
            "description": "The level that the desc is validated at; the newest by default.",
            "anyOf": [{"enum": list(LEVELS)}, {"type": ["string", "number"]}],
        },
        "desc": _or_variable({"type": "object"}, "The operator's fields, as DirectML.h names them."),
        "inputs": _tensor_values("The values of the input tensors."),
        "outputs": _tensor_values("The expected values of the output tensors; `any` for an element that is undefined."),
        "invalid": _or_variable(_STRINGS, "A negative case: exactly the rules or constraints that the desc breaks."),
        "source": _text("Where the expected values come from."),
        "tags": _or_variable(_STRINGS),
        "tolerance": _tolerance(),
        "matrix": {
            "type": "object",
            "description": "One case for each combination; ${NAME} stands for the value.",
            "additionalProperties": {"type": "array", "minItems": 1},
        },
        "note": {"type": "string", "minLength": 1},
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _tolerance() -> dict[str, Any]:
    number = {"type": "number", "minimum": 0}
    limits: dict[str, Any] = {name: _or_variable(number) for name in ("ulp", "absolute", "relative")}
    own = {
        "type": "object",
        "properties": {**limits, "reason": _text("Why the operator's own tolerance does not do.")},
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in limits],
    }
    return {
        "description": "How far a float may be off; by default as in the operator's spec.",
        "anyOf": [{"const": "exact"}, own, _VARIABLE],
    }


def _tensor_values(description: str) -> dict[str, Any]:
    values = {"anyOf": [_of("values"), {"type": "null"}]}
    return _or_variable({"type": "object", "additionalProperties": values}, description)


def _values() -> dict[str, Any]:
    one = {"type": ["number", "string"]}
    forms = {
        "fill": one,
        "sequence": _or_variable(_mapping({"start": {}, "step": {}})),
        "random": _or_variable(_mapping({"seed": {}, "low": {}, "high": {}, "binades": {}}, "seed")),
        "file": {"type": "string"},
        "bits": _or_variable({"type": "array"}),
        "buffer": _or_variable({"type": "array"}),
    }
    generated = {**_mapping(forms), "minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"type": "array"}, generated, _VARIABLE]}


def _mapping(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """Return the form of a mapping with these keys and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


# ---- the types of fields


def _types(operators: list[OperatorSpec]) -> dict[str, Any]:
    """Return the definitions of the types of fields and of the enumerations, and of the nullable ones."""
    enums = {enum: _enumeration(enum, names) for enum, names in ENUMS.items()}
    known: dict[str, Any] = {**_plain_types(), **_TYPES, **enums, "TENSOR_DESC": _tensor()}
    of_fields = {_type_name(field) for spec in operators for field in spec.fields.values()}
    used = {name for name in known if f"{name}_or_null" in {*of_fields, "UINT_or_null", "UINT_ARRAY_or_null"}}
    return {**known, **{f"{name}_or_null": {"anyOf": [_of(name), {"type": "null"}]} for name in sorted(used)}}


_WORD = {"type": "string", "pattern": r"^\s*[+-]?([Ii][Nn][Ff]|[Nn][Aa][Nn])\s*$"}
_PLAIN: dict[str, list[dict[str, Any]]] = {
    "UINT": [{"type": "integer", "minimum": 0, "maximum": UINT_MAX}],
    "INT": [{"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}],
    "FLOAT": [{"type": "number"}, _WORD],
    "SCALAR_UNION": [{"type": "number"}, _WORD],
    "BOOL": [{"type": "boolean"}, {"enum": [0, 1]}],
}


def _plain_types() -> dict[str, Any]:
    """Return the definitions of numbers and of lists of numbers."""
    numbers = {name: {"anyOf": [*forms, _VARIABLE]} for name, forms in _PLAIN.items()}
    return {**numbers, **{f"{name}_ARRAY": _list_of(name) for name in ("UINT", "INT", "FLOAT")}}


def _list_of(name: str) -> dict[str, Any]:
    return _or_variable({"type": "array", "items": _of(name)})


def _struct(part: str, *names: str) -> dict[str, Any]:
    return _or_variable(_mapping({name: _of(part) for name in names}, *names))


_TYPES: dict[str, dict[str, Any]] = {
    "TENSOR_DESC_ARRAY": _list_of("TENSOR_DESC"),
    "SIZE_2D": _struct("UINT", "Width", "Height"),
    "SCALE_BIAS": _struct("FLOAT", "Scale", "Bias"),
    "OPERATOR_DESC": _or_variable({"type": "object", "properties": {"Type": _of("nested_name")}, "required": ["Type"]}),
    "OPERATOR_DESC_ARRAY": _list_of("OPERATOR_DESC"),
}


def _tensor() -> dict[str, Any]:
    flag, kind = _of("DML_TENSOR_FLAGS"), _of("DML_TENSOR_TYPE")
    fields = {
        "Type": kind,
        "DataType": _of("DML_TENSOR_DATA_TYPE"),
        "Sizes": _of("UINT_ARRAY"),
        "Flags": {"anyOf": [flag, {"type": "array", "items": flag}, {"type": "null"}]},
        "DimensionCount": _of("UINT_or_null"),
        "Strides": _of("UINT_ARRAY_or_null"),
        "TotalTensorSizeInBytes": {"anyOf": [{"type": "integer", "minimum": 0}, _VARIABLE, {"type": "null"}]},
        "GuaranteedBaseOffsetAlignment": _of("UINT_or_null"),
    }
    short = _mapping(fields, "DataType", "Sizes")
    return {"anyOf": [short, _mapping({"Type": kind, "Desc": _or_variable(short)}, "Desc"), _VARIABLE]}


# ---- the C++ header that writes DirectML's descs in the notation


def header_text() -> str:
    """Return the header: the common text of desc_header.h, and the code for the fields of each operator."""
    with open(os.path.join(os.path.dirname(__file__), "desc_header.h"), encoding="utf-8") as file:
        text = file.read()
    operators = [load_spec(name) for name in operator_names()]
    parts = {
        "VERSION": __version__,
        "ENUMS": "\n".join(_cpp_names(enum) for enum in ENUMS),
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


def _cpp_struct(spec: OperatorSpec) -> str:
    return f"DML_{spec.short}_OPERATOR_DESC"


def _case(spec: OperatorSpec) -> str:
    return f'    case {spec.operator}: return as<{_cpp_struct(spec)}>("{spec.operator}", desc, type, fields);'


def _function(spec: OperatorSpec) -> str:
    """Return the function that writes the fields of an operator, in the order of its struct."""
    counts = {array: field.name for field in spec.fields.values() for array in field.counts}
    lines = [f"    out.{_written(field, counts)};" for field in spec.fields.values()]
    opening = f"inline void write_fields(Writer& out, const {_cpp_struct(spec)}& desc)"
    return "\n".join([opening, "{", *lines, "}"])


_POINTERS = ("TENSOR_DESC", "OPERATOR_DESC", "SCALE_BIAS")


def _written(field: Field, counts: dict[str, str]) -> str:
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


def _cpp_names(enum: str) -> str:
    names = "".join(f'\n    "{name}",' for name in ENUMS[enum])
    return f"inline constexpr const char* {_variable(enum)}[] = {{{names}\n}};"
