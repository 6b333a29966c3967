"""Why an output may be wrong: what was found, held against what well-known faults would have made of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.patterns import few_bits, patterns
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.comparison.variants import Wrong, explaining
from dmlcheck.descs.records import OperatorDesc, Part, TensorDesc
from dmlcheck.descs.strides import packed_strides
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.engine import Array
from dmlcheck.specs.records import INPUT
from dmlcheck.values.layouts import laid_out, viewed
from dmlcheck.values.number_formats import FORMATS

MOST = 2**20  # elements of all tensors together: the search recomputes an output some ten times
_SHOWN = 2  # causes of one kind that fit alike
_MOST_SHOWN = 3
_EXPECTED = "the reference engine agrees with what was found: is what the case expects wrong?"


class Evidence(NamedTuple):
    """One wrong output: what it is computed from, what is expected and found, and which elements exceed the limit."""

    desc: OperatorDesc
    inputs: dict[str, Any]
    label: str
    tensor: TensorDesc
    expected: Array
    actual: Array
    limit: Limit
    wrong: Array

    @property
    def is_float(self) -> bool:
        """Whether the output holds floats."""
        return self.tensor.data_type in FORMATS

    def recomputed(self, inputs: dict[str, Any] | None = None, **fields: Any) -> Array:
        """Return what the reference engine makes of other inputs or fields."""
        desc = OperatorDesc.of(self.desc.spec, {**self.desc.values, **fields}) if fields else self.desc
        return engine.run(desc, self.inputs if inputs is None else inputs)[self.label]

    def changed(self, change: Callable[[Part, Array], Array]) -> dict[str, Any]:
        """Return the inputs, each changed by a function of its place in the desc and its values."""
        inputs = dict(self.inputs)
        for name, parts in self.desc.parts.items():
            if name in inputs:
                given = inputs[name] if isinstance(inputs[name], list) else [inputs[name]]
                made = [change(part, values) for part, values in zip(parts, given, strict=True)]
                inputs[name] = made if isinstance(inputs[name], list) else made[0]
        return inputs

    def has_input(self, holds: Callable[[Array], Array]) -> bool:
        """Whether any element of a float input is such."""
        given = [values for value in self.inputs.values() for values in (value if isinstance(value, list) else [value])]
        return any(values.dtype.kind == "f" and bool(holds(values).any()) for values in given)

    def explained_by(self, predicted: Array, known: Array | None = None) -> bool:
        """Whether a prediction agrees with all of an output: also with elements that are right, and not by chance.

        A float may differ from it by 1/32 of its error, as another order of operations makes it do; then one element
        alone proves nothing. Elements inside the tolerance that are not equal have no say, nor have those that are not
        `known`.
        """
        found, wanted, wrong = self.actual, self.expected, self.wrong
        equal = _same(found, predicted)
        close = equal
        if self.is_float:
            p, f = predicted.astype(np.float64), found.astype(np.float64)
            error = np.abs(f - wanted.astype(np.float64))
            room = np.where(wrong & np.isfinite(error), error / 32, np.abs(p) * 2.0**-9)
            close = equal | (np.isfinite(p) & (np.abs(f - p) <= room))
        has_say = wrong | _same(found, wanted)
        if known is not None:
            has_say, wrong = has_say & known, wrong & known
        return bool(close[has_say].all()) and 2 * int(equal[wrong].sum()) + int(close[wrong].sum()) >= 2


def likely_cause(
    desc: OperatorDesc,
    inputs: dict[str, Any],
    label: str,
    wanted: tuple[TensorDesc, Array],
    actual: Array,
    limit: Limit,
    wrong: Array,
    *,
    is_tried: bool = True,
) -> str | None:
    """Say which fault would have given a wrong output, in a sentence for its diagnostic; None where none would.

    `wrong` marks the elements outside the bound. Every fault is acted out on the inputs, and named where that gives all
    of what was found: at most three. Tensors of more than MOST elements together are not looked at. Where `is_tried` is
    false only the well-known faults and the values themselves are looked at, which takes less time.
    """
    if sum(max(part.tensor.element_count, part.tensor.extent) for part in desc.tensors()) > MOST:
        return None
    tensor, expected = wanted
    evidence = Evidence(desc, inputs, label, tensor, expected, actual, limit, wrong)
    with np.errstate(all="ignore"):
        if _agrees_with_reference(evidence):
            return f"likely cause: {_EXPECTED}"
        tried = _tried(evidence) if is_tried else iter(())
        found = islice(_causes(evidence), _SHOWN), islice(tried, _SHOWN), islice(_patterns(evidence), 1)
        causes = list(islice(chain(*found), _MOST_SHOWN))
        causes = causes or list(filter(None, [few_bits(evidence.expected, evidence.actual, evidence.wrong)]))
    return f"likely cause: {'; or '.join(causes)}" if causes else None


def _agrees_with_reference(evidence: Evidence) -> bool:
    """Whether what was found is right by the reference engine, which does not give what is expected."""
    own = evidence.recomputed()
    if _same(own, evidence.expected).all():
        return False
    limit = evidence.limit
    bounds_of = partial(bounds, evidence.desc, evidence.inputs, accumulate=limit.accumulate, factors=limit.inputs)
    wanted, found = {evidence.label: (evidence.tensor, own)}, {evidence.label: evidence.actual}
    return not compare(wanted, found, limit, bounds_of)[evidence.label].result.mismatches


def _causes(evidence: Evidence) -> Iterator[str]:
    for suspect in KNOWN_FAULTS:
        with suppress(Exception):  # a kernel that refuses such inputs, no memory: a guess ends no run
            text = suspect(evidence)
            if text is not None:
                yield text


def _tried(evidence: Evidence) -> Iterator[str]:
    """Yield faults that are tried on the reference engine."""
    desc, inputs, label, tensor, expected, actual, limit, mask = evidence
    for words in explaining(desc, inputs, Wrong(label, tensor, expected, actual, limit, mask)):
        yield f"the result is as if {words}"


def _patterns(evidence: Evidence) -> Iterator[str]:
    return patterns(evidence.expected, evidence.actual, evidence.wrong)


def _same(left: Array, right: Array) -> Array:
    equal: Array = left == right
    return equal | (np.isnan(left) & np.isnan(right)) if left.dtype.kind == "f" else equal


# ---- which element, and in which order


def _searched(evidence: Evidence) -> tuple[tuple[int, ...], bool] | None:
    """Return the axes along which an extreme element is sought, and whether it is marked; None for other operators."""
    name, values = evidence.desc.spec.short, evidence.desc.values
    marks = name in ("ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1")
    if marks or name in ("ARGMAX", "ARGMIN") or values.get("Function") in ("ARGMAX", "ARGMIN"):
        return tuple(values.get("Axes", (evidence.expected.ndim - 1,))), marks
    return None


def _ties(evidence: Evidence) -> str | None:
    """Look at the tensor from its other end: the first of equal elements is then the last."""
    search = _searched(evidence)
    if search is None:
        return None
    axes, marks = search
    values = evidence.inputs["InputTensor"]
    found = evidence.recomputed({"InputTensor": np.flip(values, axes)})
    last = values.size // found.size - 1
    predicted = np.flip(found, axes) if marks else (last - found.astype(np.int64)).astype(found.dtype)
    if not evidence.explained_by(predicted):
        return None
    direction = evidence.desc.values.get("AxisDirection")
    chosen, asked = ("first", "last") if direction == "DECREASING" else ("last", "first")
    who = f"AxisDirection {direction}" if direction else evidence.desc.spec.short
    return f"the {chosen} of equal elements seems to be chosen; {who} asks for the {asked}"


def _axes_order(evidence: Evidence) -> str | None:
    """Walk along the axes in other orders."""
    search = _searched(evidence)
    if search is None:
        return None
    axes, marks = search
    sizes = evidence.inputs["InputTensor"].shape
    backwards = tuple(sorted(axes, reverse=True))
    too = ", or column-major" if axes == backwards else ""
    for order, words in (
        (axes, f"in the order of Axes, {list(axes)}{too}"),
        (backwards, "with the first one the fastest (column-major)"),
    ):
        long = [axis for axis in order if sizes[axis] > 1]
        if long != sorted(long) and evidence.explained_by(_walked(evidence, order, marks=marks)):
            rule = "the order of the tensor's dimensions counts, row-major"
            return f"the axes seem to be walked along {words}; {rule}"
    return None


def _walked(evidence: Evidence, order: tuple[int, ...], *, marks: bool) -> Array:
    """Return what walking along axes in another order gives: the operator's output of a transposed tensor."""
    values = evidence.inputs["InputTensor"]
    dimensions = (*(axis for axis in range(values.ndim) if axis not in order), *order)
    kept = values.ndim - len(order)
    moved = values.transpose(dimensions)
    found = evidence.recomputed(
        {"InputTensor": moved},
        InputTensor=evidence.desc.values["InputTensor"]._replace(sizes=moved.shape, strides=None),
        OutputTensor=evidence.tensor._replace(
            sizes=moved.shape if marks else (*moved.shape[:kept], *[1] * len(order)), strides=None
        ),
        Axes=tuple(range(kept, values.ndim)),
    )
    return found.transpose(np.argsort(dimensions)) if marks else found.reshape(evidence.expected.shape)


# ---- buffers


def _is_strided(tensor: TensorDesc) -> bool:
    packed = packed_strides(tensor.sizes)
    strides = tensor.strides or packed
    return any(size > 1 and stride != step for size, stride, step in zip(tensor.sizes, strides, packed, strict=True))


def _packed(labels: list[str], part: Part, values: Array) -> Array:
    """Return what is read from a strided tensor's buffer as if it were packed, 0 beyond its end."""
    if part.label not in labels:
        return values
    elements = laid_out(part.tensor, values)[: values.size]
    read = np.zeros(values.size, values.dtype)
    read[: elements.size] = elements
    return read.reshape(values.shape)


def _strides(evidence: Evidence) -> str | None:
    """Write the output packed; read the strided inputs so, all and one by one, and then write the output so as well."""
    text = "the strides of {} seem to be ignored: the result is that of a packed buffer"
    if _written_packed(evidence, evidence.expected):
        return text.format(evidence.label)
    strided = [part.label for part in evidence.desc.tensors(INPUT) if _is_strided(part.tensor)]
    for labels in ([strided] if len(strided) > 1 else []) + [[label] for label in strided]:
        predicted = evidence.recomputed(evidence.changed(partial(_packed, labels)))
        if evidence.explained_by(predicted):
            return text.format(" and ".join(labels))
        if _written_packed(evidence, predicted):
            return text.format(" and ".join([*labels, evidence.label]))
    return None


def _written_packed(evidence: Evidence, predicted: Array) -> bool:
    """Whether an output looks written as packed and read through its strides.

    Beyond its packed elements the buffer holds what it was made of: every bit set, 0, or anything.
    """
    tensor = evidence.tensor
    if not _is_strided(tensor):
        return False
    places = viewed(tensor, np.arange(tensor.extent))
    known = places < predicted.size
    shown = predicted.reshape(-1)[np.where(known, places, 0)]
    untouched = np.full(shown.itemsize, 0xFF, np.uint8).view(shown.dtype)[0]
    return evidence.explained_by(shown, known) or any(
        evidence.explained_by(np.where(known, shown, rest)) for rest in (untouched, shown.dtype.type(0))
    )


# ---- numbers


def _is_denormal(values: Array) -> Array:
    found: Array = (values != 0) & (np.abs(values) < np.finfo(values.dtype).smallest_normal)
    return found


def _replaced(where: Callable[[Array], Array], number: float, _: Part | None, values: Array) -> Array:
    """Return an array with a number in the place of some floats."""
    return np.where(where(values), values.dtype.type(number), values) if values.dtype.kind == "f" else values


def _denormals(evidence: Evidence) -> str | None:
    """Take denormals for 0: results, inputs, and both."""
    flushed = partial(_replaced, _is_denormal, 0)
    fitting = ["results"] if evidence.explained_by(flushed(None, evidence.expected)) else []
    if evidence.has_input(_is_denormal):
        found = evidence.recomputed(evidence.changed(flushed))
        if evidence.explained_by(found):
            fitting.append("inputs")
        elif not fitting and evidence.explained_by(flushed(None, found)):
            fitting.append("inputs and results")
    return f"denormal {' or '.join(fitting)} seem to be flushed to 0" if fitting else None


def _nan(evidence: Evidence) -> str | None:
    """Take another number for NaN: the one that changes nothing in a sum, a product, a maximum or a minimum."""
    fitting = [
        f"{number:g}"
        for number in ((0, 1, -np.inf, np.inf) if evidence.has_input(np.isnan) else ())
        if evidence.explained_by(evidence.recomputed(evidence.changed(partial(_replaced, np.isnan, number))))
    ]
    return f"NaN in inputs seems to be ignored, as if it were {' or '.join(fitting)}" if fitting else None


# ---- accumulation

_Terms = Callable[[Array], Array]
_SUMS: dict[str, tuple[_Terms, np.ufunc, Callable[[Array, Any], Array]]] = {
    "AVERAGE": (np.positive, np.add, lambda total, count: total / count),
    "L1": (np.abs, np.add, lambda total, _: total),
    "L2": (np.square, np.add, lambda total, _: np.sqrt(total)),
    "LOG_SUM": (np.positive, np.add, lambda total, _: np.log(total)),
    "LOG_SUM_EXP": (np.exp, np.add, lambda total, _: np.log(total)),
    "MULTIPLY": (np.positive, np.multiply, lambda total, _: total),
    "SUM": (np.positive, np.add, lambda total, _: total),
    "SUM_SQUARE": (np.square, np.add, lambda total, _: total),
}


def _accumulator(evidence: Evidence) -> str | None:
    """Add up in FLOAT32 and in FLOAT16, in the usual orders."""
    function = evidence.desc.values.get("Function", "")
    if not evidence.is_float or evidence.desc.spec.short != "REDUCE" or function not in _SUMS:
        return None
    work = "multiplying" if function == "MULTIPLY" else "adding up"
    if any(map(evidence.explained_by, _added_up(evidence, np.float32))):
        return f"the result is what {work} in FLOAT32 gives: does a step on the way overflow, underflow or cancel?"
    if function == "LOG_SUM_EXP" and any(map(evidence.explained_by, _added_up(evidence, np.float32, shifted=False))):
        return "powers seem to overflow or vanish on the way: is the largest element taken out of the exponents?"
    # Beyond the range of FLOAT16 is many a FLOAT32 element, which then tells nothing.
    found = evidence.actual[evidence.wrong]
    tells = found.dtype == np.float16 or (np.isfinite(found) & (found != 0)).any()
    is_fault = tells and evidence.limit.accumulate != "FLOAT16"
    if is_fault and any(map(evidence.explained_by, _added_up(evidence, np.float16))):
        return f"the result is what {work} in FLOAT16 gives: is the accumulator FLOAT16 instead of FLOAT32?"
    return None


def _added_up(evidence: Evidence, number: type[np.floating[Any]], *, shifted: bool = True) -> Iterator[Array]:
    """Yield what REDUCE gives when it accumulates in a type, in different orders, and finishes in it or in FLOAT32.

    `shifted` takes the largest element out of exponents.
    """
    values, axes, expected = evidence.inputs["InputTensor"], evidence.desc.values["Axes"], evidence.expected
    kept = tuple(axis for axis in range(values.ndim) if axis not in axes)
    rows = values.transpose(*kept, *sorted(axes)).reshape(expected.size, -1).astype(number)
    terms, ufunc, finish = _SUMS[evidence.desc.values["Function"]]
    top = rows.max(axis=1) if shifted and terms is np.exp else np.zeros(rows.shape[0], number)
    top = np.where(np.isfinite(top), top, number(0))
    finishers: list[Any] = list(dict.fromkeys((np.float32, number)))
    for total in _orders(terms(rows - top[:, None]), ufunc):
        for finishing in finishers:
            predicted = top + finish(total.astype(finishing), finishing(rows.shape[1]))
            yield predicted.astype(expected.dtype).reshape(expected.shape)


def _orders(terms: Array, ufunc: np.ufunc) -> Iterator[Array]:
    """Yield the sums or products of rows, in their own type: one by one, in eights, in halves, and of neighbours."""
    yield ufunc.accumulate(terms, axis=1, dtype=terms.dtype)[:, -1]
    yield ufunc.reduce(np.ascontiguousarray(terms), axis=1, dtype=terms.dtype)
    padded = np.full((terms.shape[0], 1 << (terms.shape[1] - 1).bit_length()), ufunc.identity, dtype=terms.dtype)
    padded[:, : terms.shape[1]] = terms
    halves, pairs = padded, padded
    while halves.shape[1] > 1:
        middle = halves.shape[1] // 2
        halves = ufunc(halves[:, :middle], halves[:, middle:])
        pairs = ufunc(pairs[:, ::2], pairs[:, 1::2])
    yield halves[:, 0]
    yield pairs[:, 0]


KNOWN_FAULTS: tuple[Callable[[Evidence], str | None], ...] = (
    _ties,
    _axes_order,
    _strides,
    _denormals,
    _nan,
    _accumulator,
)
