"""A case made ready to run: its desc validated, its values read, its memory and its contents checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, Part, TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.diagnostics.wording import braces, counted, describe, did_you_mean, misspelt, size_text
from dmlcheck.specs.records import INPUT, OUTPUT, Field
from dmlcheck.validation import constraint_words

if TYPE_CHECKING:
    from dmlcheck.values.literals import Array, Source

HEADROOM = 256 * 2**20  # bytes that a kernel may take beside its inputs and outputs
_LARGE = 2**20  # elements; what is smaller is not worth asking for the memory that is left


class Prepared(NamedTuple):
    """A case ready to run: its legal desc, its inputs by field and its expected outputs by label.

    An array of tensors has a list of arrays in `inputs`; in `expected` stands each tensor beside its values. `findings`
    is what is wrong: with the desc where that is None, else with the values. `excess` says in a few words that the
    values do not fit into memory, where that is what is wrong with them. `is_any` has a mask of the elements that are
    `any`, by the label of each output that has some.
    """

    desc: OperatorDesc | None
    inputs: dict[str, Any] = {}  # noqa: RUF012 - never written to
    expected: Mapping[str, tuple[TensorDesc, Array]] = {}
    findings: tuple[Finding, ...] = ()
    excess: str | None = None
    is_any: Mapping[str, Array] = {}


class LegalDescs:
    """The descs that were found legal, so that cases that share theirs, as one object, validate it once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], tuple[Mapping[str, Any], OperatorDesc]] = {}

    def validated(self, case: Case, level: str) -> tuple[OperatorDesc | None, list[Finding]]:
        """Return a case's desc, or None and what is wrong with it at a level."""
        key = (case.operator, level, id(case.desc))
        known = self._known.get(key)
        if known is not None:
            return known[1], []
        desc, findings = validation.validate(case.operator, case.desc, level)
        if desc is None or findings:
            return None, findings
        if len(self._known) == _MOST_KNOWN:
            self._known.clear()
        self._known[key] = (case.desc, desc)  # what is kept keeps its id
        return desc, []


_MOST_KNOWN = 64  # cases that share their desc mostly follow each other


def prepare(case: Case, level: str, descs: LegalDescs | None = None) -> Prepared:
    """Return a case ready to run at a level, or what is wrong with it; `descs` are those that are known to be legal.

    The values of a negative case are read where it gives some or lists one as missing, and only then.
    """
    desc, findings = (descs or LegalDescs()).validated(case, level)
    if desc is None:
        return Prepared(None, findings=tuple(findings))
    if case.invalid is not None and not (case.inputs or case.outputs or _needs_inputs(case)):
        return Prepared(desc)
    excess = too_large(desc, case.inputs or {}, case.outputs or {})
    if excess is not None:
        return Prepared(desc, findings=(excess,), excess="too large for this machine")
    try:
        return _with_values(case, desc, level)
    except MemoryError:
        return Prepared(desc, findings=(out_of_memory(desc),), excess="out of memory")


def _with_values(case: Case, desc: OperatorDesc, level: str) -> Prepared:
    from dmlcheck.values.literals import Source

    source = Source(os.path.dirname(case.file), case.origin.literal)
    inputs, of_inputs = collected(_read_inputs(desc, case.inputs or {}, source, needed=_needs_inputs(case)))
    (expected, is_any), of_outputs = collected(_read_outputs(desc, case.outputs or {}, source))
    findings = (*of_inputs, *of_outputs, *value_findings(desc, inputs, level))
    return Prepared(desc, inputs, expected, findings, is_any=is_any)


def _needs_inputs(case: Case) -> bool:
    """Whether an input without values is a mistake: a negative case may give values for some inputs alone."""
    return case.invalid is None or "missing-tensor" in case.invalid


def value_findings(desc: OperatorDesc, inputs: Mapping[str, Any], level: str) -> list[Finding]:
    """Return what the values of inputs break of the rows that are about them."""
    if not any(row.word in constraint_words.VALUE_WORDS for row in desc.spec.constraints):
        return []
    from dmlcheck.validation import value_words

    return list(value_words.findings(desc, inputs, level))


# ---- values


def _read_inputs(
    desc: OperatorDesc, given: Mapping[str, Any], source: Source, *, needed: bool
) -> Checking[dict[str, Any]]:
    """Read the values of a desc's input tensors as arrays, by field; lists of arrays for arrays of tensors."""
    from dmlcheck.values.read import read_values

    inputs: dict[str, Any] = {}
    yield from _unexpected(desc, given, INPUT, "inputs")
    for field in desc.spec.inputs:
        arrays = []
        for part, raw in (yield from _values(desc, field, given, "inputs", needed=needed)):
            arrays.append((yield from read_values(part.label, part.tensor, raw, ("inputs", *part.path), source)))
        if arrays:
            inputs[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return inputs


def _read_outputs(
    desc: OperatorDesc, given: Mapping[str, Any], source: Source
) -> Checking[tuple[dict[str, tuple[TensorDesc, Array]], dict[str, Array]]]:
    """Read the expected values of a desc's output tensors, each with its tensor, by output, and the masks of `any`."""
    from dmlcheck.values.expected import read_expected

    expected: dict[str, tuple[TensorDesc, Array]] = {}
    is_any: dict[str, Array] = {}
    yield from _unexpected(desc, given, OUTPUT, "outputs")
    for field in desc.spec.outputs:
        for part, raw in (yield from _values(desc, field, given, "outputs", needed=False)):
            values, mask = yield from read_expected(part.label, part.tensor, raw, ("outputs", *part.path), source)
            if values is not None:
                expected[part.label] = (part.tensor, values)
            if mask is not None:
                is_any[part.label] = mask
    return expected, is_any


def _values(
    desc: OperatorDesc, field: Field, given: Mapping[str, Any], section: str, *, needed: bool
) -> Checking[list[tuple[Part, Any]]]:
    """Pair the tensors of a field with their values."""
    parts = desc.parts[field.name]
    raw = given.get(field.name)
    path = (section, field.name)
    if raw is None:
        names = [other.name for other in desc.spec.inputs]
        if needed and parts and field.name not in misspelt(given, names).values():
            params = {"tensor": field.name, "section": section}
            yield Finding("missing-tensor", path, params, help=f"add {field.name} to {section}")
        return []
    if field.type == "TENSOR_DESC":
        return [(part, raw) for part in parts]
    if not isinstance(raw, list) or len(raw) != len(parts):
        expected = f"a list with the values of {counted(len(parts), 'tensor')}"
        yield Finding("element-count", path, {"tensor": field.name, "found": describe(raw), "expected": expected})
        return []
    return [(part, values) for part, values in zip(parts, raw, strict=True) if values is not None]


def _unexpected(desc: OperatorDesc, given: Mapping[str, Any], kind: str, section: str) -> Checking[None]:
    """Yield what has values and is no tensor of the desc."""
    for name, raw in given.items():
        field = desc.spec.fields.get(name)
        is_tensor = field is not None and field.kind == kind
        if raw is None or (is_tensor and name in desc.values):
            continue
        if is_tensor:
            problem, help = "an optional tensor that the desc leaves out", f"remove it, or declare {name} in desc"
        else:
            names = [field.name for field in desc.spec.fields.values() if field.kind == kind]
            problem = f"and {desc.spec.operator} has no such {kind.replace('_', ' ')}"
            help = did_you_mean(name, names) or f"it has {', '.join(names)}"
        params = {"section": section, "tensor": name, "problem": problem}
        yield Finding("unexpected-tensor", (section, name), params, help=help, at_key=True)


# ---- memory


def too_large(desc: OperatorDesc, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Finding | None:
    """Return what is wrong with a case whose tensors this machine cannot hold; nothing is allocated to find out."""
    if not any(part.tensor.extent >= _LARGE or part.tensor.element_count >= _LARGE for part in desc.tensors()):
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
            pairs, _ = collected(_values(desc, field, section, "", needed=False))
            need += sum(bytes_of(part.tensor, raw) for part, raw in pairs)
    return need


def _too_large(desc: OperatorDesc, need: str, have: int | None) -> Finding:
    tensors = ", ".join(f"{label} {tensor.data_type} {braces(tensor.sizes)}" for label, _, tensor in desc.tensors())
    spare = "too little" if have is None else size_text(have)
    return Finding("tensor-too-large", ("desc",), {"tensors": tensors, "need": need, "have": spare})


def out_of_memory(desc: OperatorDesc) -> Finding:
    """Return what is wrong with a case that this machine turned out not to hold."""
    return _too_large(desc, "did not fit into memory", None)
