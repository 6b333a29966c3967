"""A case made ready to run: its values read, its memory and its contents checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmlcheck.descs.records import OperatorDesc, Part
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe, did_you_mean, size_text
from dmlcheck.specs.records import INPUT, OUTPUT, Field
from dmlcheck.validation import constraint_words

_LARGE = 2**20  # elements; what is smaller is not worth asking for the memory that is left
HEADROOM = 256 * 2**20  # bytes that a kernel may take beside its inputs and outputs


def content_findings(desc: OperatorDesc, inputs: Mapping[str, Any], level: str) -> list[Finding]:
    """Return what the values of inputs break of the rows that are about them."""
    if not any(row.word in constraint_words.VALUE_WORDS for row in desc.spec.constraints):
        return []
    from dmlcheck.validation import value_words

    return list(value_words.findings(desc, inputs, level))


def read_inputs(
    desc: OperatorDesc,
    given: Mapping[str, Any],
    source: Any,
    findings: list[Finding],
    *,
    needed: bool = True,
) -> dict[str, Any]:
    """Return the values of a desc's input tensors as arrays, by field; lists of arrays for arrays of tensors."""
    from dmlcheck.values.read import read_values

    inputs: dict[str, Any] = {}
    _unexpected(desc, given, INPUT, "inputs", findings)
    for field in desc.spec.inputs:
        arrays = [
            read_values(part.label, part.tensor, raw, ("inputs", *part.path), source, findings)
            for part, raw in _values(desc, field, given, "inputs", findings, needed=needed)
        ]
        if arrays:
            inputs[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return inputs


def read_outputs(desc: OperatorDesc, given: Mapping[str, Any], source: Any, findings: list[Finding]) -> dict[str, Any]:
    """Return the expected values of a desc's output tensors, each with its tensor, by output."""
    from dmlcheck.values.read import read_values

    expected: dict[str, Any] = {}
    _unexpected(desc, given, OUTPUT, "outputs", findings)
    for field in desc.spec.outputs:
        for part, raw in _values(desc, field, given, "outputs", findings, needed=False):
            values = read_values(part.label, part.tensor, raw, ("outputs", *part.path), source, findings)
            if values is not None:
                expected[part.label] = (part.tensor, values)
    return expected


def _values(
    desc: OperatorDesc,
    field: Field,
    given: Mapping[str, Any],
    section: str,
    findings: list[Finding],
    *,
    needed: bool,
) -> list[tuple[Part, Any]]:
    """Pair the tensors of a field with their values."""
    parts = desc.parts[field.name]
    raw = given.get(field.name)
    if raw is None:
        if needed and parts:
            params = {"tensor": field.name, "section": section}
            findings.append(
                Finding(
                    "missing-tensor",
                    (section, field.name),
                    params,
                    help=f"add {field.name} to {section}",
                )
            )
        return []
    if field.type == "TENSOR_DESC":
        return [(part, raw) for part in parts]
    if not isinstance(raw, list) or len(raw) != len(parts):
        expected = f"a list with the values of each of its {len(parts)} tensors"
        params = {"tensor": field.name, "found": describe(raw), "expected": expected}
        findings.append(Finding("element-count", (section, field.name), params))
        return []
    return [(part, values) for part, values in zip(parts, raw, strict=True) if values is not None]


def _unexpected(desc: OperatorDesc, given: Mapping[str, Any], kind: str, section: str, findings: list[Finding]) -> None:
    for name, raw in given.items():
        field = desc.spec.fields.get(name)
        if raw is None or (field is not None and field.kind == kind and name in desc.values):
            continue
        names = [field.name for field in desc.spec.fields.values() if field.kind == kind]
        if name not in names:
            problem = f"and {desc.spec.operator} has no such {kind.replace('_', ' ')}"
            help = did_you_mean(name, names) or f"it has {', '.join(names)}"
        else:
            problem, help = (
                "an optional tensor that the desc leaves out",
                f"remove it, or declare {name} in desc",
            )
        params = {"section": section, "tensor": name, "problem": problem}
        findings.append(Finding("unexpected-tensor", (section, name), params, help=help, at_key=True))


def too_large(desc: OperatorDesc, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Finding | None:
    """Return what is wrong with a case whose tensors this machine cannot hold; nothing is allocated to find out."""
    if all(max(part.tensor.element_count, part.tensor.extent) < _LARGE for part in desc.tensors()):
        return None
    from dmlcheck.values.memory import available_bytes

    need = bytes_needed(desc, inputs, outputs) + HEADROOM
    have = available_bytes()
    return _too_large(desc, f"take {size_text(need)}", have) if have is not None and need > have else None


def bytes_needed(desc: OperatorDesc, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> int:
    """Return how many bytes the inputs, the expected outputs and the computed outputs of a case take together."""
    from dmlcheck.values.read import bytes_needed as bytes_of

    need = sum(bytes_of(part.tensor, None) for field in desc.spec.outputs for part in desc.parts[field.name])
    for fields, section in ((desc.spec.inputs, inputs), (desc.spec.outputs, outputs)):
        for field in fields:
            need += sum(bytes_of(part.tensor, raw) for part, raw in _values(desc, field, section, "", [], needed=False))
    return need


def _too_large(desc: OperatorDesc, need: str, have: int | None) -> Finding:
    tensors = ", ".join(
        f"{label} {tensor.data_type} {{{', '.join(map(str, tensor.sizes))}}}" for label, _, tensor in desc.tensors()
    )
    spare = "too little" if have is None else size_text(have)
    return Finding("tensor-too-large", ("desc",), {"tensors": tensors, "need": need, "have": spare})


def out_of_memory(desc: OperatorDesc) -> Finding:
    """Return what is wrong with a case that this machine turned out not to hold."""
    return _too_large(desc, "did not fit into memory", None)
