"""The tolerance of an output: the case's own, the operator's published limit, or the derived bound."""

from __future__ import annotations

import math
from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.wording import figure
from dmlcheck.reference.limits.precision import FLOAT32, IN_FLOAT32, Precision
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import Tolerance
from dmlcheck.validation.conditions import half_of


class Limit(NamedTuple):
    """The tolerances of an output.

    `tolerance` is the case's own if `is_own`. Otherwise the bound follows from the operator's formula, with the
    roundings of a `precision`; `tolerance` is then the row of the operator's spec for the desc, or None, and counts if
    it is wider. `whose` names the tolerance in words. If `is_capped`, elements far beyond the likely errors are wrong.
    `formula` names the formula in words, and `kept` has the values that DirectML keeps in FLOAT16.
    """

    tolerance: Tolerance | None
    is_own: bool = False
    precision: Precision = IN_FLOAT32
    whose: str = ""
    is_capped: bool = True
    formula: str = "the formula of the operator"
    kept: tuple[str, ...] = ()

    def has_bound(self, data_type: str) -> bool:
        """Whether it may accept elements that differ, for any formula: an operator's own limit is for floats."""
        if self.tolerance is not None and self.tolerance.exact:
            return False
        return self.is_own or is_float(data_type)

    def text(self, data_type: str, allowed: float = 0.0) -> str:
        """Return the tolerance in words; if it differs between elements, with the units of one of them."""
        if self.is_own and self.tolerance is not None:
            return "exact" if self.tolerance.exact else " or ".join(limit_parts(self.tolerance))
        return _units(allowed, data_type) if allowed else "exact"

    def decided_by(self, data_type: str, terms: int = 0, *, is_rounded: bool = True, most_likely: float = 0.0) -> str:
        """Return the origin of the tolerance in words, with its reason or source.

        `is_rounded` says whether the formula rounded anything on the way to the elements that differ; `most_likely` is
        the multiple of the likely error that decided, if it did.
        """
        row = self.tolerance
        why = "" if row is None else row.reason if self.is_own else row.source
        own = f"{self.whose}: {why}" if why else self.whose
        if not self.is_own and (is_rounded or (is_float(data_type) and not (row is not None and row.exact))):
            sums = f", sums of up to {terms:,} terms in any order" if terms > 1 else ""
            of = self.precision
            factors = "" if of.factors == FLOAT32 else f", FLOAT32 factors of sums of products to {of.factors}"
            ways = ", or by Winograd's algorithms" if of.algorithms else ""
            kept = f" (intermediate results in FLOAT16, as DirectML does: {', '.join(self.kept)})" if self.kept else ""
            rounded = f"with each operation rounded to {of.accumulate}{kept}{factors}{sums}{ways}"
            formula = f"{self.formula}, {rounded}"
            if most_likely:
                formula = f"{formula}; at most {most_likely:g} times the likely error"
            is_wider = row is not None and not row.exact and is_float(data_type)
            return f"{formula}; or {own}, if that is larger" if is_wider else formula
        if is_float(data_type) or self.is_own or (row is not None and row.exact):
            return own
        whose = self.formula if row is None else f"{self.whose}, which is for floats"
        return f"{whose}: {data_type} is exact"


def _units(allowed: float, data_type: str) -> str:
    if not math.isfinite(allowed):
        return "anything"
    return f"{figure(allowed)} ULP" if is_float(data_type) else figure(allowed)


def is_float(data_type: str) -> bool:
    """Whether a data type holds floating-point numbers."""
    return DATA_TYPES[data_type].kind == "float"


def limit_parts(tolerance: Tolerance) -> list[str]:
    """Return the limits of a tolerance in words."""
    parts = []
    if tolerance.ulp is not None:
        parts.append(f"{tolerance.ulp:g} ULP")
    if tolerance.ulp_per_exponent is not None:
        parts.append(f"{tolerance.ulp_per_exponent:g} * |ln result| ULP")
    if tolerance.absolute is not None:
        parts.append(f"{tolerance.absolute:g} absolute")
    if tolerance.relative is not None:
        parts.append(f"{tolerance.relative:g} relative")
    return parts


def limit_for(desc: OperatorDesc, own: Tolerance | None, precision: Precision = IN_FLOAT32) -> Limit:
    """Return the tolerance of a case: its own, or the ones for its operator."""
    from dmlcheck.reference.bindings import row as kernel_row
    from dmlcheck.reference.rows import VARIANCE

    name = desc.spec.short
    if own is not None:
        plain = Precision(precision.accumulate, precision.factors)
        return Limit(own, is_own=True, precision=plain, whose="the case's own tolerance")
    row, chosen = published(desc)
    whose = f"the published limit of {name}" + (f" with {chosen}" if chosen else "")
    kernel = kernel_row(desc.spec.operator).kernel
    known = precision._replace(algorithms=tuple(way for way in precision.algorithms if way in kernel.algorithms))
    half = half_of(desc) if known.is_directml and known.accumulate == FLOAT32 else None
    kept = () if half is None else half.values
    return Limit(row, precision=known, whose=whose, is_capped=kernel.sums != VARIANCE, kept=kept)


def published(desc: OperatorDesc) -> tuple[Tolerance | None, str]:
    """Return the row of an operator's spec for a desc, and the values of fields that select it, in words."""
    for row in desc.spec.tolerance:
        if desc.matches(row.when) and all(desc.values.get(name) is not None for name in row.present):
            return row, ", ".join([*(f"{field} {desc.value_of(field)}" for field in row.when or ()), *row.present])
    return None, ""
