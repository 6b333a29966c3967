"""The JSON Schema of case files, made from the specs, for editors and for anyone who writes case files by program."""

from __future__ import annotations

from typing import Any

from dmlcheck.cases.form import CASE_KEYS
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import DATA_TYPES, ENUMS, LEVELS, OPERATOR_PREFIX, UINT_MAX, enum_prefix
from dmlcheck.specs.records import Field, OperatorSpec

_VARIABLE = {"type": "string", "pattern": r"\$\{"}


def case_file_schema() -> dict[str, Any]:
    """Return the schema: the form of case files, and for each operator the fields of its desc."""
    operators = [load_spec(name) for name in operator_names()]
    properties = {key: {"$ref": f"#/$defs/{key}"} for key in CASE_KEYS}
    cases = {
        "type": "array",
        "items": {"$ref": "#/$defs/case"},
        "description": "Cases; the keys beside are their defaults.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dmlcheck case file",
        "description": "Operator descs of DirectML with inputs and expected outputs.",
        "type": "object",
        "properties": {"$schema": {"type": "string"}, **properties, "cases": cases},
        "additionalProperties": False,
        "allOf": [_known_operator(operators), *(_by_operator(spec) for spec in operators)],
        "$defs": {
            **{key: _or_null(schema) for key, schema in _keys().items()},
            "case": _case(operators, properties),
            "tensor": _tensor(),
            "values": _values(),
            "nested_operator": _nested_names(operators),
            **{f"desc_{spec.short}": _desc(spec) for spec in operators},
        },
    }


def _case(operators: list[OperatorSpec], properties: dict[str, Any]) -> dict[str, Any]:
    """Return the form of a case of a list."""
    conditions = [_known_operator(operators), *(_desc_when(spec) for spec in operators)]
    return {**_mapping(properties, "name"), "allOf": conditions}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Let a key of a case be null, which means that it is left out."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def _names_it(spec: OperatorSpec) -> dict[str, Any]:
    """Return the form of what names an operator and is no negative case."""
    return {
        "properties": {"operator": {"enum": [spec.operator, spec.short]}},
        "required": ["operator"],
        "not": {"required": ["invalid"]},
    }


def _desc_when(spec: OperatorSpec) -> dict[str, Any]:
    """Apply an operator's desc to a mapping that names the operator."""
    return {"if": _names_it(spec), "then": {"properties": {"desc": {"$ref": f"#/$defs/desc_{spec.short}"}}}}


def _by_operator(spec: OperatorSpec) -> dict[str, Any]:
    """Apply an operator's desc to a file that names it, and to its cases that name no other."""
    desc = {"$ref": f"#/$defs/desc_{spec.short}"}
    case = {
        "if": {"not": {"anyOf": [{"required": ["operator"]}, {"required": ["invalid"]}]}},
        "then": {"properties": {"desc": desc}},
    }
    return {"if": _names_it(spec), "then": {"properties": {"desc": desc, "cases": {"items": case}}}}


def _nested_names(operators: list[OperatorSpec]) -> dict[str, Any]:
    """Name the operators that some operator may hold inside."""
    allowed: set[str] = set()
    for spec in operators:
        for row in spec.constraints:
            if row.word == "operators":
                allowed.update(name for names in row.args.values() for name in names)
    names = sorted(allowed)
    return {"anyOf": [{"enum": [*names, *(OPERATOR_PREFIX + name for name in names)]}, _VARIABLE]}


def _known_operator(operators: list[OperatorSpec]) -> dict[str, Any]:
    """Let only a negative case name an operator that does not exist."""
    names = [name for spec in operators for name in (spec.operator, spec.short)]
    return {
        "if": {"not": {"required": ["invalid"]}},
        "then": {"properties": {"operator": {"anyOf": [{"enum": names}, _VARIABLE]}}},
    }


def _keys() -> dict[str, Any]:
    """Return the form of each key of a case."""
    return {
        "name": _text("Unique in the file; a case's id is PATH::NAME."),
        "operator": _text("A DML_OPERATOR, in full or without the prefix."),
        "feature_level": {
            "description": "The level that the desc is validated at; the newest by default.",
            "anyOf": [{"enum": list(LEVELS)}, {"type": ["string", "number"]}],
        },
        "desc": {"type": "object", "description": "The operator's fields, as DirectML.h names them."},
        "inputs": _tensor_values("The values of the input tensors."),
        "outputs": _tensor_values(
            "The expected values of the output tensors; `any` for an element that the documentation leaves open."
        ),
        "invalid": {
            "type": "array",
            "items": {"type": "string"},
            "description": "A negative case: exactly the rules or constraints that the desc breaks.",
        },
        "source": _text("Where the expected values come from."),
        "tags": {"type": "array", "items": {"type": "string"}},
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
    limits: dict[str, Any] = {name: {"anyOf": [number, _VARIABLE]} for name in ("ulp", "absolute", "relative")}
    own = {
        "type": "object",
        "properties": {**limits, "reason": _text("Why the operator's own tolerance does not do.")},
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in limits],
    }
    return {
        "description": "How far a float may be off; by default what the operator's spec says.",
        "anyOf": [{"const": "exact"}, own, _VARIABLE],
    }


def _tensor_values(description: str) -> dict[str, Any]:
    values = {"anyOf": [{"$ref": "#/$defs/values"}, {"type": "null"}]}
    return {"type": "object", "description": description, "additionalProperties": values}


def _values() -> dict[str, Any]:
    one = {"type": ["number", "string"]}
    forms = {
        "fill": one,
        "sequence": _mapping({"start": {}, "step": {}}),
        "random": _mapping({"seed": {}, "low": {}, "high": {}}, "seed"),
        "file": {"type": "string"},
        "bits": {"type": "array"},
        "buffer": {"type": "array"},
    }
    generated = {**_mapping(forms), "minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"type": "array"}, generated, _VARIABLE]}


def _mapping(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """Return the form of a mapping with these keys and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _tensor() -> dict[str, Any]:
    size = {"anyOf": [{"type": "integer", "minimum": 0, "maximum": UINT_MAX}, _VARIABLE]}
    sizes = {"anyOf": [{"type": "array", "items": size}, _VARIABLE]}
    flag = _enum("DML_TENSOR_FLAGS")
    optional: dict[str, Any] = {
        "Flags": {"anyOf": [flag, {"type": "array", "items": flag}]},
        "DimensionCount": size,
        "Strides": sizes,
        "TotalTensorSizeInBytes": {"anyOf": [{"type": "integer", "minimum": 0}, _VARIABLE]},
        "GuaranteedBaseOffsetAlignment": size,
    }
    fields = {
        "Type": _enum("DML_TENSOR_TYPE"),
        "DataType": _enum("DML_TENSOR_DATA_TYPE", list(DATA_TYPES)),
        "Sizes": sizes,
        **{name: {"anyOf": [schema, {"type": "null"}]} for name, schema in optional.items()},
    }
    short = _mapping(fields, "DataType", "Sizes")
    long = _mapping({"Type": _enum("DML_TENSOR_TYPE"), "Desc": short}, "Desc")
    return {"anyOf": [short, long, _VARIABLE]}


def _enum(enum: str, values: list[str] | None = None) -> dict[str, Any]:
    names = values or list(ENUMS[enum])
    return {"anyOf": [{"enum": [*names, *(enum_prefix(enum) + name for name in names)]}, _VARIABLE]}


def _desc(spec: OperatorSpec) -> dict[str, Any]:
    return {
        "type": "object",
        "description": spec.page["url"],
        "properties": {name: _field(field) for name, field in spec.fields.items()},
        "additionalProperties": False,
    }


_WORD = {"type": "string", "pattern": r"^\s*[+-]?([Ii][Nn][Ff]|[Nn][Aa][Nn])\s*$"}
_PLAIN: dict[str, list[dict[str, Any]]] = {
    "UINT": [{"type": "integer", "minimum": 0, "maximum": UINT_MAX}],
    "INT": [{"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}],
    "FLOAT": [{"type": "number"}, _WORD],
    "SCALAR_UNION": [{"type": "number"}, _WORD],
    "BOOL": [{"type": "boolean"}, {"enum": [0, 1]}],
}


def _struct(part: str, *names: str) -> dict[str, Any]:
    return _mapping({name: {"anyOf": [*_PLAIN[part], _VARIABLE]} for name in names}, *names)


_OPERATOR = {
    "type": "object",
    "properties": {"Type": {"$ref": "#/$defs/nested_operator"}},
    "required": ["Type"],
    "description": "An operator inside this one: its Type, and its fields but for its tensors.",
}
_NOT_PLAIN: dict[str, dict[str, Any]] = {
    "TENSOR_DESC": {"$ref": "#/$defs/tensor"},
    "TENSOR_DESC_ARRAY": {"type": "array", "items": {"$ref": "#/$defs/tensor"}},
    "SIZE_2D": _struct("UINT", "Width", "Height"),
    "SCALE_BIAS": _struct("FLOAT", "Scale", "Bias"),
    "OPERATOR_DESC": _OPERATOR,
    "OPERATOR_DESC_ARRAY": {"type": "array", "items": _OPERATOR},
}


def _field(field: Field) -> dict[str, Any]:
    kind = "BOOL" if field.boolean else field.type
    if field.enum is not None:
        schema = _enum(field.enum)
    elif kind in _NOT_PLAIN:
        schema = _NOT_PLAIN[kind]
    else:
        schema = {"anyOf": [*_PLAIN[kind.removesuffix("_ARRAY")], _VARIABLE]}
        if kind.endswith("_ARRAY"):
            schema = {"anyOf": [{"type": "array", "items": schema}, _VARIABLE]}
    if field.optional or field.counts:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": field.about} if field.about else schema
