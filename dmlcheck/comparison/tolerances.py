"""Which row of an operator's tolerances holds for a desc, with what its attributes and activations add to it."""

from __future__ import annotations

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.records import OUTPUT, Tolerance
from dmlcheck.validation import expressions

DATA_TYPE = "DataType"  # in a row's `when`: the data type of the first output, which activations inside share


def tolerance_of(desc: OperatorDesc) -> tuple[Tolerance, str] | None:
    """Return the operator's tolerance for a desc, and in words what selected it; None where no row is for the desc.

    The parts of activations inside the operator are added: the operator's own error goes through them with a
    derivative of about 1 at most, or with the one that the kernel's magnitude carries.
    """
    outputs = desc.tensors(OUTPUT)
    data_type = outputs[0].tensor.data_type if outputs else ""
    row = _row(desc, data_type)
    if row is None:
        return None
    names = {DATA_TYPE: data_type}
    chosen = [f"{field} {names.get(field, desc.values.get(field))}" for field in row.when or ()]
    chosen += row.present
    for _, inner in desc.nested():
        part = _row(inner, data_type)
        if part is not None and not part.exact:
            row = _added(row, part)
            chosen.append(inner.spec.short)
    return row, ", ".join(chosen)


def _row(desc: OperatorDesc, data_type: str) -> Tolerance | None:
    """Return the first row that is for a desc, its absolute limit multiplied out."""
    values = {**desc.values, DATA_TYPE: data_type}
    for row in desc.spec.tolerance:
        if any(values.get(field) not in allowed for field, allowed in (row.when or {}).items()):
            continue
        if any(values.get(name) is None for name in row.present):
            continue
        if row.times is None or row.absolute is None:
            return row
        factor = expressions.evaluate(row.times, desc)
        return row._replace(absolute=None if factor is None else row.absolute * float(factor), times=None)
    return None


def _added(row: Tolerance, part: Tolerance) -> Tolerance:
    return row._replace(
        exact=False,
        ulp=_sum(row.ulp, part.ulp),
        absolute=_sum(row.absolute, part.absolute),
        relative=_sum(row.relative, part.relative),
        ulp_per_exponent=_sum(row.ulp_per_exponent, part.ulp_per_exponent),
        accumulate=row.accumulate or part.accumulate,
        source=f"{row.source}; {part.source}" if part.source not in row.source else row.source,
    )


def _sum(left: float | None, right: float | None) -> float | None:
    return right if left is None else left + (right or 0.0)
