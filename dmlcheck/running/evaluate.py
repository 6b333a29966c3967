"""What the reference engine computes for a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dmlcheck.cases.prepare import out_of_memory, prepare
from dmlcheck.cases.records import Case, in_order
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.reference import engine
from dmlcheck.running.open_elements import masks_of
from dmlcheck.values.literals import Array


class Evaluated(NamedTuple):
    """What came of a case: its outputs, each with its data type, or a remark, or what is wrong.

    `unspecified` has masks of the elements that the documentation leaves open, for outputs that have some.
    """

    name: str
    outputs: Mapping[str, tuple[Array, str]] = {}
    remark: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    unspecified: Mapping[str, Array] = {}


def evaluate_case(case: Case) -> Evaluated:
    """Compute one case's outputs, whatever outputs it expects."""
    if case.invalid is not None:
        return Evaluated(case.name, remark="a negative case: nothing to compute")
    prepared = prepare(case._replace(outputs=None), case.level)
    desc, findings = prepared.desc, prepared.findings
    if desc is None or findings:
        return _refused(case, *findings)
    try:
        computed = engine.evaluate(desc, prepared.inputs)
    except MemoryError:
        return _refused(case, out_of_memory(desc))
    types = {part.label: part.tensor.data_type for part in desc.tensors()}
    outputs = {name: (output.values, types[name]) for name, output in computed.items()}
    return Evaluated(case.name, outputs, unspecified=masks_of(computed))


def _refused(case: Case, *findings: Finding) -> Evaluated:
    return Evaluated(case.name, diagnostics=in_order(case.origin, findings))
