"""The shipped cases catch broken reductions: each plausible fault, planted in an implementation, fails one of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from judged import Fake
from shipped import cases_in

import dmlcheck
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.implementations.protocol import Reference

Array = np.ndarray[Any, Any]
Implementation = Any
OfRows = Callable[[Array], Array]

OPERATORS = ("reduce", "argmax", "argmin", "activation_hardmax", "activation_hardmax1")
FUNCTIONS = tuple(
    "ARGMAX ARGMIN AVERAGE L1 L2 LOG_SUM LOG_SUM_EXP MAX MIN MULTIPLY SUM SUM_SQUARE".split()  # noqa: SIM905
)
SUMS = ("AVERAGE", "L1", "L2", "LOG_SUM", "SUM", "SUM_SQUARE")
MOST = 65_536  # elements: larger cases are run for what only they can catch
REFERENCE = Reference()


@cache
def positive_cases(operator: str) -> tuple[Case, ...]:
    """Return the cases of an operator that compute something; mutants take the place of the reference in all."""
    return tuple(case._replace(tags=()) for case in cases_in(operator) if case.outputs is not None)


def is_caught(mutant: Implementation, operator: str, function: str | None = None, *, most: int = MOST) -> bool:
    """Whether an implementation fails a case: of the operator, of one function of REDUCE if one is named.

    Only cases of up to `most` elements are run. One that cannot be computed at all does not count.
    """
    return any(
        dmlcheck.run_cases([case], mutant)[0].outcome == "failed"
        for case in positive_cases(operator)
        if function in (None, function_of(case)) and element_count(case) <= most
    )


def function_of(case: Case) -> str:
    """Return a case's DML_REDUCE_FUNCTION."""
    return str(case.desc.get("Function")).removeprefix("DML_REDUCE_FUNCTION_")


def element_count(case: Case) -> int:
    """Return the number of elements that a case reads."""
    tensor = case.desc["InputTensor"]
    return math.prod(tensor.get("Desc", tensor)["Sizes"])


# ---- implementations


def implementation(run: Callable[[OperatorDesc, Array, TensorDesc], Array]) -> Implementation:
    """Return an implementation under test of operators of one input and one output."""

    def outputs(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        output = desc.tensor("OutputTensor")
        assert output is not None
        with np.errstate(all="ignore"):
            found = np.asarray(run(desc, inputs["InputTensor"], output))
            typed = found.astype(np.dtype(output.data_type.lower()), copy=False)
        return {"OutputTensor": np.resize(typed, output.sizes)}

    return Fake(outputs)


def right(desc: OperatorDesc, values: Array, output: TensorDesc, **fields: Any) -> Array:
    """Return what the reference computes of a desc, of some fields other than its own."""
    tensors = {"InputTensor": TensorDesc(values.dtype.name.upper(), values.shape), "OutputTensor": output}
    changed = OperatorDesc.of(desc.spec, {**desc.values, **tensors, **fields})
    return REFERENCE.run(changed, {"InputTensor": values})["OutputTensor"]


def axes_of(desc: OperatorDesc, rank: int) -> tuple[int, ...]:
    """Return the axes of a desc; those of HARDMAX are the last."""
    return tuple(desc.values.get("Axes", (rank - 1,)))


def in_rows(values: Array, axes: tuple[int, ...], order: tuple[int, ...] | None = None) -> Array:
    """Return the groups along axes as rows, which hold them in row-major order, or with the axes in another order."""
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    moved = values.transpose(*kept, *(tuple(sorted(axes)) if order is None else order))
    return moved.reshape(math.prod(moved.shape[: len(kept)]), -1)


def of_rows(function: str, mutant: OfRows) -> Implementation:
    """Return an implementation that computes one DML_REDUCE_FUNCTION of rows in its own way, the others right."""

    def run(desc: OperatorDesc, values: Array, output: TensorDesc) -> Array:
        if desc.values.get("Function") != function:
            return right(desc, values, output)
        return mutant(in_rows(values, axes_of(desc, values.ndim)))

    return implementation(run)


def reduced(function: str, rows: Array) -> Array:
    """Return a DML_REDUCE_FUNCTION of rows, right."""
    sizes = [len(rows), 1]
    kind = "UINT32" if function.startswith("ARG") else rows.dtype.name.upper()
    desc = {
        "Function": function,
        "InputTensor": {"DataType": rows.dtype.name.upper(), "Sizes": list(rows.shape)},
        "OutputTensor": {"DataType": kind, "Sizes": sizes},
        "Axes": [1],
    }
    return dmlcheck.evaluate("REDUCE", desc, {"InputTensor": rows})["OutputTensor"][:, 0]


def assert_caught(mutant: OfRows, function: str, *, most: int = MOST) -> None:
    """What computes a function in its own way is called, and fails a case."""
    calls: list[int] = []

    def counted(rows: Array) -> Array:
        calls.append(len(rows))
        return mutant(rows)

    assert is_caught(of_rows(function, counted), "reduce", function, most=most)
    assert calls


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_case_passes_as_long_as_nothing_is_broken(operator: str) -> None:
    """Measured results are left out: the documentation does not settle them, and they are those of DirectML."""
    cases = [case for case in positive_cases(operator) if not case.file.endswith("measured.yaml")]
    results = dmlcheck.run_cases(cases, implementation(right))
    assert results
    assert [result.case.id for result in results if result.outcome != "passed"] == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_of_rows_passes_as_long_as_it_is_right(function: str) -> None:
    assert not is_caught(of_rows(function, lambda rows: reduced(function, rows)), "reduce", function)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "other"), list(permutations(FUNCTIONS, 2)))
def test_one_function_in_the_place_of_another(function: str, other: str) -> None:
    assert_caught(lambda rows: reduced(other, rows), function)


# ---- axes and indices


INDEX_KERNELS = [
    ("reduce", "ARGMAX"),
    ("reduce", "ARGMIN"),
    ("argmax", None),
    ("argmin", None),
    ("activation_hardmax1", None),
]
Axes = tuple[int, ...]
AXES: dict[str, Callable[[Axes, int], Axes]] = {
    "the axis after": lambda axes, rank: tuple((axis + 1) % rank for axis in axes),
    "the axis before": lambda axes, rank: tuple((axis - 1) % rank for axis in axes),
    "axes counted from the end": lambda axes, rank: tuple(rank - 1 - axis for axis in axes),
    "only the first axis": lambda axes, _: axes[:1],
    "only the last axis": lambda axes, _: axes[-1:],
    "one axis too many": lambda axes, rank: tuple({*axes, (max(axes, default=-1) + 1) % rank}),
    "no axis beyond the fourth": lambda axes, _: tuple(axis for axis in axes if axis < 4),
    "all axes": lambda _, rank: tuple(range(rank)),
}


def with_axes(change: Callable[[Axes, int], Axes]) -> Implementation:
    """Return an implementation that takes other axes, and fills the output with what it gets."""

    def run(desc: OperatorDesc, values: Array, output: TensorDesc) -> Array:
        axes = change(axes_of(desc, values.ndim), values.ndim)
        if desc.spec.short.startswith("ACTIVATION"):
            return marked(values, axes, lambda rows: place(rows, np.fmax, last=False))
        sizes = tuple(1 if axis in axes else size for axis, size in enumerate(values.shape))
        return right(desc, values, TensorDesc(output.data_type, sizes), Axes=axes)

    return implementation(run)


def marked(values: Array, axes: Axes, index: OfRows) -> Array:
    """Return 1 where the chosen element of each group is, else 0."""
    rows = in_rows(values, axes)
    return put_back(np.arange(rows.shape[1]) == index(rows)[:, None], values.shape, axes).astype(values.dtype)


def put_back(rows: Array, sizes: tuple[int, ...], axes: Axes) -> Array:
    """Return rows as the tensor that they were cut from."""
    order = [*(axis for axis in range(len(sizes)) if axis not in axes), *sorted(axes)]
    return rows.reshape([sizes[axis] for axis in order]).transpose(np.argsort(order))


def place(rows: Array, extreme: np.ufunc, *, last: bool) -> Array:
    """Return where the extreme element of each row is: the first of equal ones, or the last."""
    hits = rows == extreme.reduce(rows, axis=1, keepdims=True)
    return rows.shape[1] - 1 - hits[:, ::-1].argmax(axis=1) if last else hits.argmax(axis=1)


@pytest.mark.parametrize("operator", ["reduce", "argmax", "argmin", "activation_hardmax1"])
@pytest.mark.parametrize("mutation", AXES)
def test_other_axes_than_the_desc_names(mutation: str, operator: str) -> None:
    assert is_caught(with_axes(AXES[mutation]), operator)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("mutation", ["the axis after", "the axis before", "only the first axis", "all axes"])
def test_other_axes_in_every_function(mutation: str, function: str) -> None:
    assert is_caught(with_axes(AXES[mutation]), "reduce", function)


@pytest.mark.parametrize("mutation", ["the axis before", "one axis too many", "all axes"])
def test_hardmax_over_other_dimensions_than_the_last(mutation: str) -> None:
    assert is_caught(with_axes(AXES[mutation]), "activation_hardmax")


Search = Callable[..., Array]


def searching(search: Search, order_of: Callable[[Axes], Axes] = lambda axes: tuple(sorted(axes))) -> Implementation:
    """Return an implementation of the operators of indices that searches rows in its own way."""

    def run(desc: OperatorDesc, values: Array, output: TensorDesc) -> Array:
        name, axes = desc.values.get("Function", desc.spec.short), axes_of(desc, values.ndim)
        if not ("ARG" in name or "HARDMAX" in name):
            return right(desc, values, output)
        extreme = np.fmin if name == "ARGMIN" else np.fmax
        last = desc.values.get("AxisDirection") == "DECREASING"
        if "HARDMAX" in name:
            order = order_of(axes)
            moved = in_rows(values, axes, order)
            marks = (np.arange(moved.shape[1]) == search(moved, extreme, last=last)[:, None]).astype(values.dtype)
            kept = [axis for axis in range(values.ndim) if axis not in axes]
            shape = [values.shape[axis] for axis in (*kept, *order)]
            return marks.reshape(shape).transpose(np.argsort((*kept, *order)))
        return search(in_rows(values, axes, order_of(axes)), extreme, last=last)

    return implementation(run)


@pytest.mark.parametrize(("operator", "function"), [*INDEX_KERNELS, ("activation_hardmax", None)])
def test_a_search_passes_as_long_as_it_is_right(operator: str, function: str | None) -> None:
    assert not is_caught(searching(place), operator, function)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS)
def test_an_index_that_counts_in_the_order_of_axes(operator: str, function: str | None) -> None:
    assert is_caught(searching(place, lambda axes: axes), operator, function)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS)
def test_an_index_that_counts_column_by_column(operator: str, function: str | None) -> None:
    assert is_caught(searching(place, lambda axes: tuple(sorted(axes, reverse=True))), operator, function)


INDICES: dict[str, Search] = {
    "counted from 1": lambda rows, extreme, last: place(rows, extreme, last=last) + 1,
    "counted from the end": lambda rows, extreme, last: rows.shape[1] - 1 - place(rows, extreme, last=last),
    "always 0": lambda rows, extreme, last: place(rows, extreme, last=last) * 0,
}


@pytest.mark.parametrize(("operator", "function"), [*INDEX_KERNELS, ("activation_hardmax", None)])
@pytest.mark.parametrize("mutation", INDICES)
def test_indices_that_are_off(mutation: str, operator: str, function: str | None) -> None:
    assert is_caught(searching(INDICES[mutation]), operator, function)


def _total_order(block: Array) -> Array:
    """Return numbers in the order of the floats, -0.0 before 0.0."""
    if block.dtype.kind != "f":
        return block
    bits = block.view(f"i{block.itemsize}")
    return np.where(bits < 0, ~bits ^ np.iinfo(bits.dtype).min, bits).astype(np.float64)


def _other_sign(block: Array) -> Array:
    return block.view(block.dtype.str.translate({ord("i"): "u", ord("u"): "i"})) if block.dtype.kind in "iu" else block


def _flushed(block: Array) -> Array:
    return np.where(np.abs(block) < np.finfo(block.dtype).tiny, 0, block) if block.dtype.kind == "f" else block


def _finite(block: Array) -> Array:
    if block.dtype.kind != "f":
        return block
    limits = np.finfo(block.dtype)
    return np.clip(block, limits.min, limits.max)


SIGHTS: dict[str, OfRows] = {
    "negative zero below zero": _total_order,
    "signed as unsigned and the reverse": _other_sign,
    "integers through float32": lambda block: block.astype(np.float32) if block.dtype.kind in "iu" else block,
    "integers through float64": lambda block: block.astype(np.float64) if block.dtype.kind in "iu" else block,
    "denormals flushed to 0": _flushed,
    "infinities as the largest numbers": _finite,
    "magnitudes": np.abs,
    "float32 as float16": lambda block: block.astype(np.float16) if block.dtype == np.float32 else block,
}
SIGHTS_OF_INTEGERS = ("signed as unsigned and the reverse", "integers through float32", "integers through float64")
SEARCHES = [(mutation, operator) for mutation in SIGHTS for operator in ("argmax", "argmin")] + [
    (mutation, operator)
    for mutation in SIGHTS
    for operator in ("activation_hardmax", "activation_hardmax1")
    if mutation not in SIGHTS_OF_INTEGERS
]


@pytest.mark.slow
@pytest.mark.parametrize(("mutation", "operator"), SEARCHES)
def test_elements_compared_as_what_they_are_not(mutation: str, operator: str) -> None:
    view = SIGHTS[mutation]
    assert is_caught(searching(lambda rows, extreme, last: place(view(rows), extreme, last=last)), operator)


TIES = {"always the first": lambda _: False, "always the last": lambda _: True, "the other one": lambda last: not last}


def breaking_ties(mutation: str) -> Implementation:
    """Return an implementation that takes another of several equal elements."""
    return searching(lambda rows, extreme, last: place(rows, extreme, last=TIES[mutation](last)))


@pytest.mark.parametrize(("operator", "function"), [*INDEX_KERNELS, ("activation_hardmax", None)])
@pytest.mark.parametrize("mutation", ["always the last", "the other one"])
def test_the_last_of_equal_elements_for_the_first(mutation: str, operator: str, function: str | None) -> None:
    assert is_caught(breaking_ties(mutation), operator, function)


@pytest.mark.parametrize("operator", ["argmax", "argmin"])
def test_the_first_of_equal_elements_for_the_last(operator: str) -> None:
    assert is_caught(breaking_ties("always the first"), operator)


@pytest.mark.parametrize("operator", ["argmax", "argmin"])
def test_the_largest_for_the_smallest(operator: str) -> None:
    other = {np.fmax: np.fmin, np.fmin: np.fmax}
    assert is_caught(searching(lambda rows, extreme, last: place(rows, other[extreme], last=last)), operator)


def with_indices(change: Callable[[Array, Array, Axes], Array]) -> Implementation:
    """Return an implementation that makes something else of the indices, given the tensor and the axes."""

    def run(desc: OperatorDesc, values: Array, output: TensorDesc) -> Array:
        found = right(desc, values, output)
        if not desc.values.get("Function", desc.spec.short).startswith("ARG"):
            return found
        return change(found.reshape(-1).astype(np.int64), values, axes_of(desc, values.ndim))

    return implementation(run)


def _in_the_whole_tensor(index: Array, values: Array, axes: Axes) -> Array:
    places = in_rows(np.arange(values.size).reshape(values.shape), axes)
    return np.take_along_axis(places, index[:, None], axis=1)


def _along_the_last_axis(index: Array, values: Array, axes: Axes) -> Array:
    return index % (values.shape[max(axes)] if axes else 1)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS[:4])
@pytest.mark.parametrize("change", [_in_the_whole_tensor, _along_the_last_axis])
def test_an_index_into_something_else(change: Callable[..., Array], operator: str, function: str | None) -> None:
    assert is_caught(with_indices(change), operator, function)


# ---- HARDMAX


def _all_ties(rows: Array) -> Array:
    return rows == np.fmax.reduce(rows, axis=1, keepdims=True)


def _the_value(rows: Array) -> Array:
    return np.where(np.arange(rows.shape[1]) == place(rows, np.fmax, last=False)[:, None], rows, 0)


def _from_zero(rows: Array) -> Array:
    """Start the search from 0, so that nothing is found among negative numbers."""
    return (np.arange(rows.shape[1]) == place(rows, np.fmax, last=False)[:, None]) & (rows >= 0)


@pytest.mark.parametrize("operator", ["activation_hardmax", "activation_hardmax1"])
@pytest.mark.parametrize("mutant", [_all_ties, _the_value, _from_zero])
def test_hardmax_that_marks_otherwise(mutant: OfRows, operator: str) -> None:
    def run(desc: OperatorDesc, values: Array, _: TensorDesc) -> Array:
        axes = axes_of(desc, values.ndim)
        return put_back(mutant(in_rows(values, axes)), values.shape, axes)

    assert is_caught(implementation(run), operator)


# ---- float sums


def _term(function: str) -> OfRows:
    return {"L1": np.abs, "L2": np.square, "SUM_SQUARE": np.square}.get(function, np.positive)


def _finished(function: str, total: Array, count: int) -> Array:
    if function == "AVERAGE":
        return total / total.dtype.type(count)
    return {"L2": np.sqrt, "LOG_SUM": np.log}.get(function, np.positive)(total)


def running(function: str, dtype: Any, *, only: str = "f") -> OfRows:
    """Add up one term after the other in a float type."""

    def mutant(rows: Array) -> Array:
        if rows.dtype.kind != "f" or (only != "f" and rows.dtype != np.dtype(only)):
            return reduced(function, rows)
        total = np.add.accumulate(_term(function)(rows.astype(dtype)), axis=1, dtype=dtype)[:, -1]
        return _finished(function, total, rows.shape[1])

    return mutant


@pytest.mark.parametrize("function", SUMS)
def test_sums_of_float16_accumulated_in_float16(function: str) -> None:
    assert_caught(running(function, np.float16, only="float16"), function)


@pytest.mark.parametrize("function", SUMS)
def test_sums_accumulated_in_float32_are_within_the_bound_or_overflow(function: str) -> None:
    """Which the bound allows but where an intermediate overflows, which a case of each function has."""
    assert_caught(running(function, np.float32), function)


@pytest.mark.parametrize(
    ("function", "case"),
    [("SUM", "sum-float16-intermediate-overflow"), ("AVERAGE", "average-float16-intermediate-overflow")],
)
def test_float16_sums_that_overflow_on_the_way_fail_the_case_made_for_them(function: str, case: str) -> None:
    mutant = of_rows(function, running(function, np.float16, only="float16"))
    cases = [shipped for shipped in positive_cases("reduce") if shipped.name.startswith(case)]
    assert "failed" in {result.outcome for result in dmlcheck.run_cases(cases, mutant)}


def test_average_with_integer_division() -> None:
    assert_caught(lambda rows: rows.sum(axis=1, dtype=np.float64) // rows.shape[1], "AVERAGE")


def test_average_over_one_element_less() -> None:
    assert_caught(lambda rows: rows.sum(axis=1, dtype=np.float64) / max(1, rows.shape[1] - 1), "AVERAGE")


@pytest.mark.parametrize("function", SUMS)
def test_sums_that_ignore_nan(function: str) -> None:
    assert_caught(lambda rows: reduced(function, np.where(np.isnan(rows), rows.dtype.type(0), rows)), function)


@pytest.mark.parametrize("function", ["AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "SUM", "ARGMAX"])
def test_infinities_as_the_largest_numbers(function: str) -> None:
    assert_caught(lambda rows: reduced(function, _finite(rows)), function)


@pytest.mark.parametrize("function", ["MAX", "MIN", "SUM", "MULTIPLY"])
def test_denormals_flushed_to_0(function: str) -> None:
    """Both the elements, as a device reads them, and the results, as it writes them."""
    assert_caught(lambda rows: _flushed(reduced(function, _flushed(rows).astype(rows.dtype))), function)


@pytest.mark.parametrize("function", ["MAX", "MIN"])
@pytest.mark.parametrize("start", [0, -65504, 65504])
def test_extremes_that_start_from_a_number(function: str, start: int) -> None:
    """The accumulator of a maximum or minimum that is 0, or the wrong limit, before the first element."""
    extreme = {"MAX": np.fmax, "MIN": np.fmin}[function]

    def mutant(rows: Array) -> Array:
        first = start if rows.dtype.kind == "f" else max(0, min(start, 127))
        return extreme(reduced(function, rows), rows.dtype.type(first))

    assert_caught(mutant, function)


def wide(function: str, rows: Array) -> Array:
    """Return a DML_REDUCE_FUNCTION of rows of floats in float64, sums rounded to it once."""
    x = rows.astype(np.float64)
    if function == "MULTIPLY":
        return x.prod(axis=1)
    top = x.max(axis=1, keepdims=True) if function == "LOG_SUM_EXP" else np.zeros((len(x), 1))
    terms = {"L1": np.abs, "L2": np.square, "SUM_SQUARE": np.square, "LOG_SUM_EXP": lambda y: np.exp(y - top)}
    added = terms.get(function, np.positive)(x)
    total = np.array([math.fsum(row) if np.isfinite(row).all() else row.sum() for row in added])
    if function == "LOG_SUM_EXP":
        return top[:, 0] + np.log(total)
    finish = {"AVERAGE": lambda y: y / x.shape[1], "L2": np.sqrt, "LOG_SUM": np.log}
    return finish.get(function, np.positive)(total)


@pytest.mark.parametrize("function", ["AVERAGE", "L2", "LOG_SUM", "LOG_SUM_EXP", "MULTIPLY", "SUM", "SUM_SQUARE"])
def test_results_rounded_toward_zero(function: str) -> None:
    def truncated(rows: Array) -> Array:
        found = reduced(function, rows)
        if found.dtype.kind != "f":
            return found
        beyond = np.abs(found.astype(np.float64)) > np.abs(wide(function, rows))
        return np.where(beyond, np.nextafter(found, np.zeros_like(found)), found)

    assert_caught(truncated, function)


@pytest.mark.parametrize("function", ["AVERAGE", "SUM"])
def test_results_rounded_to_float64_first(function: str) -> None:
    def twice(rows: Array) -> Array:
        return wide(function, rows).astype(rows.dtype) if rows.dtype.kind == "f" else reduced(function, rows)

    assert_caught(twice, function)


@pytest.mark.parametrize("function", ["LOG_SUM", "L2", "SUM", "AVERAGE", "MULTIPLY"])
def test_results_that_are_an_eighth_off(function: str) -> None:
    def mutant(rows: Array) -> Array:
        found = reduced(function, rows)
        return found if found.dtype.kind != "f" else found * found.dtype.type(1.125)

    assert_caught(mutant, function)


# ---- logarithms and products


def unshifted(dtype: Any) -> OfRows:
    """Return LOG_SUM_EXP in a float type without taking out the maximum."""
    return lambda rows: np.log(np.exp(rows.astype(dtype)).sum(axis=1, dtype=dtype))


def test_log_sum_exp_without_taking_out_the_maximum() -> None:
    assert_caught(unshifted(np.float32), "LOG_SUM_EXP")


def test_log_sum_exp_in_float64_without_taking_out_the_maximum_is_told() -> None:
    """It is wrong only where DirectML is known to overflow too, which is told and does not fail."""
    mutant = of_rows("LOG_SUM_EXP", unshifted(np.float64))
    told = [
        diagnostic.rule
        for result in dmlcheck.run_cases([case for case in positive_cases("reduce") if is_large(case)], mutant)
        for diagnostic in result.diagnostics
    ]
    assert told == ["known-deviation"]


def is_large(case: Case) -> bool:
    """Whether a case has powers beyond FLOAT64."""
    return case.name == "log_sum_exp-large" and case.file.endswith("values.yaml")


def test_log_sum_exp_of_infinities_minus_infinities() -> None:
    """The maximum taken out even where it is infinite, which leaves NaN."""

    def mutant(rows: Array) -> Array:
        block = rows.astype(np.float64)
        top = block.max(axis=1)
        return top + np.log(np.exp(block - top[:, None]).sum(axis=1))

    assert_caught(mutant, "LOG_SUM_EXP")


@pytest.mark.parametrize(("function", "base"), [("LOG_SUM", 2), ("LOG_SUM", 10), ("LOG_SUM_EXP", 2)])
def test_logarithms_of_another_base(function: str, base: int) -> None:
    assert_caught(lambda rows: reduced(function, rows).astype(np.float64) / math.log(base), function)


def test_log_sum_of_magnitudes() -> None:
    assert_caught(lambda rows: reduced("LOG_SUM", np.abs(rows)), "LOG_SUM")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_without_care_for_the_exponent(dtype: Any) -> None:
    assert_caught(
        lambda rows: rows.astype(dtype).prod(axis=1) if rows.dtype.kind == "f" else reduced("MULTIPLY", rows),
        "MULTIPLY",
    )


def test_products_of_float16_kept_in_float16() -> None:
    def mutant(rows: Array) -> Array:
        if rows.dtype != np.float16:
            return reduced("MULTIPLY", rows)
        return np.multiply.accumulate(rows, axis=1, dtype=np.float16)[:, -1]

    assert_caught(mutant, "MULTIPLY")


def test_products_of_magnitudes() -> None:
    assert_caught(lambda rows: reduced("MULTIPLY", np.abs(rows)), "MULTIPLY")


@pytest.mark.parametrize("function", ["L1", "L2", "LOG_SUM", "MULTIPLY", "SUM", "SUM_SQUARE"])
def test_the_first_element_left_out(function: str) -> None:
    assert_caught(lambda rows: reduced(function, rows[:, 1:] if rows.shape[1] > 1 else rows), function)


# ---- integers


WHOLE: dict[str, Callable[[list[int]], int]] = {
    "L1": lambda row: sum(map(abs, row)),
    "MULTIPLY": math.prod,
    "SUM": sum,
    "SUM_SQUARE": lambda row: sum(element * element for element in row),
}


def of_integers(function: str, compute: Callable[[list[int], np.iinfo], int]) -> OfRows:
    """Compute a function of integers in another way; floats as ever."""

    def mutant(rows: Array) -> Array:
        if rows.dtype.kind == "f":
            return reduced(function, rows)
        limits = np.iinfo(rows.dtype)
        results = [compute(row, limits) % 2**limits.bits for row in rows.tolist()]
        return np.array(results, dtype=f"u{rows.itemsize}").view(rows.dtype)

    return mutant


@pytest.mark.parametrize("function", WHOLE)
def test_integers_that_saturate(function: str) -> None:
    assert_caught(
        of_integers(function, lambda row, limits: max(int(limits.min), min(int(limits.max), WHOLE[function](row)))),
        function,
    )


@pytest.mark.parametrize("function", WHOLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integers_that_go_through_floats(function: str, dtype: Any) -> None:
    assert_caught(of_integers(function, lambda row, _: int(float(dtype(float(WHOLE[function](row)))))), function)


@pytest.mark.parametrize("function", WHOLE)
def test_integers_that_wrap_at_32_bits(function: str) -> None:
    def at_32_bits(row: list[int], limits: np.iinfo) -> int:
        value = WHOLE[function](row) % 2**32
        return value - 2**32 if limits.min < 0 and value >= 2**31 else value

    assert_caught(of_integers(function, at_32_bits), function)


def test_magnitudes_of_integers_that_saturate() -> None:
    """The magnitude of the least integer held at the largest, instead of wrapping to itself."""
    assert_caught(
        of_integers("L1", lambda row, limits: sum(min(int(limits.max), abs(element)) for element in row)), "L1"
    )


@pytest.mark.parametrize("function", ["MAX", "MIN"])
@pytest.mark.parametrize("mutation", SIGHTS_OF_INTEGERS)
def test_extremes_of_integers_compared_as_what_they_are_not(function: str, mutation: str) -> None:
    extreme = {"MAX": np.fmax, "MIN": np.fmin}[function]

    def mutant(rows: Array) -> Array:
        if rows.dtype.kind == "f":
            return reduced(function, rows)
        return np.take_along_axis(rows, place(SIGHTS[mutation](rows), extreme, last=False)[:, None], axis=1)

    assert_caught(mutant, function)


# ---- large tensors


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS[:4])
def test_long_rows_searched_in_part(operator: str, function: str | None) -> None:
    mutant = searching(lambda rows, extreme, last: place(rows[:, :65_536], extreme, last=last))
    assert is_caught(mutant, operator, function, most=10**6)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS[:4])
def test_indices_counted_from_the_start_of_each_part_of_a_row(operator: str, function: str | None) -> None:
    mutant = searching(lambda rows, extreme, last: place(rows, extreme, last=last) % 65_536)
    assert is_caught(mutant, operator, function, most=10**6)


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
def test_long_rows_reduced_in_part(function: str) -> None:
    assert_caught(lambda rows: reduced(function, rows[:, :65_536]), function, most=10**6)


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_lies_beyond_65535_rows_left_out(operator: str) -> None:
    """More groups of threads than Direct3D 12 dispatches along one dimension."""

    def run(desc: OperatorDesc, values: Array, output: TensorDesc) -> Array:
        found = right(desc, values, output)
        found.reshape(-1)[65_535:] = 0
        return found

    assert is_caught(implementation(run), operator, most=10**6)
