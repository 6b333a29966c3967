"""The values of a case: of its inputs, as arrays, and of the outputs that it expects, paired with their tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.diagnostics.wording import counted, describe, did_you_mean, misspelt
from dmlcheck.specs.records import INPUT, OUTPUT, Field
from dmlcheck.values.expected import read_expected
from dmlcheck.values.literals import Array, Source
from dmlcheck.values.read import bytes_needed as bytes_of
from dmlcheck.values.read import plain_values, read_values

__all__ = ["bytes_needed", "inputs_of", "outputs_of"]


Expected = dict[str, tuple[TensorDesc, Array]]


def inputs_of(case: Case, desc: OperatorDesc) -> tuple[dict[str, Any], list[Finding]]:
    """Return the values of a case's input tensors as arrays by field, and the findings about them.

    An array of tensors has a list of arrays.
    """
    given = case.inputs or {}
    plain = _plain(desc, given, desc.spec.inputs)
    if plain is not None:
        return plain, []
    return collected(_read_inputs(desc, given, _source(case), needed=case.needs_inputs))


def outputs_of(case: Case, desc: OperatorDesc) -> tuple[tuple[Expected, dict[str, Array]], list[Finding]]:
    """Return the expected values of a case's output tensors, each with its tensor, by output, and the masks of `any`.

    The findings about them come with them.
    """
    given = case.outputs or {}
    plain = _plain(desc, given, desc.spec.outputs)
    if plain is None:
        return collected(_read_outputs(desc, given, _source(case)))
    return ({name: (desc.values[name], values) for name, values in plain.items()}, {}), []


def _source(case: Case) -> Source:
    return Source(case.file, case.origin.literal)


def _plain(desc: OperatorDesc, given: Mapping[str, Any], fields: Iterable[Field]) -> dict[str, Any] | None:
    """Return the values of tensors by field if they are lists of numbers, and there is nothing to say of them.

    So it is with most cases; None for others.
    """
    found: dict[str, Any] = {}
    for field in fields:
        tensor = desc.values.get(field.name)
        values = plain_values(tensor, given.get(field.name)) if isinstance(tensor, TensorDesc) else None
        if values is not None:
            found[field.name] = values
        elif tensor is not None:
            return None
    return found if len(found) == len(given) else None


def _read_inputs(
    desc: OperatorDesc, given: Mapping[str, Any], source: Source, *, needed: bool
) -> Checking[dict[str, Any]]:
    inputs: dict[str, Any] = {}
    yield from _unexpected(desc, given, INPUT, "inputs")
    for field in desc.spec.inputs:
        arrays = []
        pairs = _pairs(desc, field, given)
        if len(pairs) < len(desc.parts[field.name]) or not pairs:
            yield from _unpaired(desc, field, given, "inputs", needed=needed)
        for part, raw in pairs:
            arrays.append((yield from read_values(part.label, part.tensor, raw, ("inputs", *part.path), source)))
        if arrays:
            inputs[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return inputs


def _read_outputs(
    desc: OperatorDesc, given: Mapping[str, Any], source: Source
) -> Checking[tuple[Expected, dict[str, Array]]]:
    expected: Expected = {}
    is_any: dict[str, Array] = {}
    yield from _unexpected(desc, given, OUTPUT, "outputs")
    for field in desc.spec.outputs:
        pairs = _pairs(desc, field, given)
        if not pairs:
            yield from _unpaired(desc, field, given, "outputs", needed=False)
        for part, raw in pairs:
            values, mask = yield from read_expected(part.label, part.tensor, raw, ("outputs", *part.path), source)
            if values is not None:
                expected[part.label] = (part.tensor, values)
            if mask is not None:
                is_any[part.label] = mask
    return expected, is_any


def bytes_needed(desc: OperatorDesc, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> int:
    """Return how many bytes the inputs, the expected outputs and the computed outputs of a case take together."""
    need = sum(bytes_of(part.tensor, None) for field in desc.spec.outputs for part in desc.parts[field.name])
    for fields, section in ((desc.spec.inputs, inputs), (desc.spec.outputs, outputs)):
        for field in fields:
            need += sum(bytes_of(part.tensor, raw) for part, raw in _pairs(desc, field, section))
    return need


def _pairs(desc: OperatorDesc, field: Field, given: Mapping[str, Any]) -> list[tuple[TensorPart, Any]]:
    """Pair the tensors of a field with their values; without a pair where the values are not as many as the tensors."""
    parts, raw = desc.parts[field.name], given.get(field.name)
    if raw is None:
        return []
    if field.type == "TENSOR_DESC":
        return [(part, raw) for part in parts]
    if not isinstance(raw, list) or len(raw) != len(parts):
        return []
    return [(part, values) for part, values in zip(parts, raw, strict=True) if values is not None]


def _unpaired(
    desc: OperatorDesc, field: Field, given: Mapping[str, Any], section: str, *, needed: bool
) -> Iterator[Finding]:
    """Yield the findings about a field that has no values for one of its tensors, or for all."""
    parts, raw = desc.parts[field.name], given.get(field.name)
    path = (section, field.name)
    if raw is None:
        if needed and parts and field.name not in misspelt(given, [one.name for one in desc.spec.inputs]).values():
            params = {"tensor": field.name, "section": section}
            yield Finding("missing-tensor", path, params, help=f"add {field.name} to {section}")
    elif field.type != "TENSOR_DESC" and (not isinstance(raw, list) or len(raw) != len(parts)):
        expected = f"it needs a list with the values of {counted(len(parts), 'tensor')}"
        yield Finding("element-count", path, {"tensor": field.name, "found": describe(raw), "expected": expected})
    elif needed and field.type != "TENSOR_DESC":
        for part, values in zip(parts, raw, strict=True):
            if values is None:
                params = {"tensor": part.label, "section": section}
                yield Finding("missing-tensor", (section, *part.path), params, help="write its values in place of null")


def _unexpected(desc: OperatorDesc, given: Mapping[str, Any], kind: str, section: str) -> list[Finding]:
    """Return the finding about values of something that is no tensor of the desc."""
    fields, values = desc.spec.fields, desc.values
    strange = [name for name in given if name not in values or fields[name].kind != kind]
    return [_stray(desc, name, kind, section) for name in strange if given[name] is not None] if strange else []


def _stray(desc: OperatorDesc, name: str, kind: str, section: str) -> Finding:
    names = [field.name for field in desc.spec.fields.values() if field.kind == kind]
    if name in names:
        problem, help = "an optional tensor that the desc leaves out", f"remove it, or declare {name} in desc"
    else:
        problem = f"and {desc.spec.operator} has no such {kind.replace('_', ' ')}"
        help = did_you_mean(name, names) or f"it has {', '.join(names)}"
    params = {"section": section, "tensor": name, "problem": problem}
    return Finding("unexpected-tensor", (section, name), params, help=help, at_key=True)
