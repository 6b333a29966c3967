"""Reading the fields of a desc: names, types and counts, whatever the feature level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dmlcheck import specs
from dmlcheck.diagnostics import Finding, describe, unknown_names
from dmlcheck.diagnostics import elements as count_text
from dmlcheck.document import Path
from dmlcheck.fields import EXPECTED, is_uint, read_enum, read_uints
from dmlcheck.header import ENUMS
from dmlcheck.model import OUTPUT, Field, OperatorDesc, OperatorSpec, TensorDesc
from dmlcheck.tensors import read_tensor

_Findings = list[Finding]


class Reading(NamedTuple):
    """A desc read against its operator's spec: its fields, and what is wrong at every level alike."""

    desc: OperatorDesc | None
    findings: tuple[Finding, ...]


def read_desc(operator: str, raw: Any) -> Reading:
    """Read the fields of a desc; the findings are those that no feature level would change."""
    name = specs.full_name(operator)
    if name is None:
        close = specs.closest_operator(operator)
        help = f"did you mean {close}?" if close else "`dmlcheck show` lists the operators"
        return Reading(None, (Finding("unknown-operator", ("operator",), {"found": operator or "''"}, help=help),))
    if not isinstance(raw, Mapping):
        params = {"field": "desc", "found": describe(raw), "expected": f"a mapping with the fields of {name}"}
        return Reading(None, (Finding("field-type", ("desc",), params),))
    spec = specs.load(name)
    findings: _Findings = []
    values = _read_fields(spec, raw, findings)
    below_desc = tuple(finding._replace(path=("desc", *finding.path)) for finding in findings)
    return Reading(OperatorDesc.of(spec, values), below_desc)


def _read_fields(spec: OperatorSpec, raw: Mapping[str, Any], findings: _Findings) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in spec.fields.items():
        given = raw.get(name)
        if given is not None:
            value = _READERS[field.type](field, given, (name,), findings)
            if value is not None:
                values[name] = value
        elif not field.optional and not field.counts:
            params = {"operator": spec.operator, "field": name}
            findings.append(Finding("missing-field", (name,), params, help=f"{name} is {_expected(field)}"))
    for key, help in unknown_names(raw, spec.fields, "its fields are"):
        params = {"operator": spec.operator, "field": key}
        findings.append(Finding("unknown-field", (key,), params, help=help, at_key=True))
    for field in spec.fields.values():
        for array in field.counts:
            _count(field.name, array, raw, values, findings)
    return values


def _count(name: str, array: str, raw: Mapping[str, Any], values: dict[str, Any], findings: _Findings) -> None:
    """Fill in a count that follows from its array, or compare the one that is given."""
    elements = values.get(array)
    if elements is None:
        return
    if raw.get(name) is None:
        values.setdefault(name, len(elements))
    count = values.get(name)
    if count is not None and count != len(elements):
        params = {"count": name, "found": count, "array": array, "length": count_text(len(elements))}
        help = f"write {len(elements)}, or leave {name} out"
        findings.append(Finding("count-mismatch", (name,), params, help=help))


# ---- field types


def _read_uint(field: Field, given: Any, path: Path, findings: _Findings) -> int | str | None:
    if field.enum is not None:
        return read_enum(field.enum, field.name, given, path, findings)
    if is_uint(given):
        return given  # type: ignore[no-any-return]
    params = {"field": field.name, "found": describe(given), "expected": _expected(field)}
    findings.append(Finding("field-type", path, params))
    return None


def _read_uint_array(field: Field, given: Any, path: Path, findings: _Findings) -> tuple[int, ...] | None:
    return read_uints(field.name, given, path, findings)


def _read_tensor(field: Field, given: Any, path: Path, findings: _Findings) -> TensorDesc | None:
    return read_tensor(field.name, given, path, findings, is_output=field.kind == OUTPUT)


def _expected(field: Field) -> str:
    return f"one of {' '.join(ENUMS[field.enum])}" if field.enum else EXPECTED[field.type]


_READERS: dict[str, Callable[[Field, Any, Path, _Findings], Any]] = {
    "UINT": _read_uint,
    "UINT_ARRAY": _read_uint_array,
    "TENSOR_DESC": _read_tensor,
}
