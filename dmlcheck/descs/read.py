"""Reading the fields of a desc: names, types and counts, whatever the feature level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.fields import EXPECTED, is_finite_as, read_enum, read_number, read_numbers, read_struct
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.tensors import read_tensor
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe, elements_text, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.specs.load import closest_operator, full_name, load_spec
from dmlcheck.specs.names import DATA_TYPES, ENUMS
from dmlcheck.specs.records import OUTPUT, Field, OperatorSpec

_Findings = list[Finding]


class Reading(NamedTuple):
    """A desc read against its operator's spec: its fields, and what is wrong at every level alike."""

    desc: OperatorDesc | None
    findings: tuple[Finding, ...]


def read_desc(operator: str, raw: Any) -> Reading:
    """Read the fields of a desc; the findings are those that no feature level would change."""
    name = full_name(operator) if isinstance(operator, str) else None
    if name is None:
        operator = operator if isinstance(operator, str) else describe(operator)
        return Reading(None, (_unknown_operator(operator, ("operator",)),))
    if not isinstance(raw, Mapping):
        params = {"field": "desc", "found": describe(raw), "expected": f"a mapping with the fields of {name}"}
        return Reading(None, (Finding("field-type", ("desc",), params),))
    findings: _Findings = []
    desc = _read_fields(load_spec(name), raw, ("desc",), findings)
    return Reading(desc, tuple(findings))


def _unknown_operator(operator: str, path: Path) -> Finding:
    close = closest_operator(operator)
    help = f"did you mean {close}?" if close else "`dmlcheck show` lists the operators"
    return Finding("unknown-operator", path, {"found": operator or "''"}, help=help)


def _read_fields(
    spec: OperatorSpec, raw: Mapping[str, Any], path: Path, findings: _Findings, *, is_nested: bool = False
) -> OperatorDesc:
    values: dict[str, Any] = {}
    broken: set[str] = set()
    for name, field in spec.fields.items():
        given = raw.get(name)
        if is_nested and field.is_tensor:
            _no_tensor(name, given, path, findings)
        elif given is not None:
            value = _READERS[field.type](field, given, (*path, name), findings)
            if value is not None:
                values[name] = value
            else:
                broken.add(name)
        elif not field.optional and not field.counts:
            params = {"operator": spec.operator, "field": name}
            findings.append(Finding("missing-field", (*path, name), params, help=f"{name} is {_expected(field)}"))
    for key, help in unknown_names(raw, spec.fields, "its fields are"):
        params = {"operator": spec.operator, "field": key}
        findings.append(Finding("unknown-field", (*path, key), params, help=help, at_key=True))
    for field in spec.fields.values():
        if field.counts:
            _count(field, raw, values, path, findings)
        elif field.data_type is not None:
            _scalar(field, values, path, findings)
    derived = frozenset(field.name for field in spec.fields.values() if field.counts and raw.get(field.name) is None)
    return OperatorDesc.of(spec, values, frozenset(broken))._replace(derived=derived)


def _no_tensor(name: str, given: Any, path: Path, findings: _Findings) -> None:
    if given is not None:
        params = {"field": name, "why": "inside another operator, whose tensors it takes"}
        findings.append(Finding("excluded-field", (*path, name), params, help=f"leave {name} out"))


def _count(field: Field, raw: Mapping[str, Any], values: dict[str, Any], path: Path, findings: _Findings) -> None:
    """Fill in a count that follows from its arrays, or compare the one that is given with each of them."""
    name = field.name
    lengths = {array: len(values[array]) for array in field.counts if array in values}
    if raw.get(name) is None and lengths:
        values[name] = next(iter(lengths.values()))
    count = values.get(name)
    for array, length in lengths.items():
        if count is not None and count != length:
            params = {"count": name, "found": count, "array": array, "length": elements_text(length)}
            if raw.get(name) is None:
                place, help = array, f"{next(iter(lengths))}, which {name} counts as well, has {elements_text(count)}"
            else:
                place, help = name, f"write {length}, or leave {name} out"
            findings.append(Finding("count-mismatch", (*path, place), params, help=help))
            del values[name]  # which of the two is meant is not known, so no row judges it
            return


def _scalar(field: Field, values: dict[str, Any], path: Path, findings: _Findings) -> None:
    """Report a scalar that the data type which another field gives it cannot hold."""
    value: Any = values.get(field.name)
    data_type: str = values.get(field.data_type or "") or ""
    kind, bits = DATA_TYPES[data_type] if data_type else ("none", 0)
    if value is None or kind == "none":
        return
    if kind == "float":
        is_held, help = is_finite_as(data_type, value), "write inf, or a smaller value"
    else:
        low, high = (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        is_held = low <= value <= high and value == int(value)
        help = f"{data_type} holds whole numbers from {low} to {high}"
    if not is_held:
        params = {"element": field.name, "found": describe(value), "type": data_type}
        findings.append(Finding("value-not-representable", (*path, field.name), params, help=help))
        del values[field.name]


# ---- field types


def _read_plain(field: Field, given: Any, path: Path, findings: _Findings) -> Any:
    if field.enum is not None:
        return read_enum(field.enum, field.name, given, path, findings)
    return read_number("BOOL" if field.boolean else field.type, field.name, given, path, findings)


def _read_array(field: Field, given: Any, path: Path, findings: _Findings) -> tuple[Any, ...] | None:
    return read_numbers(field.type.removesuffix("_ARRAY"), field.name, given, path, findings)


def _read_struct(field: Field, given: Any, path: Path, findings: _Findings) -> Any:
    return read_struct(field.type, field.name, given, path, findings)


def _read_tensor(field: Field, given: Any, path: Path, findings: _Findings) -> TensorDesc | None:
    return read_tensor(field.name, given, path, findings, is_output=field.kind == OUTPUT)


def _read_tensors(field: Field, given: Any, path: Path, findings: _Findings) -> tuple[TensorDesc | None, ...] | None:
    if not isinstance(given, (list, tuple)):
        _mistyped(field, given, path, findings)
        return None
    is_output = field.kind == OUTPUT
    return tuple(
        read_tensor(f"{field.name}[{index}]", part, (*path, index), findings, is_output=is_output)
        for index, part in enumerate(given)
    )


def _read_operator(field: Field, given: Any, path: Path, findings: _Findings) -> OperatorDesc | None:
    """Read an operator inside an operator: {Type, ...fields} or {Type, Desc}."""
    if not isinstance(given, Mapping):
        _mistyped(field, given, path, findings)
        return None
    operator = given.get("Type")
    if operator is None:
        params = {"operator": field.name, "field": "Type"}
        findings.append(Finding("missing-field", (*path, "Type"), params, help="Type names the operator"))
        return None
    if not isinstance(operator, str):
        params = {"field": f"{field.name}.Type", "found": describe(operator), "expected": "an operator's name"}
        findings.append(Finding("field-type", (*path, "Type"), params))
        return None
    name = full_name(operator)
    if name is None:
        findings.append(_unknown_operator(operator, (*path, "Type")))
        return None
    is_long = "Desc" in given
    inner = given["Desc"] if is_long else {key: given[key] for key in given if key != "Type"}
    for key in given if is_long else ():
        if key not in ("Type", "Desc"):
            params = {"operator": field.name, "field": key}
            help = "with Desc, all fields but Type belong inside it"
            findings.append(Finding("unknown-field", (*path, key), params, help=help, at_key=True))
    if not isinstance(inner, Mapping):
        params = {"field": f"{field.name}.Desc", "found": describe(inner), "expected": f"the fields of {name}"}
        findings.append(Finding("field-type", (*path, "Desc"), params))
        return None
    steps = ("Desc",) if is_long else ()
    return _read_fields(load_spec(name), inner, (*path, *steps), findings, is_nested=True)._replace(steps=steps)


def _read_operators(
    field: Field, given: Any, path: Path, findings: _Findings
) -> tuple[OperatorDesc | None, ...] | None:
    if not isinstance(given, (list, tuple)):
        _mistyped(field, given, path, findings)
        return None
    return tuple(_read_operator(field, part, (*path, index), findings) for index, part in enumerate(given))


def _mistyped(field: Field, given: Any, path: Path, findings: _Findings) -> None:
    params = {"field": field.name, "found": describe(given), "expected": EXPECTED[field.type]}
    findings.append(Finding("field-type", path, params))


def _expected(field: Field) -> str:
    if field.enum:
        return f"one of {' '.join(ENUMS[field.enum])}"
    return EXPECTED["BOOL" if field.boolean else field.type]


_READERS: dict[str, Callable[[Field, Any, Path, _Findings], Any]] = {
    "UINT": _read_plain,
    "INT": _read_plain,
    "FLOAT": _read_plain,
    "BOOL": _read_plain,
    "SCALAR_UNION": _read_plain,
    "UINT_ARRAY": _read_array,
    "INT_ARRAY": _read_array,
    "FLOAT_ARRAY": _read_array,
    "SIZE_2D": _read_struct,
    "SCALE_BIAS": _read_struct,
    "TENSOR_DESC": _read_tensor,
    "TENSOR_DESC_ARRAY": _read_tensors,
    "OPERATOR_DESC": _read_operator,
    "OPERATOR_DESC_ARRAY": _read_operators,
}
