"""What the reference engine computes for a case."""

from __future__ import annotations

import os

from dmlcheck import validation
from dmlcheck.cases.prepare import content_findings, out_of_memory, read_inputs, too_large
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.evaluated import Evaluated, placed
from dmlcheck.reference import engine
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values.literals import Array, Source


def evaluate_case(case: Case) -> Evaluated:
    """Compute one case's outputs, whatever outputs it expects."""
    if case.invalid is not None:
        return Evaluated(case.name, remark="a negative case: nothing to compute")
    origin = case.origin
    desc, findings = validation.validate(case.operator, case.desc, case.feature_level or NEWEST_LEVEL)
    if not findings and desc is not None:
        reason = engine.unsupported(desc)
        if reason is not None:
            return Evaluated(case.name, remark=reason)
        excess = too_large(desc, case.inputs or {}, {})
        findings = [excess] if excess is not None else []
    if not findings and desc is not None:
        try:
            outputs = _outputs(case, desc, findings)
        except MemoryError:
            outputs, findings = {}, [out_of_memory(desc)]
        if not findings:
            return Evaluated(case.name, outputs)
    return Evaluated(case.name, diagnostics=placed(origin, findings))


def _outputs(case: Case, desc: OperatorDesc, findings: list[Finding]) -> dict[str, tuple[Array, str]]:
    source = Source(os.path.dirname(case.file), case.origin.literal)
    inputs = read_inputs(desc, case.inputs or {}, source, findings)
    findings.extend(content_findings(desc, inputs, case.feature_level or NEWEST_LEVEL))
    if findings:
        return {}
    types = {part.label: part.tensor.data_type for part in desc.tensors()}
    return {name: (values, types[name]) for name, values in engine.run(desc, inputs).items()}
