"""What an implementation gave, compared with what is right: an output each, and what to say of those that are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import OutputResult
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, counted, error_text, figure, is_or_are
from dmlcheck.specs.records import OUTPUT, Tolerance

if TYPE_CHECKING:
    from dmlcheck.comparison.tolerances import Limit


class Verdict(NamedTuple):
    """The outputs of a case as they compare with what is expected, and what there is to say of them.

    `findings` make the case fail. `unlikely` are errors that the bound allows, and that roundings alone hardly make.
    """

    outputs: Mapping[str, OutputResult]
    findings: tuple[Finding, ...] = ()
    unlikely: tuple[Finding, ...] = ()


class Limits:
    """The limits of a run's cases; that of the case before holds where two share their desc and tolerance."""

    def __init__(self, accumulate: str) -> None:
        self.accumulate = accumulate
        self._last: tuple[OperatorDesc, Tolerance | None, Limit] | None = None

    def of(self, desc: OperatorDesc, own: Tolerance | None) -> Limit:
        """Return the limit of a desc's outputs, where a case may have a tolerance of its own."""
        if self._last is None or self._last[0] is not desc or self._last[1] is not own:
            from dmlcheck.comparison.tolerances import limit_for

            self._last = (desc, own, limit_for(desc, own, self.accumulate))
        return self._last[2]


def judge(case: Case, prepared: Prepared, actual: Mapping[str, Any], limits: Limits, *, is_reference: bool) -> Verdict:
    """Compare what an implementation gave for a prepared case with what the case expects, or else the reference."""
    from dmlcheck.comparison.compare import compare

    desc, inputs = prepared.desc, prepared.inputs
    if desc is None:
        raise ValueError(case.id)
    expected = prepared.expected or _of_reference(desc, inputs)
    limit = limits.of(desc, case.tolerance)
    compared = compare(expected, actual, limit, _bounds_of(desc, inputs, limit))
    wrong, unlikely = [], []
    for name, (output, marks) in compared.items():
        if output.mismatches:
            is_guessed = marks is not None and not is_reference
            cause = _cause(desc, inputs, name, expected[name], actual[name], limit, marks) if is_guessed else None
            wrong.append(_mismatch(name, output, case.outputs or {})._replace(help=cause))
        elif output.unlikely:
            unlikely.append(_unlikely(name, output, case.outputs or {}))
    return Verdict({name: output for name, (output, _) in compared.items()}, tuple(wrong), tuple(unlikely))


def _bounds_of(desc: OperatorDesc, inputs: dict[str, Any], limit: Limit) -> Any:
    """Return what gives the bounds of a desc's elements, None where the engine does not compute the operator."""
    if not desc.spec.kernel:
        return None

    def bounds_of(asked: Mapping[str, Any], *, is_likely: bool = False) -> Any:
        from dmlcheck.reference.bounds import bounds

        return bounds(desc, inputs, asked, limit.accumulate, is_likely=is_likely)

    return bounds_of


def _of_reference(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what the reference engine computes as the expected outputs, with their tensors."""
    from dmlcheck.reference import engine

    results = engine.run(desc, inputs)
    return {part.label: (part.tensor, results[part.label]) for part in desc.tensors(OUTPUT)}


def _cause(
    desc: OperatorDesc, inputs: dict[str, Any], name: str, expected: Any, actual: Any, limit: Limit, marks: Any
) -> str | None:
    """Return which known fault would have given a wrong output, if any; a guess that fails is none."""
    from dmlcheck.comparison.known_faults import likely_cause

    try:
        return likely_cause(desc, inputs, name, expected, actual, limit, marks)
    except Exception:  # noqa: BLE001 - memory that ends, say: the verdict stands without a cause
        return None


def _unlikely(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    params = {
        "tensor": name,
        "found": f"{output.unlikely:,} of {counted(output.elements, 'element')} {is_or_are(output.unlikely)}",
        "share": figure(output.likely_share or 0.0),
    }
    return Finding("unlikely-error", _place(name, output, given), params)


def _mismatch(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    if output.shape is not None:
        problem = output.shape
    else:
        elements = counted(output.elements, "element")
        verb = is_or_are(output.mismatches)
        of = f"{output.data_type} {braces(output.sizes)}: {output.mismatches:,} of {elements}"
        problem = f"{of} {verb} outside the tolerance"
        if output.worst is not None:
            worst = output.worst
            problem += f"; worst {error_text(worst.ulp, output.data_type, is_unrounded=worst.is_unrounded)}"
            if output.worst.share is not None:
                problem += f", {figure(output.worst.share)} times the bound"
    return Finding("output-mismatch", _place(name, output, given), {"tensor": name, "problem": problem})


def _place(name: str, output: OutputResult, given: Mapping[str, Any]) -> tuple[str | int, ...]:
    """Return the path to the first wrong element that a case gives, or to the tensor where the case gives none."""
    steps = _steps(name)
    if steps[0] not in given:  # compared with the reference engine's
        return ("desc", *steps)
    path: tuple[str | int, ...] = ("outputs", *steps)
    raw = given[steps[0]] if len(steps) == 1 else given[steps[0]][steps[1]]
    if output.first and isinstance(raw, list):
        place = output.first[0].place
        return (*path, *(place if isinstance(raw[0], list) else (_flat_index(place, output.sizes),)))
    return path


def _flat_index(place: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    index = 0
    for step, size in zip(place, sizes, strict=True):
        index = index * size + step
    return index


def _steps(name: str) -> tuple[Any, ...]:
    """Return `OutputTensors[1]` as the path to its values."""
    field, bracket, index = name.partition("[")
    return (field, int(index[:-1])) if bracket else (field,)
