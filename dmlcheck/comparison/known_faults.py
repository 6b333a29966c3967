"""Likely causes of a wrong output: well-known faults are simulated on the inputs, and compared with the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice, product
from time import monotonic
from typing import Any

import numpy as np

from dmlcheck.comparison.compare import same
from dmlcheck.comparison.patterns import few_bits, goes_both_ways, patterns
from dmlcheck.comparison.variants import explaining, in_time
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.descs.strides import is_packed
from dmlcheck.reference import engine
from dmlcheck.reference.ball import narrowed
from dmlcheck.reference.ball.narrowed import Narrowing
from dmlcheck.reference.ball.winograd import may_be_winograd
from dmlcheck.reference.bindings import row
from dmlcheck.reference.engine import Array
from dmlcheck.reference.rows import MARK, WINOGRAD
from dmlcheck.specs.records import INPUT
from dmlcheck.values.layouts import laid_out, viewed

# ---- wrong outputs of steps on the way


_STEPS = {
    "square": "a square",
    "power": "a power",
    "multiply": "a product",
    "matmul": "a product of matrices",
    "add": "a sum",
}
_UNSHIFTED = ": is the largest element taken out of the exponents?"
_LEAST = 4  # wrong elements that tell of roundings: fewer may be so by chance
_CORRELATED = 0.7
_SIZES = 4.0  # the ratio of the sums of squares of errors that are alike, at most


def overflow(wrong: WrongOutput) -> str | None:
    """Return the step that overflows, if the formula with steps of a float type gives the whole output."""
    found = wrong.actual[wrong.mask]
    if bool((np.isfinite(found) & (found != 0)).all()):
        return None
    for number, way, words in _ways(wrong):
        with suppress(Exception):  # such numbers may be none that the formula takes
            computed = engine.evaluate(wrong.desc, wrong.inputs, partial(narrowed.narrowed, way))[wrong.label]
            step = _step(way)
            if (
                step is not None
                and _shows(wrong, computed)
                and wrong.is_right_for(computed.values, wrong.desc, wrong.inputs)
            ):
                return f"{step} {number} on the way{words}"
    return None


def _step(way: Narrowing) -> str | None:
    """Return the step that overflowed, the first one in a formula; of powers also that they vanished."""
    seen = way.seen or set()
    if "exp" in seen:
        return "exp overflows"
    if way.is_unshifted and narrowed.VANISHING in seen and "add" not in seen:
        return "exp underflows"
    steps = [words for name, words in _STEPS.items() if name in seen and (name == "add" or not way.is_unshifted)]
    return f"{steps[0]} overflows" if steps else None


def _ways(wrong: WrongOutput) -> Iterator[tuple[str, Narrowing, str]]:
    """Yield types of steps, and the ways to compute in them, each with what is said of it."""
    types = [("FLOAT32", narrowed.float32)]
    if any(part.tensor.data_type == "FLOAT16" for part in wrong.desc.tensors()):
        types.append(("FLOAT16", narrowed.float16))
    for name, step in types:
        yield name, Narrowing(step=step, seen=set()), ""
        yield name, Narrowing(step=step, seen=set(), is_unshifted=True), _UNSHIFTED


def _shows(wrong: WrongOutput, computed: engine.ComputedOutput) -> bool:
    """Whether a prediction has infinities, NaN or zeros, as the output, where these are wrong."""
    if computed.undefined is not None and bool(computed.undefined[wrong.mask].any()):
        return False
    made, found = computed.values[wrong.mask], wrong.actual[wrong.mask]
    is_left = ~np.isfinite(made) | (made == 0)
    return bool((is_left & (np.isfinite(found) == np.isfinite(made))).any())


def in_float16(wrong: WrongOutput) -> str | None:
    """Return the words for errors of steps in FLOAT16.

    They have the size of the errors of the formula with every step in FLOAT16, correlate with them, and keep its
    bounds.
    """
    if wrong.tensor.data_type != "FLOAT16" or wrong.limit.is_own or wrong.limit.precision.accumulate == "FLOAT16":
        return None
    wanted = wrong.expected.astype(np.float64)
    errors = wrong.actual.astype(np.float64) - wanted
    looser = wrong.limit._replace(precision=wrong.limit.precision._replace(accumulate="FLOAT16"))
    if int(wrong.mask.sum()) < _LEAST or not np.isfinite(errors).all() or not goes_both_ways(wanted, errors):
        return None
    if not any(_are_alike(errors, made - wanted) for made in _in_float16(wrong)):
        return None
    if not wrong.is_right_for(wrong.expected, wrong.desc, wrong.inputs, looser):
        return None
    return "the errors are as large as those of intermediate results in FLOAT16"


def _in_float16(wrong: WrongOutput) -> Iterator[Array]:
    """Yield the output of a formula with every step in FLOAT16, with and without the usual care about overflow."""
    for is_unshifted in (False, True):
        for rounding in (None, narrowed.float16):
            way = Narrowing(step=narrowed.float16, is_unshifted=is_unshifted, rounding=rounding)
            numbers = partial(narrowed.narrowed, way)
            yield engine.evaluate(wrong.desc, wrong.inputs, numbers)[wrong.label].values.astype(np.float64)


def _are_alike(errors: Array, others: Array) -> bool:
    """Whether errors have the size of others, and correlate with them."""
    own, size, both = (float((a * b).sum()) for a, b in ((errors, errors), (others, others), (errors, others)))
    return own > 0 and size / _SIZES <= own <= size * _SIZES and both >= _CORRELATED * np.sqrt(own * size)


# ---- likely causes of a wrong output


Suspect = Callable[[WrongOutput], str | None]

MOST = 2**20  # elements of all tensors together: the search recomputes an output some ten times
SECONDS = 10.0  # of the search: each fault of a network of many steps takes long
_SHOWN = 2  # causes of one kind that fit alike
_MOST_SHOWN = 3
_EXPECTED = "the reference engine agrees with the result: is the expected value of the case wrong?"


def likely_cause(wrong: WrongOutput, *, is_tried: bool = True) -> str | None:
    """Return the fault that explains a wrong output, as a sentence for its diagnostic; None if none does.

    Every fault is simulated on the inputs, and named if it gives the whole output: at most three. A step that overflows
    is the only one named, because infinities and NaN fit many faults. Tensors of more than MOST elements together are
    left out. If `is_tried` is false, only the well-known faults and the values themselves are compared, which takes
    less time. After SECONDS no other fault is tried.
    """
    if not is_searched(wrong.desc):
        return None
    end = monotonic() + SECONDS
    with np.errstate(all="ignore"):
        if _agrees_with_reference(wrong):
            return f"likely cause: {_EXPECTED}"
        causes = list(_causes((overflow,), wrong, end)) if wrong.is_float else []
        if not causes:
            tried = _tried(wrong, end) if is_tried else iter(())
            found = (
                islice(_causes(KNOWN_FAULTS, wrong, end), _SHOWN),
                islice(tried, _SHOWN),
                islice(patterns(wrong.expected, wrong.actual, wrong.mask), 1),
            )
            causes = list(islice(chain(*found), _MOST_SHOWN))
        causes = causes or list(islice(_causes(_OF_ROUNDING, wrong, end), 1))
    return f"likely cause: {'; or '.join(causes)}" if causes else None


def is_searched(desc: OperatorDesc) -> bool:
    """Whether the tensors of a desc are small enough for the search."""
    return sum(max(part.tensor.element_count, part.tensor.extent) for part in desc.tensors()) <= MOST


def _agrees_with_reference(wrong: WrongOutput) -> bool:
    """Whether the output agrees with the reference engine, and the expected values do not."""
    own = wrong.recomputed()
    return not same(own, wrong.expected).all() and wrong.is_right_for(own, wrong.desc, wrong.inputs)


def _causes(suspects: Sequence[Suspect], wrong: WrongOutput, end: float) -> Iterator[str]:
    for suspect in in_time(suspects, end):
        with suppress(Exception):  # the kernel may refuse such inputs: a guess must not end the run
            text = suspect(wrong)
            if text is not None:
                yield text


def _tried(wrong: WrongOutput, end: float) -> Iterator[str]:
    """Yield faults that are tried on the reference engine."""
    return (f"the result is as if {words}" for words in explaining(wrong, end))


# ---- which element, and in which order


def _searched(wrong: WrongOutput) -> tuple[tuple[int, ...], bool] | None:
    """Return the axes along which an extreme element is sought, and whether it is marked; None for other operators."""
    seeks, values = row(wrong.desc.spec.operator).kernel.seeks, wrong.desc.values
    if seeks or values.get("Function") in ("ARGMAX", "ARGMIN"):
        return tuple(values.get("Axes", (wrong.expected.ndim - 1,))), seeks == MARK
    return None


def _ties(wrong: WrongOutput) -> str | None:
    """Look at the tensor from its other end: the first of equal elements is then the last."""
    search = _searched(wrong)
    if search is None:
        return None
    axes, marks = search
    values = wrong.inputs["InputTensor"]
    found = wrong.recomputed({"InputTensor": np.flip(values, axes)})
    last = values.size // found.size - 1
    predicted = np.flip(found, axes) if marks else (last - found.astype(np.int64)).astype(found.dtype)
    if not wrong.explained_by(predicted):
        return None
    direction = wrong.desc.values.get("AxisDirection")
    chosen, asked = ("first", "last") if direction == "DECREASING" else ("last", "first")
    who = f"AxisDirection {direction}" if direction else wrong.desc.spec.short
    return f"the {chosen} of equal elements seems to be chosen; {who} asks for the {asked}"


def _axes_order(wrong: WrongOutput) -> str | None:
    """Walk along the axes in other orders."""
    search = _searched(wrong)
    if search is None:
        return None
    axes, marks = search
    sizes = wrong.inputs["InputTensor"].shape
    backwards = tuple(sorted(axes, reverse=True))
    too = ", or column-major" if axes == backwards else ""
    for order, words in (
        (axes, f"in the order of Axes, {list(axes)}{too}"),
        (backwards, "with the first one the fastest (column-major)"),
    ):
        long = [axis for axis in order if sizes[axis] > 1]
        if long != sorted(long) and wrong.explained_by(_walked(wrong, order, marks=marks)):
            rule = "the order of the tensor's dimensions counts, row-major"
            return f"the axes seem to be walked along {words}; {rule}"
    return None


def _walked(wrong: WrongOutput, order: tuple[int, ...], *, marks: bool) -> Array:
    """Return the result of walking along axes in another order: the operator's output of a transposed tensor."""
    values = wrong.inputs["InputTensor"]
    dimensions = (*(axis for axis in range(values.ndim) if axis not in order), *order)
    kept = values.ndim - len(order)
    moved = values.transpose(dimensions)
    found = wrong.recomputed(
        {"InputTensor": moved},
        InputTensor=wrong.desc.values["InputTensor"]._replace(sizes=moved.shape, strides=None),
        OutputTensor=wrong.tensor._replace(
            sizes=moved.shape if marks else (*moved.shape[:kept], *[1] * len(order)), strides=None
        ),
        Axes=tuple(range(kept, values.ndim)),
    )
    return found.transpose(np.argsort(dimensions)) if marks else found.reshape(wrong.expected.shape)


# ---- buffers


def _packed(labels: list[str], part: TensorPart, values: Array, *, has_zeros: bool) -> Array:
    """Return a strided tensor's buffer read as if it were packed, 0 beyond its end; it may have zeros in its gaps."""
    if part.label not in labels:
        return values
    elements = laid_out(part.tensor, values)
    if has_zeros:
        elements = np.zeros_like(elements)
        viewed(part.tensor, elements)[...] = values
    elements = elements[: values.size]
    read = np.zeros(values.size, values.dtype)
    read[: elements.size] = elements
    return read.reshape(values.shape)


def _strides(wrong: WrongOutput) -> str | None:
    """Write the output packed; read the strided inputs so, all and one by one, and then write the output so as well.

    Between the elements, a buffer has its initial bytes: every bit set, or 0.
    """
    text = "the strides of {} seem to be ignored: the result is that of a packed buffer"
    if _written_packed(wrong, wrong.expected):
        return text.format(wrong.label)
    parts = wrong.desc.tensors(INPUT)
    strided = [part.label for part in parts if not is_packed(part.tensor.sizes, part.tensor.strides)]
    read = ([strided] if len(strided) > 1 else []) + [[label] for label in strided]
    for labels, has_zeros in product(read, (False, True)):
        predicted = wrong.recomputed(wrong.changed(partial(_packed, labels, has_zeros=has_zeros)))
        if wrong.explained_by(predicted):
            return text.format(" and ".join(labels))
        if _written_packed(wrong, predicted):
            return text.format(" and ".join([*labels, wrong.label]))
    return None


def _written_packed(wrong: WrongOutput, predicted: Array) -> bool:
    """Whether an output looks written as packed and read through its strides.

    Beyond its packed elements the buffer keeps its initial bytes: every bit set, 0, or anything.
    """
    tensor = wrong.tensor
    if is_packed(tensor.sizes, tensor.strides):
        return False
    places = viewed(tensor, np.arange(tensor.extent))
    known = places < predicted.size
    shown = predicted.reshape(-1)[np.where(known, places, 0)]
    untouched = np.full(shown.itemsize, 0xFF, np.uint8).view(shown.dtype)[0]
    return wrong.explained_by(shown, known) or any(
        wrong.explained_by(np.where(known, shown, rest)) for rest in (untouched, shown.dtype.type(0))
    )


# ---- numbers


def _is_denormal(values: Array) -> Array:
    found: Array = (values != 0) & (np.abs(values) < np.finfo(values.dtype).smallest_normal)
    return found


def _replaced(where: Callable[[Array], Array], number: float, _: TensorPart | None, values: Array) -> Array:
    return np.where(where(values), values.dtype.type(number), values) if values.dtype.kind == "f" else values


def _denormals(wrong: WrongOutput) -> str | None:
    """Take denormals for 0: results, inputs, and both."""
    flushed = partial(_replaced, _is_denormal, 0)
    fitting = ["results"] if wrong.explained_by(flushed(None, wrong.expected)) else []
    if wrong.has_input(_is_denormal):
        found = wrong.recomputed(wrong.changed(flushed))
        if wrong.explained_by(found):
            fitting.append("inputs")
        elif not fitting and wrong.explained_by(flushed(None, found)):
            fitting.append("inputs and results")
    return f"denormal {' or '.join(fitting)} seem to be flushed to 0" if fitting else None


def _nan(wrong: WrongOutput) -> str | None:
    """Take another number for NaN: the one that changes nothing in a sum, a product, a maximum or a minimum.

    Where each of them fits, the result does not depend on the number, and tells nothing.
    """
    fitting = [
        f"{number:g}"
        for number in (_FOR_NAN if wrong.has_input(np.isnan) else ())
        if wrong.explained_by(wrong.recomputed(wrong.changed(partial(_replaced, np.isnan, number))))
    ]
    if not 0 < len(fitting) < len(_FOR_NAN):
        return None
    return f"NaN in inputs seems to be ignored, as if it were {' or '.join(fitting)}"


_FOR_NAN = (0, 1, -np.inf, np.inf)


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


def _accumulator(wrong: WrongOutput) -> str | None:
    """Add up in FLOAT32 and in FLOAT16, in the usual orders."""
    function = wrong.desc.values.get("Function", "")
    if not wrong.is_float or function not in _SUMS:
        return None
    work = "multiplying" if function == "MULTIPLY" else "adding up"
    if any(map(wrong.explained_by, _added_up(wrong, np.float32))):
        return f"the result is what {work} in FLOAT32 gives: does a step on the way overflow, underflow or cancel?"
    if function == "LOG_SUM_EXP" and any(map(wrong.explained_by, _added_up(wrong, np.float32, shifted=False))):
        return "powers seem to overflow or vanish on the way: is the largest element taken out of the exponents?"
    # Many FLOAT32 elements are beyond the range of FLOAT16: the comparison would tell nothing.
    found = wrong.actual[wrong.mask]
    tells = found.dtype == np.float16 or (np.isfinite(found) & (found != 0)).any()
    is_fault = tells and wrong.limit.precision.accumulate != "FLOAT16"
    if is_fault and any(map(wrong.explained_by, _added_up(wrong, np.float16))):
        return f"the result is what {work} in FLOAT16 gives: is the accumulator FLOAT16 instead of FLOAT32?"
    return None


def _added_up(wrong: WrongOutput, number: type[np.floating[Any]], *, shifted: bool = True) -> Iterator[Array]:
    """Yield the results of REDUCE if it accumulates in a type, in different orders, and finishes in it or in FLOAT32.

    `shifted` subtracts the largest element from exponents.
    """
    values, axes, expected = wrong.inputs["InputTensor"], wrong.desc.values["Axes"], wrong.expected
    kept = tuple(axis for axis in range(values.ndim) if axis not in axes)
    rows = values.transpose(*kept, *sorted(axes)).reshape(expected.size, -1).astype(number)
    terms, ufunc, finish = _SUMS[wrong.desc.values["Function"]]
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


# ---- another way to compute


def _winograd(wrong: WrongOutput) -> str | None:
    """Errors of a convolution that Winograd's algorithms may have."""
    limit = wrong.limit
    if limit.is_own or WINOGRAD in limit.precision.algorithms or not may_be_winograd(wrong.desc):
        return None
    looser = limit._replace(precision=limit.precision._replace(algorithms=(WINOGRAD,)))
    if not wrong.is_right_for(wrong.expected, wrong.desc, wrong.inputs, looser):
        return None
    return f"the errors are as large as those of Winograd's algorithms, which `--algorithms {WINOGRAD}` allows"


_LITTLE = 2.0**-12  # of a result: an error that the accuracy of a function may make
_ROUNDED = frozenset(("divide", "reciprocal", "sqrt"))  # functions that devices compute alike


def _function(wrong: WrongOutput) -> str | None:
    """Small errors of DirectML in what a function gives: the driver computes functions, and not DirectML."""
    names = [name for name in wrong.desc.spec.functions if name not in _ROUNDED]
    if not (wrong.limit.precision.is_directml and names and wrong.is_float):
        return None
    found, wanted = (x[wrong.mask].astype(np.float64) for x in (wrong.actual, wrong.expected))
    size = np.maximum(np.abs(wanted), np.finfo(wrong.expected.dtype).smallest_normal)
    if not (np.abs(found - wanted) <= _LITTLE * size).all():
        return None
    return f"the device's {' or '.join(names)}: all errors are small, and drivers differ in the accuracy of functions"


_OF_ROUNDING: tuple[Suspect, ...] = (in_float16, lambda wrong: few_bits(wrong.expected, wrong.actual, wrong.mask))
KNOWN_FAULTS: tuple[Suspect, ...] = (
    _ties,
    _axes_order,
    _strides,
    _denormals,
    _nan,
    _accumulator,
    _winograd,
    _function,
)
