"""Prepares cases: validates the desc, checks the memory that the tensors need, and reads the values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.records import Case
from dmlcheck.cases.values import bytes_needed, inputs_of, outputs_of
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, size_text
from dmlcheck.specs.load import load_spec
from dmlcheck.validation import constraint_words

if TYPE_CHECKING:
    from dmlcheck.values.literals import Array

HEADROOM = 256 * 2**20  # bytes that a kernel may take besides its inputs and outputs
_LARGE = 2**20  # elements; for smaller tensors the memory left is not asked for


class Prepared(NamedTuple):
    """A case that is ready to run, or the problems that it has.

    - `desc` is the valid desc, or None; then `findings` are its problems, else those of the values.
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
        self._sized: tuple[OperatorDesc, bool] | None = None

    def validated(self, case: Case, level: str) -> tuple[OperatorDesc | None, list[Finding]]:
        """Return the desc of a case, or None and its problems at a level."""
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

    def has_large(self, desc: OperatorDesc) -> bool:
        """Whether a tensor of a desc is so large that the memory left must be asked for."""
        if self._sized is None or self._sized[0] is not desc:
            self._sized = (desc, _has_large(desc))
        return self._sized[1]

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


def prepare(case: Case, level: str, descs: LegalDescs | None = None) -> Prepared:
    """Prepare a case to run at a level; `descs` caches valid descs.

    The values of a negative case are only read if it has some, or if it lists missing-tensor.
    """
    descs = descs or LegalDescs()
    desc, findings = descs.validated(case, level)
    if desc is None:
        return Prepared(None, findings=tuple(findings))
    if case.is_negative and not (case.inputs or case.outputs or case.needs_inputs):
        return Prepared(desc)
    excess = too_large(desc, case.inputs or {}, case.outputs or {}) if descs.has_large(desc) else None
    if excess is not None:
        return Prepared(desc, findings=(excess,), excess="too large for this machine")
    try:
        return _with_values(case, desc, level)
    except MemoryError:
        return Prepared(desc, findings=(out_of_memory(desc),), excess="out of memory")


def _with_values(case: Case, desc: OperatorDesc, level: str) -> Prepared:
    inputs, of_inputs = inputs_of(case, desc)
    (expected, is_any), of_outputs = outputs_of(case, desc)
    findings = (*of_inputs, *of_outputs, *value_findings(desc, inputs, level))
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
