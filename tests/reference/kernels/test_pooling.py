"""Pooling against plain loops over fractions, whole and in pieces; what is left open, and bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from bounds_of import gathered
from elements import misrounded, refused
from random_pooling import NAMES, built, poolings

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound
from dmlcheck.reference.kernels import pooling

Array = np.ndarray[Any, Any]

INF, NAN = math.inf, math.nan


def under(desc: OperatorDesc) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]], int]]:
    """Yield each place of an output, where the elements under the window are, and how many elements the window has."""
    fields = desc.values
    sizes, output = fields["InputTensor"].sizes, fields["OutputTensor"].sizes
    dilations = fields.get("Dilations") or [1] * (len(sizes) - 2)
    for index in np.ndindex(output):
        axes = [
            [at * stride + element * gap - padding for element in range(size)]
            for at, stride, size, gap, padding in zip(
                index[2:], fields["Strides"], fields["WindowSize"], dilations, fields["StartPadding"], strict=True
            )
        ]
        found = [
            (*index[:2], *at)
            for at in itertools.product(*axes)
            if all(0 <= one < size for one, size in zip(at, sizes[2:], strict=True))
        ]
        yield index, found, math.prod(fields["WindowSize"])


def averages(desc: OperatorDesc, x: Array) -> Array:
    found = np.full(desc.values["OutputTensor"].sizes, NAN)
    for index, places, whole in under(desc):
        count = whole if desc.values["IncludePadding"] else len(places)
        if count:
            found[index] = float(sum((Fraction(x[at].item()) for at in places), Fraction(0)) / count)
    return found


def norms(desc: OperatorDesc, x: Array) -> Array:
    found, order = np.full(desc.values["OutputTensor"].sizes, NAN), desc.values["P"]
    for index, places, _ in under(desc):
        total = sum((abs(Fraction(x[at].item())) ** order for at in places), Fraction(0))
        with mpmath.workdps(40):
            found[index] = float(mpmath.root(mpmath.mpf(total.numerator) / total.denominator, order))
    return found


def maxima(desc: OperatorDesc, x: Array) -> tuple[Array, Array]:
    sizes = desc.values["OutputTensor"].sizes
    found, where = np.full(sizes, NAN), np.zeros(sizes, np.int64)
    for index, places, _ in under(desc):
        if places:
            best = max(places, key=lambda at: (x[at], [-one for one in at]))
            found[index], where[index] = x[best], np.ravel_multi_index(best, x.shape)
    return found, where


@pytest.mark.parametrize("block", [5, 1 << 16])
@pytest.mark.parametrize("operator", NAMES)
def test_every_place_has_what_is_under_the_window(operator: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "BLOCK", block)
    for desc, inputs in poolings(operator):
        found, x = engine.evaluate(desc, inputs), inputs["InputTensor"]
        output = found["OutputTensor"]
        if "MAX" in operator:
            expected, where = maxima(desc, x)
            if "OutputIndicesTensor" in found:
                seen = ~np.isnan(expected)
                assert (found["OutputIndicesTensor"].values == where)[seen].all()
        else:
            expected = averages(desc, x) if "AVERAGE" in operator else norms(desc, x)
        is_open = np.zeros(expected.shape, bool) if output.unspecified is None else output.unspecified
        assert (is_open == np.isnan(expected)).all()
        assert not (misrounded(output.values, expected) & ~is_open).any(), (desc, x)


def test_the_versions_agree() -> None:
    x = np.random.default_rng(3).normal(size=(2, 3, 6, 7)).astype(np.float32)
    shape = {"Strides": [2, 1], "WindowSize": [3, 2], "StartPadding": [1, 0], "EndPadding": [0, 1]}
    output = (2, 3, 3, 7)
    apart = {"Dilations": [1, 1]}
    for first, *others in (("AVERAGE_POOLING", "AVERAGE_POOLING1"), ("LP_POOLING", "LP_POOLING1")):
        extra: dict[str, Any] = {"IncludePadding": 1} if "AVERAGE" in first else {"P": 2}
        one = engine.run(*built(first, x, output, **shape, **extra))["OutputTensor"]
        for other in others:
            found = engine.run(*built(other, x, output, **shape, **apart, **extra))["OutputTensor"]
            assert (found == one).all()
    one = engine.run(*built("MAX_POOLING", x, output, **shape))["OutputTensor"]
    two = engine.run(*built("MAX_POOLING1", x, output, **shape))
    three = engine.run(*built("MAX_POOLING2", x, output, **shape, **apart))
    assert (one == two["OutputTensor"]).all()
    for name, values in two.items():
        assert (values == three[name]).all()
    assert (x.reshape(-1)[two["OutputIndicesTensor"]] == one).all()


# ---- what is left open


def results(operator: str, x: Any, output: tuple[int, ...], **fields: Any) -> dict[str, list[Any]]:
    """Return the outputs as flat lists, None for the elements that are left open."""
    found = engine.evaluate(*built(operator, np.array(x, np.float32), output, **fields))
    lists = {}
    for name, computed in found.items():
        marks = np.zeros(computed.values.shape, bool) if computed.unspecified is None else computed.unspecified
        pairs = zip(computed.values.reshape(-1).tolist(), marks.reshape(-1).tolist(), strict=True)
        lists[name] = [None if mark else value for value, mark in pairs]
    return lists


EDGE = {"Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [2, 2], "EndPadding": [0, 0]}
PLAIN = EDGE | {"StartPadding": [0, 0]}


def test_a_window_that_sees_nothing_is_left_open_unless_padding_counts() -> None:
    x, output = [[[[1, 2], [3, 4]]]], (1, 1, 2, 2)
    assert results("AVERAGE_POOLING", x, output, **EDGE, IncludePadding=0) == {"OutputTensor": [None, None, None, 2.5]}
    assert results("AVERAGE_POOLING", x, output, **EDGE, IncludePadding=1) == {"OutputTensor": [0, 0, 0, 2.5]}
    assert results("LP_POOLING", x, output, **EDGE, P=1) == {"OutputTensor": [0, 0, 0, 10]}
    found = results("MAX_POOLING1", x, output, **EDGE)
    assert found == {"OutputTensor": [None, None, None, 4], "OutputIndicesTensor": [None, None, None, 3]}


def test_a_nan_leaves_the_largest_open_and_its_place() -> None:
    found = results("MAX_POOLING1", [[[[1, NAN, 2, 3], [4, 5, 6, 7]]]], (1, 1, 1, 2), **PLAIN)
    assert found == {"OutputTensor": [None, 7], "OutputIndicesTensor": [None, 7]}


def test_padding_is_never_the_largest_also_of_infinities() -> None:
    shape = EDGE | {"StartPadding": [1, 1]}
    found = results("MAX_POOLING1", np.full((1, 1, 3, 3), -INF), (1, 1, 2, 2), **shape)
    assert found == {"OutputTensor": [-INF] * 4, "OutputIndicesTensor": [0, 1, 3, 4]}


def test_a_negative_element_of_an_odd_order_is_left_open() -> None:
    x = [[[[1, -2, 2, 0], [2, 0, 1, 2]]]]
    assert results("LP_POOLING", x, (1, 1, 1, 2), **PLAIN, P=2) == {"OutputTensor": [3, 3]}
    for order, right in ((1, 5), (3, pytest.approx(17 ** (1 / 3)))):
        assert results("LP_POOLING", x, (1, 1, 1, 2), **PLAIN, P=order) == {"OutputTensor": [None, right]}


# ---- bounds


def bound(desc: OperatorDesc, inputs: dict[str, Array], **options: Any) -> Bound:
    asked = {"OutputTensor": np.ones(desc.values["OutputTensor"].sizes, bool)}
    return gathered(desc, inputs, asked, **options)["OutputTensor"]


FUNCTIONS: dict[str, tuple[dict[str, Any], Callable[[Array], Array], Callable[[Array], Array]]] = {
    "AVERAGE_POOLING": (
        {"IncludePadding": 0},
        lambda rows: np.add.accumulate(rows, axis=1)[:, -1] / np.float32(rows.shape[1]),
        lambda rows: rows[:, 1:].mean(axis=1),
    ),
    "LP_POOLING": (
        {"P": 3},
        lambda rows: np.power(np.add.accumulate(np.power(np.abs(rows), 3), axis=1)[:, -1], np.float32(1 / 3)),
        lambda rows: np.power(np.power(np.abs(rows[:, 1:]), 3).sum(axis=1), np.float32(1 / 3)),
    ),
}


@pytest.mark.parametrize("operator", FUNCTIONS)
@pytest.mark.parametrize("count", [2, 9, 400])
def test_plain_pooling_in_float32_is_within_the_bounds_and_an_element_less_is_not(operator: str, count: int) -> None:
    extra, right, wrong = FUNCTIONS[operator]
    x = np.abs(np.random.default_rng(count).normal(size=(50, 1, 1, count))).astype(np.float32) + np.float32(0.1)
    shape = {"Strides": [1, 1], "WindowSize": [1, count], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    desc, inputs = built(operator, x, (50, 1, 1, 1), **shape, **extra)
    rows = x.reshape(50, count)
    for is_likely in (False, True):
        given = bound(desc, inputs, is_likely=is_likely)
        assert not refused(right(rows), given).any()
        assert refused(wrong(rows), given).mean() > (0.9 if count < 100 else 0.4)


def test_an_average_in_float16_is_within_the_bound_of_that_arithmetic_alone() -> None:
    x = np.random.default_rng(5).normal(size=(50, 1, 1, 64)).astype(np.float16)
    shape = {"Strides": [1, 1], "WindowSize": [1, 64], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    desc, inputs = built("AVERAGE_POOLING", x, (50, 1, 1, 1), **shape, IncludePadding=0)
    found = np.add.accumulate(x.reshape(50, 64), axis=1)[:, -1] / np.float16(64)
    assert not refused(found, bound(desc, inputs, accumulate="FLOAT16")).any()
    assert refused(found, bound(desc, inputs)).any()
