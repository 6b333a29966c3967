"""Inaccurate expected values of a case: a warning of the case, for any implementation under test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case, FileOrigin
from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import brackets, counted, error_text
from dmlcheck.files.document import Path
from dmlcheck.running.accuracy import INACCURATE
from dmlcheck.running.places import written_at
from dmlcheck.specs.names import DATA_TYPES

if TYPE_CHECKING:
    from dmlcheck.comparison.suites import Digits, Inaccurate, Place
    from dmlcheck.running.undefined_elements import Masks


def gives_floats(prepared: Prepared) -> bool:
    """Whether a case expects values that may be inaccurate."""
    return any(DATA_TYPES[tensor.data_type].kind == "float" for tensor, _ in prepared.expected.values())


def inaccurate_expectations(
    case: Case, prepared: Prepared, reference: Mapping[str, Any], within: float, undefined: Masks
) -> Iterator[Finding]:
    """Yield a finding for each output with expected values that are further from the exact result than some ULP.

    `reference` has the outputs of the reference engine; the elements of the masks `undefined` are not looked at.
    """
    from dmlcheck.comparison.suites import inaccurate

    if prepared.desc is None:
        return
    digits = _WrittenNumbers(case).digits
    found = inaccurate(prepared.desc, prepared.inputs, prepared.expected, reference, within, undefined, digits)
    for name, worst in found.items():
        yield _finding(case, name, prepared.expected[name][0], worst)


def without_mismatches(findings: list[Finding], outputs: Mapping[str, OutputResult]) -> list[Finding]:
    """Return the findings about outputs that are right: the others are reported if the reference is under test."""
    return [finding for finding in findings if not outputs[finding.params["tensor"]].mismatches]


class _WrittenNumbers:
    """The numbers of a case as its file spells them."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def digits(self, name: str, tensor: TensorDesc) -> Digits | None:
        """Return the function that gives the digits of an output's elements, None if they are not written as a list."""
        _, first = written_at(name, self.case.outputs or {}, tensor, (0,) * len(tensor.sizes))
        if first is None or not isinstance(self.case.origin, FileOrigin):
            return None

        def of(place: Place) -> tuple[Fraction, Fraction] | None:
            path, element = written_at(name, self.case.outputs or {}, tensor, place)
            return None if "bits" in path else self._number(path, element)

        return of

    def text(self, path: Path, element: Any) -> str | None:
        """Return a decimal number as it is written, or None if the element is none; of a matrix as it was read."""
        if type(element) not in (int, float):
            return None
        text = self.case.origin.literal(path)
        return repr(element) if text is None else text

    def _number(self, path: Path, element: Any) -> tuple[Fraction, Fraction] | None:
        from dmlcheck.values.literals import decimal_fraction, last_digit

        text = self.text(path, element) or ""
        value, digit = decimal_fraction(text), last_digit(text)
        return None if value is None or digit is None else (value, digit)


def _finding(case: Case, name: str, tensor: TensorDesc, worst: Inaccurate) -> Finding:
    import numpy as np

    from dmlcheck.values.number_formats import NUMPY_TYPES, spell

    path, element = written_at(name, case.outputs or {}, tensor, worst.place)
    text = None if element is None or "bits" in path else _WrittenNumbers(case).text(path, element)
    others = counted(tensor.element_count, "element")
    params = {
        "tensor": name,
        "element": f"{name}{brackets(worst.place)}",
        "expected": text or spell(worst.expected, tensor.data_type),
        "exact": spell(worst.exact, "FLOAT64"),
        "error": f": {error_text(worst.ulp, tensor.data_type)}" if math.isfinite(worst.ulp) else "",
        "more": f"; the worst of {worst.number:,} such of {others}" if worst.number > 1 else "",
    }
    with np.errstate(over="ignore"):
        rounded = float(NUMPY_TYPES[tensor.data_type].type(worst.exact))
    return Finding(INACCURATE, path, params, help=f"write {spell(rounded, tensor.data_type)}")
