"""The shipped cases catch broken kernels: each plausible bug, put into the reference, fails at least one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dmlcheck.reference.kernels._blocks import ALL, Index, Result, Rows, Share, Wide

import dmlcheck
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.implementations.reference import Reference
from dmlcheck.reference import engine
from dmlcheck.reference.kernels import _blocks, reduction

Array = np.ndarray[Any, Any]
Function = Callable[[Rows], Wide]

CASES = Path(__file__).parent.parent.parent / "cases"
OPERATORS = ("reduce", "argmax", "argmin", "activation_hardmax", "activation_hardmax1")
FUNCTIONS = tuple(reduction.FUNCTIONS)
SUMS = ("AVERAGE", "L1", "L2", "LOG_SUM", "SUM", "SUM_SQUARE")


Implementation = Any
MOST = 65_536  # elements: larger cases are run for what only they can catch
Breakage = Callable[[pytest.MonkeyPatch, list[str]], None]


@cache
def positive_cases(operator: str) -> tuple[Case, ...]:
    """Return the cases of an operator that compute something."""
    return tuple(case for case in dmlcheck.load_cases(CASES / operator) if case.outputs is not None)


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


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_case_passes_as_long_as_nothing_is_broken(operator: str) -> None:
    results = dmlcheck.run_cases(positive_cases(operator))
    assert results
    assert [result.case.id for result in results if result.outcome != "passed"] == []


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_case_passes_for_an_implementation_that_is_like_the_reference(operator: str) -> None:
    results = dmlcheck.run_cases(positive_cases(operator), implementation(REFERENCE.run))
    assert [result.case.id for result in results if result.outcome != "passed"] == []


# ---- breaking things


REFERENCE = Reference()


def implementation(run: Callable[[OperatorDesc, dict[str, Any]], dict[str, Array]]) -> Implementation:
    """Return an implementation under test, which the unbroken reference judges."""
    return SimpleNamespace(name="mutant", unsupported=lambda _: None, run=run)


def assert_caught(mutate: Breakage, operator: str, function: str | None = None, *, most: int = MOST) -> None:
    """What a mutation puts in place is called, and fails a case."""
    calls: list[str] = []
    assert is_caught(broken(mutate, calls), operator, function, most=most)
    assert calls


def broken(mutate: Breakage, calls: list[str]) -> Implementation:
    """Return the reference with a mutation in place while it computes, and only then."""

    def run(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        with pytest.MonkeyPatch.context() as patch:
            mutate(patch, calls)
            return REFERENCE.run(desc, inputs)

    return implementation(run)


def replaced(owner: Any, name: str, mutant: Callable[..., Any]) -> Breakage:
    """Put something else in the place of a function of a module."""

    def counted(calls: list[str], *args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return mutant(*args, **kwargs)

    def mutate(patch: pytest.MonkeyPatch, calls: list[str]) -> None:
        assert callable(getattr(owner, name))
        patch.setattr(owner, name, partial(counted, calls))

    return mutate


def kernel_part(name: str, mutant: Callable[..., Any]) -> Breakage:
    """Put something else in the place of a function of the reduction kernels."""
    return replaced(reduction, name, mutant)


def entry(function: str, mutant: Function) -> Breakage:
    """Put something else in the place of a DML_REDUCE_FUNCTION."""

    def mutate(patch: pytest.MonkeyPatch, calls: list[str]) -> None:
        def counted(group: Rows) -> Wide:
            calls.append(function)
            return mutant(group)

        assert function in reduction.FUNCTIONS
        patch.setitem(reduction.FUNCTIONS, function, counted)

    return mutate


def elements(group: Rows) -> Array:
    """Return the rows whole."""
    return np.concatenate([chunk for _, chunk in group.chunks()], axis=1)


def each_row(function: Callable[[list[Any]], Any]) -> Function:
    """Return a function of rows that computes each in Python's numbers."""

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        return Wide(np.array([function(row) for row in block.tolist()]).astype(block.dtype))

    return mutant


# ---- one function for another


@pytest.mark.parametrize(("function", "other"), list(permutations(FUNCTIONS, 2)))
def test_one_function_in_the_place_of_another(function: str, other: str) -> None:
    assert_caught(entry(function, reduction.FUNCTIONS[other]), "reduce", function)


# ---- axes and indices


INDEX_KERNELS = [
    ("reduce", "ARGMAX"),
    ("reduce", "ARGMIN"),
    ("argmax", None),
    ("argmin", None),
    ("activation_hardmax1", None),
]
_grouped = reduction.grouped
_index_of = reduction._index_of


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

    def run(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        output = desc.tensor("OutputTensor")
        assert output is not None
        sizes = inputs["InputTensor"].shape
        if "Axes" in desc.spec.fields:
            axes = change(desc.values["Axes"], len(sizes))
            values = {**desc.values, "Axes": axes}
            if not desc.spec.short.startswith("ACTIVATION"):
                sizes = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
            values["OutputTensor"] = TensorDesc(output.data_type, sizes)
            found = REFERENCE.run(OperatorDesc.of(desc.spec, values), inputs)["OutputTensor"]
        else:
            axes = change((len(sizes) - 1,), len(sizes))
            with np.errstate(invalid="ignore"):
                found = engine.assemble(reduction.hardmax1(inputs["InputTensor"], axes=axes), output)
        return {"OutputTensor": np.resize(found, output.sizes)}

    return implementation(run)


@pytest.mark.parametrize("operator", ["reduce", "argmax", "argmin", "activation_hardmax1"])
@pytest.mark.parametrize("mutation", AXES)
def test_other_axes_than_the_desc_names(mutation: str, operator: str) -> None:
    assert is_caught(with_axes(AXES[mutation]), operator)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_has_cases(function: str) -> None:
    assert any(function_of(case) == function for case in positive_cases("reduce"))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("mutation", ["the axis after", "the axis before", "only the first axis", "all axes"])
def test_other_axes_in_every_function(mutation: str, function: str) -> None:
    assert is_caught(with_axes(AXES[mutation]), "reduce", function)


@pytest.mark.parametrize("mutation", ["the axis before", "one axis too many", "all axes"])
def test_hardmax_over_other_dimensions_than_the_last(mutation: str) -> None:
    assert is_caught(with_axes(AXES[mutation]), "activation_hardmax")


def regrouped(order_of: Callable[[Axes], Axes]) -> Breakage:
    """Take the axes in another order."""

    def grouped(tensor: Array, axes: Axes) -> tuple[Axes, Array]:
        order = (*[axis for axis in range(tensor.ndim) if axis not in axes], *order_of(axes))
        return order, tensor.transpose(order)

    return kernel_part("grouped", grouped)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS)
def test_an_index_that_counts_in_the_order_of_axes(operator: str, function: str | None) -> None:
    assert_caught(regrouped(lambda axes: axes), operator, function)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS)
def test_an_index_that_counts_column_by_column(operator: str, function: str | None) -> None:
    assert_caught(regrouped(lambda axes: tuple(sorted(axes, reverse=True))), operator, function)


def reindexed(change: Callable[[Array, Rows], Array]) -> Breakage:
    """Make something else of the indices that are found."""

    def index_of(group: Rows, extreme: np.ufunc, *, last: bool = False) -> Wide:
        found = _index_of(group, extreme, last=last)
        return found._replace(value=change(np.asarray(found.value), group))

    return kernel_part("_index_of", index_of)


INDICES = {
    "counted from 1": reindexed(lambda index, _: index + 1),
    "counted from the end": reindexed(lambda index, group: group.length - 1 - index),
    "always 0": reindexed(lambda index, _: index * 0),
}


@pytest.mark.parametrize(("operator", "function"), [*INDEX_KERNELS, ("activation_hardmax", None)])
@pytest.mark.parametrize("mutation", INDICES)
def test_indices_that_are_off(mutation: str, operator: str, function: str | None) -> None:
    assert_caught(INDICES[mutation], operator, function)


def searched(search: Callable[..., Wide]) -> Breakage:
    """Search for the extreme element in another way."""
    return kernel_part("_index_of", search)


def _seen_as(view: Callable[[Array], Array]) -> Breakage:
    """Compare something else than the elements themselves."""

    def index_of(group: Rows, extreme: np.ufunc, *, last: bool = False) -> Wide:
        chunks = [(start, view(chunk)) for start, chunk in group.chunks()]
        return _index_of(Rows(group.length, lambda: iter(chunks)), extreme, last=last)

    return searched(index_of)


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


SIGHTS: dict[str, Callable[[Array], Array]] = {
    "negative zero below zero": _total_order,
    "signed as unsigned and the reverse": _other_sign,
    "integers through float32": lambda block: block.astype(np.float32) if block.dtype.kind in "iu" else block,
    "integers through float64": lambda block: block.astype(np.float64) if block.dtype.kind in "iu" else block,
    "denormals flushed to 0": _flushed,
    "infinities as the largest numbers": _finite,
    "magnitudes": np.abs,
    "float32 as float16": lambda block: block.astype(np.float16) if block.dtype == np.float32 else block,
}
SIGHTS_OF_INTEGERS = (
    "signed as unsigned and the reverse",
    "integers through float32",
    "integers through float64",
)
SEARCHES = [(mutation, operator) for mutation in SIGHTS for operator in ("argmax", "argmin")] + [
    (mutation, operator)
    for mutation in SIGHTS
    for operator in ("activation_hardmax", "activation_hardmax1")
    if mutation not in SIGHTS_OF_INTEGERS
]


@pytest.mark.parametrize(("mutation", "operator"), SEARCHES)
def test_elements_compared_as_what_they_are_not(mutation: str, operator: str) -> None:
    assert_caught(_seen_as(SIGHTS[mutation]), operator)


def tie_breaker(choose: Callable[[bool], bool]) -> Breakage:
    """Take another of several equal elements."""

    def index_of(group: Rows, extreme: np.ufunc, *, last: bool = False) -> Wide:
        return _index_of(group, extreme, last=choose(last))

    return searched(index_of)


TIES = {"always the first": lambda _: False, "always the last": lambda _: True, "the other one": lambda last: not last}


@pytest.mark.parametrize(("operator", "function"), [*INDEX_KERNELS, ("activation_hardmax", None)])
@pytest.mark.parametrize("mutation", ["always the last", "the other one"])
def test_the_last_of_equal_elements_for_the_first(mutation: str, operator: str, function: str | None) -> None:
    assert_caught(tie_breaker(TIES[mutation]), operator, function)


@pytest.mark.parametrize("operator", ["argmax", "argmin"])
def test_the_first_of_equal_elements_for_the_last(operator: str) -> None:
    assert_caught(tie_breaker(TIES["always the first"]), operator)


@pytest.mark.parametrize("operator", ["argmax", "argmin"])
def test_the_largest_for_the_smallest(operator: str) -> None:
    other = {np.fmax: np.fmin, np.fmin: np.fmax}
    assert_caught(
        searched(lambda group, extreme, last=False: _index_of(group, other[extreme], last=last)),
        operator,
    )


def _of_the_whole_tensor(input: Array, axes: tuple[int, ...], function: Function) -> Result:
    """Give the index that the element has in the whole tensor."""
    order, view = _grouped(input, axes)
    _, places = _grouped(np.arange(input.size).reshape(input.shape), axes)

    def pieces() -> Iterator[tuple[Index, Wide]]:
        for (index, group), (_, numbers) in zip(
            _blocks.rows(view, len(axes)), _blocks.rows(places, len(axes)), strict=True
        ):
            found = function(group)
            where = np.asarray(found.value)[:, None]
            yield index, found._replace(value=np.take_along_axis(elements(numbers), where, axis=1)[:, 0])

    return Result(order, pieces)


def _of_the_last_axis(input: Array, axes: tuple[int, ...], function: Function) -> Result:
    """Give the index along the last of the reduced axes only."""
    order, view = _grouped(input, axes)
    length = input.shape[max(axes)] if axes else 1

    def pieces() -> Iterator[tuple[Index, Wide]]:
        for index, group in _blocks.rows(view, len(axes)):
            found = function(group)
            yield index, found._replace(value=np.asarray(found.value) % length)

    return Result(order, pieces)


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS[:4])
@pytest.mark.parametrize("mutant", [_of_the_whole_tensor, _of_the_last_axis])
def test_an_index_into_something_else(mutant: Callable[..., Result], operator: str, function: str | None) -> None:
    assert_caught(kernel_part("_reduced", mutant), operator, function)


# ---- HARDMAX


def _all_ties(
    groups: Iterator[tuple[Index, Rows]], _: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[tuple[Index, Wide]]:
    for index, group in groups:
        block = elements(group)
        yield index, Wide((block == np.fmax.reduce(block, axis=1)[:, None]).astype(dtype))


def _the_value(
    groups: Iterator[tuple[Index, Rows]], _: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[tuple[Index, Wide]]:
    for index, group in groups:
        block = elements(group)
        mark = np.arange(block.shape[1]) == np.asarray(_index_of(group, np.fmax).value)[:, None]
        yield index, Wide(np.where(mark, block, 0).astype(dtype))


def _from_zero(
    groups: Iterator[tuple[Index, Rows]], _: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[tuple[Index, Wide]]:
    """Start the search from 0, so that nothing is found among negative numbers."""
    for index, group in groups:
        block = elements(group)
        mark = np.arange(block.shape[1]) == np.asarray(_index_of(group, np.fmax).value)[:, None]
        yield index, Wide((mark & (block >= 0)).astype(dtype))


@pytest.mark.parametrize("operator", ["activation_hardmax", "activation_hardmax1"])
@pytest.mark.parametrize("mutant", [_all_ties, _the_value, _from_zero])
def test_hardmax_that_marks_otherwise(mutant: Callable[..., Any], operator: str) -> None:
    assert_caught(kernel_part("_marked", mutant), operator)


# ---- float sums


def _term(function: str) -> Callable[[Array], Array]:
    return {"L1": np.abs, "L2": np.square, "SUM_SQUARE": np.square}.get(function, np.positive)


def _finished(function: str, total: Array, count: int) -> Array:
    if function == "AVERAGE":
        return total / total.dtype.type(count)
    return {"L2": np.sqrt, "LOG_SUM": np.log}.get(function, np.positive)(total)


def running(function: str, dtype: type[np.floating[Any]], *, only: str = "f") -> Function:
    """Add up one term after the other in a float type."""
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        if block.dtype.kind != "f" or (only != "f" and block.dtype != np.dtype(only)):
            return original(group)
        terms = _term(function)(block.astype(dtype))
        total = np.add.accumulate(terms, axis=1, dtype=dtype)[:, -1]
        return Wide(_finished(function, total, block.shape[1]))

    return mutant


@pytest.mark.parametrize("function", SUMS)
def test_sums_accumulated_in_float32(function: str) -> None:
    assert_caught(entry(function, running(function, np.float32)), "reduce", function)


@pytest.mark.parametrize("function", SUMS)
def test_sums_of_float16_accumulated_in_float16(function: str) -> None:
    assert_caught(entry(function, running(function, np.float16, only="float16")), "reduce", function)


@pytest.mark.parametrize(
    ("function", "case"),
    [("SUM", "sum-float16-intermediate-overflow"), ("AVERAGE", "average-float16-intermediate-overflow")],
)
def test_float16_sums_that_overflow_on_the_way_fail_the_case_made_for_them(function: str, case: str) -> None:
    mutant = broken(entry(function, running(function, np.float16, only="float16")), [])
    cases = [shipped for shipped in positive_cases("reduce") if shipped.name.startswith(case)]
    assert "failed" in {result.outcome for result in dmlcheck.run_cases(cases, mutant)}


def test_average_with_integer_division() -> None:
    assert_caught(
        entry("AVERAGE", lambda group: Wide(elements(group).sum(axis=1, dtype=np.float64) // group.length)),
        "reduce",
        "AVERAGE",
    )


def test_average_over_one_element_less() -> None:
    assert_caught(
        entry("AVERAGE", lambda group: Wide(elements(group).sum(axis=1, dtype=np.float64) / max(1, group.length - 1))),
        "reduce",
        "AVERAGE",
    )


@pytest.mark.parametrize("function", ["AVERAGE", "L1", "L2", "LOG_SUM", "SUM", "SUM_SQUARE"])
def test_sums_that_ignore_nan(function: str) -> None:
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        return original(Rows(group.length, lambda: iter([(0, np.where(np.isnan(block), 0, block))])))

    assert_caught(entry(function, mutant), "reduce", function)


def seen_as(function: str, view: Callable[[Array], Array]) -> Breakage:
    """Let a DML_REDUCE_FUNCTION see something else than the elements."""
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        return original(Rows(group.length, lambda: iter([(0, view(elements(group)))])))

    return entry(function, mutant)


@pytest.mark.parametrize("function", ["AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "SUM", "ARGMAX"])
def test_infinities_as_the_largest_numbers(function: str) -> None:
    assert_caught(seen_as(function, _finite), "reduce", function)


@pytest.mark.parametrize("function", ["MAX", "MIN", "SUM", "MULTIPLY"])
def test_denormals_flushed_to_0(function: str) -> None:
    """Both the elements, as a device reads them, and the results, as it writes them."""
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        found = original(Rows(group.length, lambda: iter([(0, _flushed(block))])))
        return Wide(_flushed(np.asarray(found.value).astype(block.dtype)), unspecified=found.unspecified)

    assert_caught(entry(function, mutant), "reduce", function)


@pytest.mark.parametrize("function", ["MAX", "MIN"])
@pytest.mark.parametrize("start", [0, -65504, 65504])
def test_extremes_that_start_from_a_number(function: str, start: int) -> None:
    """The accumulator of a maximum or minimum that is 0, or the wrong limit, before the first element."""
    extreme = {"MAX": max, "MIN": min}[function]
    assert_caught(
        entry(function, each_row(lambda row: extreme(row[0], *row[1:], _as(row[0], start)))), "reduce", function
    )


def _as(example: Any, start: int) -> Any:
    return float(start) if isinstance(example, float) else max(0, min(start, 127))


# ---- rounding


_settle = engine.settle


@pytest.mark.parametrize("function", ["AVERAGE", "L2", "LOG_SUM", "LOG_SUM_EXP", "MULTIPLY", "SUM", "SUM_SQUARE"])
def test_results_rounded_toward_zero(function: str) -> None:
    def truncated(wide: Wide, data_type: str) -> Array:
        rounded = _settle(wide, data_type)
        if rounded.dtype.kind != "f":
            return rounded
        beyond = np.abs(rounded.astype(np.float64)) > np.abs(np.asarray(wide.value, dtype=np.float64))
        return np.where(beyond, np.nextafter(rounded, np.zeros_like(rounded)), rounded)

    assert_caught(replaced(engine, "settle", truncated), "reduce", function)


@pytest.mark.parametrize("function", ["AVERAGE", "SUM"])
def test_results_rounded_to_float64_first(function: str) -> None:
    def settled(wide: Wide, data_type: str) -> Array:
        return _settle(wide._replace(exact=None), data_type)

    assert_caught(replaced(engine, "settle", settled), "reduce", function)


# ---- logarithms and products


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_sum_exp_without_taking_out_the_maximum(dtype: type[np.floating[Any]]) -> None:
    def mutant(group: Rows) -> Wide:
        return Wide(np.log(np.exp(elements(group).astype(dtype)).sum(axis=1, dtype=dtype)))

    assert_caught(entry("LOG_SUM_EXP", mutant), "reduce", "LOG_SUM_EXP")


def test_log_sum_exp_of_infinities_minus_infinities() -> None:
    """The maximum taken out even where it is infinite, which leaves NaN."""

    def mutant(group: Rows) -> Wide:
        block = elements(group).astype(np.float64)
        top = block.max(axis=1)
        return Wide(top + np.log(np.exp(block - top[:, None]).sum(axis=1)))

    assert_caught(entry("LOG_SUM_EXP", mutant), "reduce", "LOG_SUM_EXP")


@pytest.mark.parametrize(("function", "base"), [("LOG_SUM", 2), ("LOG_SUM", 10), ("LOG_SUM_EXP", 2)])
def test_logarithms_of_another_base(function: str, base: int) -> None:
    original = reduction.FUNCTIONS[function]
    assert_caught(
        entry(function, lambda group: Wide(np.asarray(original(group).value) / math.log(base))), "reduce", function
    )


def test_log_sum_of_magnitudes() -> None:
    assert_caught(seen_as("LOG_SUM", np.abs), "reduce", "LOG_SUM")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_without_care_for_the_exponent(dtype: type[np.floating[Any]]) -> None:
    original = reduction.FUNCTIONS["MULTIPLY"]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        return Wide(block.astype(dtype).prod(axis=1)) if block.dtype.kind == "f" else original(group)

    assert_caught(entry("MULTIPLY", mutant), "reduce", "MULTIPLY")


def test_products_of_float16_kept_in_float16() -> None:
    original = reduction.FUNCTIONS["MULTIPLY"]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        if block.dtype != np.float16:
            return original(group)
        return Wide(np.multiply.accumulate(block, axis=1, dtype=np.float16)[:, -1])

    assert_caught(entry("MULTIPLY", mutant), "reduce", "MULTIPLY")


def test_products_of_magnitudes() -> None:
    assert_caught(seen_as("MULTIPLY", np.abs), "reduce", "MULTIPLY")


@pytest.mark.parametrize("function", ["L1", "L2", "LOG_SUM", "MULTIPLY", "SUM", "SUM_SQUARE"])
def test_the_first_element_left_out(function: str) -> None:
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        return original(
            Rows(max(1, group.length - 1), lambda: iter([(0, block[:, 1:] if group.length > 1 else block)]))
        )

    assert_caught(entry(function, mutant), "reduce", function)


# ---- integers


WHOLE: dict[str, Callable[[list[int]], int]] = {
    "L1": lambda row: sum(map(abs, row)),
    "MULTIPLY": math.prod,
    "SUM": sum,
    "SUM_SQUARE": lambda row: sum(element * element for element in row),
}


def of_integers(function: str, compute: Callable[[list[int], np.iinfo], int]) -> Function:
    """Compute a function of integers in another way; floats as ever."""
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        if block.dtype.kind == "f":
            return original(group)
        limits = np.iinfo(block.dtype)
        results = [compute(row, limits) % 2**limits.bits for row in block.tolist()]
        return Wide(np.array(results, dtype=f"u{block.itemsize}").view(block.dtype))

    return mutant


@pytest.mark.parametrize("function", WHOLE)
def test_integers_that_saturate(function: str) -> None:
    def saturating(row: list[int], limits: np.iinfo) -> int:
        return max(int(limits.min), min(int(limits.max), WHOLE[function](row)))

    assert_caught(entry(function, of_integers(function, saturating)), "reduce", function)


@pytest.mark.parametrize("function", WHOLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integers_that_go_through_floats(function: str, dtype: type[np.floating[Any]]) -> None:
    def through_floats(row: list[int], _: np.iinfo) -> int:
        return int(float(dtype(float(WHOLE[function](row)))))

    assert_caught(entry(function, of_integers(function, through_floats)), "reduce", function)


@pytest.mark.parametrize("function", WHOLE)
def test_integers_that_wrap_at_32_bits(function: str) -> None:
    def at_32_bits(row: list[int], limits: np.iinfo) -> int:
        value = WHOLE[function](row) % 2**32
        return value - 2**32 if limits.min < 0 and value >= 2**31 else value

    assert_caught(entry(function, of_integers(function, at_32_bits)), "reduce", function)


@pytest.mark.parametrize("function", ["L1"])
def test_magnitudes_of_integers_that_saturate(function: str) -> None:
    """The magnitude of the least integer held at the largest, instead of wrapping to itself."""

    def saturating(row: list[int], limits: np.iinfo) -> int:
        return sum(min(int(limits.max), abs(element)) for element in row)

    assert_caught(entry(function, of_integers(function, saturating)), "reduce", function)


@pytest.mark.parametrize("function", ["MAX", "MIN"])
@pytest.mark.parametrize("mutation", SIGHTS_OF_INTEGERS)
def test_extremes_of_integers_compared_as_what_they_are_not(function: str, mutation: str) -> None:
    view = SIGHTS[mutation]
    original = reduction.FUNCTIONS[function]

    def mutant(group: Rows) -> Wide:
        block = elements(group)
        if block.dtype.kind == "f":
            return original(group)
        found = original(Rows(group.length, lambda: iter([(0, view(block))])))
        place = (view(block) == np.asarray(found.value)[:, None]).argmax(axis=1)
        return Wide(np.take_along_axis(block, place[:, None], axis=1)[:, 0])

    assert_caught(entry(function, mutant), "reduce", function)


# ---- large tensors


_rows = _blocks.rows


def _first_65536(view: Array, count: int, share: Share = ALL) -> Iterator[tuple[Index, Rows]]:
    """Look at the first 65,536 elements of a row only."""
    for index, group in _rows(view, count, share):
        if group.length <= 65_536:
            yield index, group
        else:
            start, chunk = next(iter(group.chunks()))
            cut = [(start, chunk[:, :65_536])]
            yield index, Rows(group.length, lambda cut=cut: iter(cut))  # type: ignore[misc]


def _all_from_0(view: Array, count: int, share: Share = ALL) -> Iterator[tuple[Index, Rows]]:
    """Count the index of a long row from the start of each chunk."""
    for index, group in _rows(view, count, share):
        yield index, Rows(group.length, lambda group=group: ((0, chunk) for _, chunk in group.chunks()))  # type: ignore[misc]


@pytest.mark.parametrize(("operator", "function"), INDEX_KERNELS[:4])
@pytest.mark.parametrize("mutant", [_first_65536, _all_from_0])
def test_long_rows_searched_in_part(mutant: Callable[..., Any], operator: str, function: str | None) -> None:
    assert_caught(kernel_part("rows", mutant), operator, function, most=10**6)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_long_rows_reduced_in_part(function: str) -> None:
    assert_caught(kernel_part("rows", _first_65536), "reduce", function, most=10**6)


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_lies_beyond_65535_rows_left_out(operator: str) -> None:
    """More groups of threads than Direct3D 12 dispatches along one dimension."""

    def run(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        (output,) = REFERENCE.run(desc, inputs).values()
        output.reshape(-1)[65_535:] = 0
        return {"OutputTensor": output}

    assert is_caught(implementation(run), operator, most=10**6)
