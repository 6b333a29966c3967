"""Prepares cases: validates the desc, checks the memory that the tensors need, and reads the values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.diagnostics.wording import braces, counted, describe, did_you_mean, misspelt, size_text
from dmlcheck.files.document import Path
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import INPUT, OUTPUT, Field
from dmlcheck.validation import constraint_words
from dmlcheck.values.literals import Array, Source, is_any
from dmlcheck.values.read import bytes_needed as bytes_of
from dmlcheck.values.read import is_generated, plain_values, read_values

HEADROOM = 256 * 2**20  # bytes that a kernel may take besides its inputs and outputs
_LARGE = 2**20  # elements; for smaller tensors the memory left is not asked for


class Prepared(NamedTuple):
    """A case that is ready to run, or the problems that it has.

    - `desc` is the valid desc, or None; then `findings` are its problems, else the problems of the values.
    - `inputs` has an array by field; for an array of tensors a list of arrays.
    - `expected` has each output's tensor and values by label; `is_any` a mask for each output with elements `any`.
    - `excess` says in a few words that the values do not fit into memory.
    """

    desc: OperatorDesc | None
    inputs: dict[str, Any] = {}  # noqa: RUF012 - never written to
    expected: Mapping[str, tuple[TensorDesc, Array]] = {}
    findings: tuple[Finding, ...] = ()
    excess: str | None = None
    is_any: Mapping[str, Array] = {}


class LegalDescs:
    """A cache of valid descs by their text, so that cases with the same desc validate it once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], OperatorDesc] = {}
        self._last: tuple[tuple[str, str], Reading] | None = None
        self._text: tuple[Mapping[str, Any], str] | None = None

    def validated(self, case: Case) -> tuple[OperatorDesc | None, list[Finding]]:
        """Return the desc of a case, or None and its problems at the case's level."""
        level = case.level
        key = (case.operator, level, self._text_of(case.desc))
        known = self._known.get(key)
        if known is not None:
            return known, []
        reading = self._read(case.operator, case.desc, key[2])
        desc, findings = reading.desc, validation.check(reading, level)
        if desc is None or findings:
            return None, findings
        if len(self._known) == _MOST_KNOWN:
            self._known.clear()
        if len(key[2]) <= _LONGEST_KNOWN:
            self._known[key] = desc
        return desc, []

    def minimum_level(self, case: Case) -> str | None:
        """Return the lowest level at which the desc of a case is valid; None if there is none."""
        return validation.minimum_level(self._read(case.operator, case.desc, self._text_of(case.desc)))

    def _text_of(self, desc: Mapping[str, Any]) -> str:
        """Return the `repr` of a desc, which tells 1, 1.0 and true apart; cases that share a desc share its text."""
        if self._text is None or self._text[0] is not desc:
            self._text = (desc, repr(desc))
        return self._text[1]

    def _read(self, operator: str, desc: Mapping[str, Any], text: str) -> Reading:
        """Read a desc, unless it is the one that was read last."""
        if self._last is None or self._last[0] != (operator, text):
            self._last = ((operator, text), read_desc(operator, desc))
        return self._last[1]


_MOST_KNOWN = 64  # descs; cases with the same desc mostly follow each other
_LONGEST_KNOWN = 4096  # characters of a desc; longer ones are rarely shared


def prepare(case: Case, descs: LegalDescs | None = None) -> Prepared:
    """Prepare a case to run at its level; `descs` caches valid descs.

    The values of a negative case are only read if it has some, or if it lists missing-tensor.
    """
    descs = descs or LegalDescs()
    desc, findings = descs.validated(case)
    if desc is None:
        return Prepared(None, findings=tuple(findings))
    if case.is_negative and not (case.inputs or case.outputs or case.needs_inputs):
        return Prepared(desc)
    excess = too_large(desc, case.inputs or {}, case.outputs or {})
    if excess is not None:
        return Prepared(desc, findings=(excess,), excess="too large for this machine")
    try:
        return _with_values(case, desc)
    except MemoryError:
        return Prepared(desc, findings=(out_of_memory(desc),), excess="out of memory")


def findings_of_settings(case: Case, desc: OperatorDesc) -> list[Finding]:
    """Return the findings about the inputs of a case that is not computed; of generated ones one element is made."""
    source, given = Source(case.file), case.inputs or {}  # numbers need not be exact
    _, findings = collected(_read_inputs(desc, given, source, needed=case.needs_inputs, is_whole=False))
    return findings


def _with_values(case: Case, desc: OperatorDesc) -> Prepared:
    plain_inputs, plain_outputs = _plain(case, desc)
    inputs, of_inputs = _inputs_of(case, desc, plain_inputs)
    (expected, is_any), of_outputs = _outputs_of(case, desc, plain_outputs)
    findings = (*of_inputs, *of_outputs, *value_findings(desc, inputs, case.level))
    return Prepared(desc, inputs, expected, findings, is_any=is_any)


def value_findings(desc: OperatorDesc, inputs: Mapping[str, Any], level: str) -> list[Finding]:
    """Return the findings of the constraints that are about the values of inputs."""
    if not _speaks_of_values(desc.spec.operator):
        return []
    from dmlcheck.validation import value_words

    return list(value_words.findings(desc, inputs, level))


@cache
def _speaks_of_values(operator: str) -> bool:
    """Whether an operator has a constraint that is about the values of its inputs."""
    return any(row.word in constraint_words.VALUE_WORDS for row in load_spec(operator).constraints)


# ---- memory


def too_large(desc: OperatorDesc, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Finding | None:
    """Return the finding for tensors that do not fit into the memory of this machine, or None; nothing is allocated."""
    if not _has_large(desc):
        return None
    from dmlcheck.values.memory import available_bytes

    need = bytes_needed(desc, inputs, outputs) + HEADROOM
    have = available_bytes()
    return _too_large(desc, f"take {size_text(need)}", have) if have is not None and need > have else None


def _has_large(desc: OperatorDesc) -> bool:
    """Whether a tensor of a desc is so large that the memory left must be asked for."""
    for parts in desc.parts.values():
        for part in parts:
            tensor = part.tensor
            if tensor.element_count >= _LARGE or (tensor.strides is not None and tensor.extent >= _LARGE):
                return True
    return False


def _too_large(desc: OperatorDesc, need: str, have: int | None) -> Finding:
    tensors = ", ".join(f"{label} {tensor.data_type} {braces(tensor.sizes)}" for label, _, tensor in desc.tensors())
    spare = "too little" if have is None else size_text(have)
    return Finding("tensor-too-large", ("desc",), {"tensors": tensors, "need": need, "have": spare})


def out_of_memory(desc: OperatorDesc) -> Finding:
    """Return the finding for a case that ran out of memory."""
    return _too_large(desc, "did not fit into memory", None)


# ---- values


Expected = dict[str, tuple[TensorDesc, Array]]


def _inputs_of(case: Case, desc: OperatorDesc, plain: dict[str, Array]) -> tuple[dict[str, Any], list[Finding]]:
    """Return the values of a case's input tensors as arrays by field, and the findings about them.

    An array of tensors has a list of arrays.
    """
    given = case.inputs or {}
    if _are_all(plain, given, desc.spec.inputs, desc):
        return plain, []
    return collected(_read_inputs(desc, given, _source(case), needed=case.needs_inputs))


def _outputs_of(
    case: Case, desc: OperatorDesc, plain: Mapping[str, Array]
) -> tuple[tuple[Expected, dict[str, Array]], list[Finding]]:
    """Return the expected values of a case's output tensors, each with its tensor, by output, and the masks of `any`.

    The findings about them come with them.
    """
    given = case.outputs or {}
    if _are_all(plain, given, desc.spec.outputs, desc):
        return ({name: (desc.values[name], values) for name, values in plain.items()}, {}), []
    return collected(_read_outputs(desc, given, _source(case)))


def _source(case: Case) -> Source:
    return Source(case.file, case.origin.literal)


def _plain(case: Case, desc: OperatorDesc) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the inputs and outputs by field that are lists of numbers with nothing to say of them, as most are."""
    inputs: dict[str, Array] = {}
    outputs: dict[str, Array] = {}
    for given, found in ((case.inputs, inputs), (case.outputs, outputs)):
        for name, raw in (given or {}).items():
            tensor = desc.values.get(name)
            values = plain_values(tensor, raw) if isinstance(tensor, TensorDesc) else None
            if values is not None:
                found[name] = values
    return inputs, outputs


def _are_all(plain: Mapping[str, Array], given: Mapping[str, Any], fields: Iterable[Field], desc: OperatorDesc) -> bool:
    """Whether values are those of all tensors of some fields, and nothing else is given."""
    names = {field.name for field in fields if desc.values.get(field.name) is not None}
    return names == plain.keys() == given.keys()


def _read_inputs(
    desc: OperatorDesc, given: Mapping[str, Any], source: Source, *, needed: bool, is_whole: bool = True
) -> Checking[dict[str, Any]]:
    inputs: dict[str, Any] = {}
    yield from _unexpected(desc, given, INPUT, "inputs")
    for field in desc.spec.inputs:
        arrays = []
        pairs = _pairs(desc, field, given)
        if len(pairs) < len(desc.parts[field.name]) or not pairs:
            yield from _unpaired(desc, field, given, "inputs", needed=needed)
        for part, raw in pairs:
            is_one = is_generated(raw) and not is_whole
            tensor = TensorDesc(part.tensor.data_type, (1,)) if is_one else part.tensor
            arrays.append((yield from read_values(part.label, tensor, raw, ("inputs", *part.path), source)))
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


# ---- values with `any`


_FORMS = ("fill", "bits", "buffer")  # the mappings whose elements may be `any`


def read_expected(
    label: str, tensor: TensorDesc, raw: Any, path: Path, source: Source
) -> Checking[tuple[Array | None, Array | None]]:
    """Read an output's values, with 0 for `any`, and a mask of the elements that are `any`, or None if none is.

    The values are None where something is wrong with them.
    """
    if not _has_any(raw):
        return (yield from read_values(label, tensor, raw, path, source)), None
    values = yield from read_values(label, tensor, _changed(raw, _without_any), path, source)
    if values is None:
        return None, None
    marks = yield from read_values(label, tensor, _changed(raw, lambda element: int(is_any(element))), path, source)
    return values, None if marks is None else marks != 0


def _has_any(raw: Any) -> bool:
    if type(raw) is list:
        types = set(map(type, raw))
        return (str in types and any(map(is_any, raw))) or (list in types and any(map(_has_any, raw)))
    if isinstance(raw, Mapping):
        return any(is_any(raw[form]) or _has_any(raw[form]) for form in _FORMS if form in raw)
    return False


def _changed(raw: Any, change: Callable[[Any], Any]) -> Any:
    """Return values in the form that they were given in, each changed."""
    if isinstance(raw, Mapping):
        return {key: _changed(part, change) for key, part in raw.items()}
    return [_changed(part, change) for part in raw] if type(raw) is list else change(raw)


def _without_any(element: Any) -> Any:
    return 0 if is_any(element) else element
