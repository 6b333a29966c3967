"""The verdict on an implementation's outputs: the comparison of each, and the findings about wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case
from dmlcheck.comparison.compare import Comparison, JudgedOutputs, allowed, compare, equal_outputs, has_form
from dmlcheck.comparison.records import MOST_SYSTEMATIC, OutputResult
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, counted, error_text, figure, is_or_are, share_text
from dmlcheck.reference import engine
from dmlcheck.reference.limits.precision import IN_FLOAT32, Precision
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.running.undefined_elements import Masks, disagreements, is_all_any, masks_of, path_in_case, union
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import OUTPUT, Deviation, Peer, Tolerance
from dmlcheck.validation.deviations import of_peer

if TYPE_CHECKING:
    from dmlcheck.comparison.difference import OutputDifference
    from dmlcheck.comparison.screening import Settled
    from dmlcheck.comparison.tolerances import Limit


class Verdict(NamedTuple):
    """The comparison of a case's outputs with the expected values, and the findings.

    `findings` make the case fail. `unlikely` are errors that the tolerance allows, but that roundings hardly
    make. `inaccurate` are expected values that are not accurate themselves. `is_empty` says that nothing was compared:
    every element is undefined, and the case does not say so itself. `unlimited` are errors where the tolerance has no
    limit; `is_unlimited` says that all compared elements are such. `consistent` is the type of inputs, TF32 or
    BFLOAT16, with which no output would be wrong or unlikely. `known` has the deviations
    that explain every wrong element.
    """

    outputs: Mapping[str, OutputResult]
    findings: tuple[Finding, ...] = ()
    unlikely: tuple[Finding, ...] = ()
    inaccurate: tuple[Finding, ...] = ()
    is_empty: bool = False
    consistent: str | None = None
    unlimited: tuple[Finding, ...] = ()
    is_unlimited: bool = False
    known: tuple[Deviation, ...] = ()


class Limits:
    """The tolerances of a run's cases; the previous case's is reused if two share their desc and tolerance.

    `within` is how many ULP an expected value may be from the exact result without a warning. `guesses` says whether
    likely causes are looked for, `once_a_kind` that this is done only for the first of several failures of one kind:
    the nodes of a model often fail in the same way, for the same reason. DirectML is also judged by what was measured.
    `deviations` returns the known deviations that may explain wrong values of a desc. `peer`
    is an implementation whose own deviations are known.
    """

    def __init__(self, precision: Precision = IN_FLOAT32, within: float = 0.0) -> None:
        self.precision = precision
        self.within = within
        self.guesses = True
        self.peer: Peer | None = None
        self.deviations: Callable[[OperatorDesc], tuple[Deviation, ...]] = lambda _: ()
        self.once_a_kind = False
        self._kinds: set[tuple[object, ...]] = set()
        self._last: tuple[OperatorDesc, Tolerance | None, Limit] | None = None
        self._tried: tuple[str, int] = ("", 0)

    def of(self, desc: OperatorDesc, own: Tolerance | None) -> Limit:
        """Return the limit of a desc's outputs, where a case may have a tolerance of its own."""
        if self._last is None or self._last[:2] != (desc, own):
            from dmlcheck.comparison.tolerances import limit_for

            self._last = (desc, own, limit_for(desc, own, self.precision))
        return self._last[2]

    def of_formula(self, formula: str, *, is_capped: bool = True) -> Limit:
        """Return the limit that follows from the formulas of several operators, which `formula` names in words."""
        from dmlcheck.comparison.tolerances import Limit

        return Limit(None, precision=self.precision, formula=formula, is_capped=is_capped)

    def try_once_more(self, file: str) -> bool:
        """Count one more wrong output of a file, and return whether faults are tried for it.

        They are for the first few, which show the cause of the rest. They are counted by file, since one process runs a
        file: so a report does not depend on the number of processes.
        """
        name, count = self._tried
        self._tried = (file, count + 1 if name == file else 1)
        return self._tried[1] <= _MOST_TRIED

    def asks_for_causes(self, desc: OperatorDesc, outputs: Mapping[str, OutputResult]) -> bool:
        """Return whether causes of wrong outputs are looked for, and note their kind if so."""
        if not self.guesses or not self.once_a_kind:
            return self.guesses
        from dmlcheck.comparison.known_faults import is_searched

        attributes = {name: value for name, value in desc.values.items() if name not in desc.parts}
        types = tuple((part.label, part.tensor.data_type, len(part.tensor.sizes)) for part in desc.tensors())
        ways = tuple(
            (one.shape, *map(bool, (one.mismatches, one.unlikely, one.systematic))) for one in outputs.values()
        )
        kind = desc.spec.operator, types, repr(attributes), ways
        is_new = kind not in self._kinds
        if is_searched(desc):  # the cause of a larger one is not found
            self._kinds.add(kind)
        return is_new


_MOST_TRIED = 20  # wrong outputs of a file


def judge(
    case: Case,
    prepared: Prepared,
    actual: Mapping[str, Any],
    limits: Limits,
    of_reference: Masks | None = None,
    is_open: Masks | None = None,
) -> Verdict:
    """Compare an implementation's outputs for a prepared case with the expected values, or else the reference's.

    If the reference engine is under test, `of_reference` has masks of its undefined elements, by output, and `is_open`
    also those that were measured: a case may expect something else of them.
    """
    desc, inputs = prepared.desc, prepared.inputs
    if desc is None:
        raise ValueError(case.id)
    limit = limits.of(desc, case.tolerance)
    has_marks = bool(prepared.is_any) or (bool(is_open) and (case.is_documented or case.is_measured))
    if of_reference == {} and not has_marks:  # the reference, which defines every element
        outputs = equal_outputs(prepared.expected, actual, limit)
        if outputs:
            return Verdict(outputs)  # most cases: nothing more to find
    with_measured = limits.precision.is_directml or of_reference is not None
    right = _right(desc, prepared, actual, of_reference, limit, with_measured=with_measured)
    expected, undefined = right.expected, union(right.is_undefined, prepared.is_any)
    is_of_one_reading = of_reference is not None and case.is_measured
    bounds_of = _bounds_of(desc, inputs, limit, with_measured=with_measured, is_of_one_reading=is_of_one_reading)
    compared = compare(expected, actual, limit, bounds_of, undefined, right.settled)
    outputs = {name: output for name, (output, _) in compared.items()}
    if is_open and not case.is_measured and any(map(_is_off, outputs.values())):
        return judge(case, prepared, actual, limits, is_open)
    if of_reference is not None and not has_marks and _is_equal(outputs):
        return Verdict(outputs)
    judged = JudgedOutputs(desc, inputs, expected, actual, undefined, compared, limit)
    known = _known(judged, limits) if of_reference is None else ()
    guesses = _Guesses()
    is_judged = of_reference is None and not known
    if is_judged and any(map(_is_off, outputs.values())) and limits.asks_for_causes(desc, outputs):
        guesses = _guesses(case.file, judged, limits)
    found = verdict_of(outputs, case.outputs or {}, guesses)
    disagreeing = () if of_reference is None else disagreements(case, prepared, actual, of_reference, is_open)
    of_its_own = {} if of_reference is None else outputs
    return found._replace(
        findings=(*disagreeing, *found.findings),
        inaccurate=tuple(_inaccurate(case, prepared, right, limits.within, undefined, of_its_own)),
        is_empty=found.is_empty and not is_all_any(prepared),
        known=known,
    )


def _known(judged: JudgedOutputs, limits: Limits) -> tuple[Deviation, ...]:
    """Return the known deviations that explain every wrong element; none if other errors are too large."""
    desc, inputs, expected, actual, undefined, compared, limit = judged
    results = [found.result for found in compared.values()]
    if not any(map(_is_wrong, results)):
        return ()
    inaccurate = tuple(row for row in of_peer(desc, limits.peer) if row.errors)
    if inaccurate:
        wider = limit._replace(precision=limit.precision._replace(peer=limits.peer))
        again = partial(compare, expected, actual, wider, _bounds_of(desc, inputs, wider))
        wrong = {name: found.refused for name, found in compared.items() if found.refused is not None}
        farthest = {name: _farthest(mask, expected[name][1], actual[name]) for name, mask in wrong.items()}
        tried = (again({**undefined, **{name: ~mask for name, mask in masks.items()}}) for masks in (farthest, wrong))
        if not any(_is_wrong(found.result) for each in tried for found in each.values()):
            return inaccurate
    rows = () if any(result.systematic for result in results) else limits.deviations(desc)
    if not rows:
        return ()
    from dmlcheck.comparison.deviating import explaining

    return explaining(judged, rows)


def _farthest(mask: Any, expected: Any, actual: Any) -> Any:
    """Return a mask of the element that is farthest off among those in a mask."""
    places = np.flatnonzero(mask)
    with np.errstate(invalid="ignore"):  # infinities
        off = abs(actual.reshape(-1)[places].astype(float) - expected.reshape(-1)[places])
    chosen = np.zeros(mask.size, dtype=bool)
    chosen[places[off.argmax()]] = True
    return chosen.reshape(mask.shape)


def _is_wrong(output: OutputResult) -> bool:
    return bool(output.mismatches or output.systematic)


def _is_off(output: OutputResult) -> bool:
    """Whether an output has errors of which the cause may be found."""
    return bool(output.mismatches or output.unlikely or output.systematic)


def verdict_of(
    outputs: Mapping[str, OutputResult], given: Mapping[str, Any] | None = None, guesses: _Guesses | None = None
) -> Verdict:
    """Return the verdict on outputs: findings about wrong, unlikely and unlimited errors.

    `given` has the values that a case gives for outputs, `guesses` the possible causes of errors.
    """
    given, guesses = given or {}, guesses or _Guesses()
    off = partial(_of_class, guesses.consistent)
    wrong = []
    for name, output in outputs.items():
        if output.mismatches:
            found = _mismatch(name, output, given)
            wrong.append(off(found._replace(help=guesses.causes.get(name))))
        if output.systematic:
            wrong.append(off(_systematic(name, output, given)))
    unlikely = [off(_unlikely(name, output, given)) for name, output in outputs.items() if output.unlikely]
    unlimited = [_unlimited(name, output, given) for name, output in outputs.items() if output.unlimited]
    return Verdict(
        outputs,
        findings=tuple(wrong),
        unlikely=tuple(unlikely),
        is_empty=all(output.undefined == output.elements for output in outputs.values()),
        consistent=guesses.consistent,
        unlimited=tuple(unlimited),
        is_unlimited=bool(unlimited)
        and all(output.undefined + output.unlimited == output.elements for output in outputs.values()),
    )


def evidence_of(case: Case, prepared: Prepared, actual: Mapping[str, Any], limits: Limits) -> dict[str, dict[str, Any]]:
    """Return the arrays of a case by label: its `inputs`, and the `expected`, `allowed` and `actual` outputs."""
    desc, inputs = prepared.desc, prepared.inputs
    if desc is None:
        raise ValueError(case.id)
    limit = limits.of(desc, case.tolerance)
    expected = _right(desc, prepared, actual, None, limit).expected
    return {
        "inputs": {part.label: array for part, array in desc.inputs_with(inputs)},
        "expected": {label: values for label, (_, values) in expected.items()},
        "allowed": allowed(expected, limit, _bounds_of(desc, inputs, limit)),
        "actual": {label: array for label, array in actual.items() if hasattr(array, "dtype")},
    }


def differences(
    case: Case,
    prepared: Prepared,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    limits: Limits,
    *,
    are_right: bool,
) -> dict[str, OutputDifference]:
    """Return the differences between the outputs of two implementations; `are_right` if the tolerance allows both."""
    from dmlcheck.comparison.difference import difference

    desc, inputs = prepared.desc, prepared.inputs
    if desc is None:
        raise ValueError(case.id)
    limit = limits.of(desc, case.tolerance)
    with_measured = limits.precision.is_directml
    right = _right(desc, prepared, first, None, limit, with_measured=with_measured)
    wanted = {
        label: (tensor, values)
        for label, (tensor, values) in right.expected.items()
        if all(label in outputs and has_form(outputs[label], values) for outputs in (first, second))
    }
    ignored = union(right.is_undefined, prepared.is_any)
    most: Mapping[str, Any] = {}
    if not are_right:
        bounds_of = _bounds_of(desc, inputs, limit, with_measured=with_measured)
        both = [compare(wanted, values, limit, bounds_of, ignored) for values in (first, second)]
        most = allowed(wanted, limit, bounds_of)
        most = {label: _where_wrong(most[label], [found[label] for found in both]) for label in most}
    return {
        label: difference(tensor, first[label], second[label], ignored.get(label), most.get(label))
        for label, (tensor, _) in wanted.items()
    }


def _where_wrong(most: Any, compared: list[Comparison]) -> Any:
    """Return how far elements may be off: any distance where neither of two results is wrong."""
    import numpy as np

    is_wrong = np.zeros(most.shape, dtype=bool)
    for found in compared:
        if found.result.mismatches:  # without a mask there are too many to mark them
            is_wrong |= True if found.refused is None else found.refused.reshape(most.shape)
    return np.where(is_wrong, most, np.inf)


def _is_equal(outputs: Mapping[str, OutputResult]) -> bool:
    """Whether there are outputs, and every element of each was compared, and equals the expected value."""
    for output in outputs.values():
        if output.most_off is not None or output.undefined or output.shape is not None or not output.elements:
            return False
    return bool(outputs)


class _Right(NamedTuple):
    """The expected outputs, each with its tensor, and masks of their undefined elements, by output.

    `reference` has the outputs of the reference engine if a case may give floats, which are measured against them;
    `settled` has the elements of the implementation's outputs that need no bounds.
    """

    expected: Mapping[str, Any]
    is_undefined: Masks
    reference: Mapping[str, Any] | None = None
    settled: Sequence[Mapping[str, Settled]] = ()


def _right(
    desc: OperatorDesc,
    prepared: Prepared,
    actual: Mapping[str, Any],
    of_reference: Masks | None,
    limit: Limit,
    *,
    with_measured: bool = False,
) -> _Right:
    """Return the right outputs; the reference engine gives those that a case does not."""
    if of_reference is not None and prepared.expected:
        return _Right(prepared.expected, of_reference, actual)
    is_measured = _gives_floats(prepared)
    if prepared.expected and not (desc.spec.has_undefined or is_measured):
        return _Right(prepared.expected, {})
    from dmlcheck.comparison.screening import Screen

    screen = Screen(desc, actual, limit)
    is_screened = screen.is_used and not prepared.expected
    try:
        computed = engine.evaluate(desc, prepared.inputs, watch=screen.see if is_screened else None)
    except (MemoryError, TooMuchWork):
        if prepared.expected and not desc.spec.has_undefined:
            return _Right(prepared.expected, {})  # it was needed only to measure the expected values
        raise
    reference = {label: output.values for label, output in computed.items()}
    if prepared.expected:
        return _Right(
            prepared.expected, masks_of(computed, with_measured=with_measured), reference if is_measured else None
        )
    own = {part.label: (part.tensor, reference[part.label]) for part in desc.tensors(OUTPUT) if part.label in actual}
    return _Right(own, masks_of(computed, with_measured=with_measured), settled=screen.settled() if is_screened else ())


def _gives_floats(prepared: Prepared) -> bool:
    """Whether a case expects values that may be inaccurate."""
    return any(DATA_TYPES[tensor.data_type].kind == "float" for tensor, _ in prepared.expected.values())


def _inaccurate(
    case: Case, prepared: Prepared, right: _Right, within: float, undefined: Masks, of_reference: Mapping[str, Any]
) -> Iterator[Finding]:
    """Yield the findings about floats that a case gives and that are not accurate themselves.

    `of_reference` has the results of outputs of the reference under test, whose mismatches are reported as such.
    """
    if right.reference is None or not _gives_floats(prepared):
        return
    from dmlcheck.running.inaccurate_expectations import inaccurate_expectations

    for found in inaccurate_expectations(case, prepared, right.reference, within, undefined):
        output = of_reference.get(found.params["tensor"])
        if output is None or not output.mismatches:
            yield found


def _bounds_of(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    limit: Limit,
    *,
    with_measured: bool = False,
    is_of_one_reading: bool = False,
) -> Any:
    """Return the function that computes the bounds of a desc's elements, of all readings or of the reference's."""

    def bounds_of(asked: Mapping[str, Any], *, is_likely: bool = False) -> Any:
        from dmlcheck.reference.bounds import bounds

        found = bounds(desc, inputs, asked, limit.precision, is_likely=is_likely, with_measured=with_measured)
        if is_of_one_reading:
            found = ((label, at, bound._replace(others=())) for label, at, bound in found)
        return found

    return bounds_of


class _Guesses(NamedTuple):
    """Possible causes of wrong outputs: the type of inputs with which none would be wrong, and the cause of each."""

    consistent: str | None = None
    causes: Mapping[str, str | None] = {}


def _guesses(file: str, judged: JudgedOutputs, limits: Limits) -> _Guesses:
    from dmlcheck.comparison.known_faults import likely_cause
    from dmlcheck.comparison.patterns import consistent_type
    from dmlcheck.comparison.wrong_output import WrongOutput

    causes = {}
    for name, (output, mask) in judged.compared.items():
        if output.mismatches and mask is not None:
            tensor, expected = judged.expected[name]
            given = judged.desc, judged.inputs, name, tensor, expected, judged.actual[name], judged.limit, mask
            is_tried = limits.try_once_more(file)
            causes[name] = _unless_it_fails(partial(likely_cause, WrongOutput(*given), is_tried=is_tried))
    return _Guesses(_unless_it_fails(partial(consistent_type, judged)), causes)


def _unless_it_fails(search: Callable[[], str | None]) -> str | None:
    """Return the result of a search for causes; a search that raises finds nothing."""
    try:
        return search()
    except Exception:  # noqa: BLE001 - memory that ends, say: the verdict stands without a guess
        return None


def _of_class(data_type: str | None, finding: Finding) -> Finding:
    """Return a finding with the type of inputs with which the output would be right."""
    if data_type is None:
        return finding
    also = {"also": f"; consistent with {data_type} inputs"}
    if finding.rule == "output-mismatch":
        also = {"problem": finding.params["problem"] + also["also"]}
    option = f"`--input-precision {data_type.lower()}`"
    advice = f"to accept matrix units that round their inputs to {data_type}, run with {option}"
    text = advice if finding.help is None else f"{finding.help}; {advice}"
    return finding._replace(params={**finding.params, **also}, help=text)


def _unlikely(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    params = {
        "tensor": name,
        "found": f"{output.unlikely:,} of {counted(output.elements, 'element')} {is_or_are(output.unlikely)}",
        "share": figure(output.likely_share or 0.0),
        "also": "",
    }
    return Finding("unlikely-error", _path(name, output, given), params)


def _systematic(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    params = {
        "tensor": name,
        "elements": counted(output.elements, "element"),
        "share": figure(output.systematic or 0.0),
        "most": figure(MOST_SYSTEMATIC),
        "also": "",
    }
    return Finding("systematic-error", _path(name, output, given), params)


def _unlimited(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    verb = "differs" if output.unlimited == 1 else "differ"
    params = {"tensor": name, "found": f"{output.unlimited:,} of {counted(output.elements, 'element')} {verb}"}
    return Finding("unlimited-tolerance", _path(name, output, given), params)


def _mismatch(name: str, output: OutputResult, given: Mapping[str, Any]) -> Finding:
    if output.shape is not None:
        problem = output.shape
    else:
        elements = counted(output.elements, "element")
        verb = is_or_are(output.mismatches)
        of = f"{output.data_type} {braces(output.sizes)}: {output.mismatches:,} of {elements}"
        problem = f"{of} {verb} outside the tolerance"
        problem += f": {output.region}" if output.region else ""
        if output.worst is not None:
            worst = output.worst
            problem += f"; worst {error_text(worst.ulp, output.data_type, is_unrounded=worst.is_unrounded)}"
            if output.worst.share is not None:
                problem += f", {share_text(output.worst.share)}"
    return Finding("output-mismatch", _path(name, output, given), {"tensor": name, "problem": problem})


def _path(name: str, output: OutputResult, given: Mapping[str, Any]) -> tuple[str | int, ...]:
    """Return the path to the first wrong element that a case gives, or to the tensor where the case gives none."""
    return path_in_case(name, given, output.sizes, output.first[0].place if output.first else None)
