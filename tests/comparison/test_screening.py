"""Sums of products that need no bounds: what is reported is what all bounds give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dmlcheck import validation
from dmlcheck.comparison import screening
from dmlcheck.comparison.compare import Bounds, compare
from dmlcheck.comparison.records import OutputResult
from dmlcheck.comparison.screening import Screen
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT

Array = np.ndarray[Any, Any]
NAME = "OutputTensor"
OF_GEMM = (2, 1, 90, 110)


def valid(operator: str, sizes: dict[str, tuple[int, ...]], fields: dict[str, Any], data_type: str) -> OperatorDesc:
    tensors = {name: {"DataType": data_type, "Sizes": list(of)} for name, of in sizes.items()}
    desc, findings = validation.validate(operator, {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None, findings
    return desc


def numbers(seed: int, sizes: dict[str, tuple[int, ...]], dtype: Any, low: float = -1.0) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {name: random.uniform(low, 1, of).astype(dtype) for name, of in sizes.items() if name != NAME}


def gemm(data_type: str = "FLOAT32", alpha: float = 1.0, beta: float = 1.0, low: float = -1.0, length: int = 70) -> Any:
    """Return a GEMM, its inputs, and what single precision gives for it."""
    sizes = {"ATensor": (2, 1, 90, length), "BTensor": (2, 1, length, 110), **dict.fromkeys(("CTensor", NAME), OF_GEMM)}
    desc = valid("GEMM", sizes, {"TransA": "NONE", "TransB": "NONE", "Alpha": alpha, "Beta": beta}, data_type)
    inputs = numbers(1, sizes, np.float16 if data_type == "FLOAT16" else np.float32, low)
    a, b, c = (x.astype(np.float32) for x in inputs.values())
    found = np.float32(alpha) * (a @ b) + np.float32(beta) * c
    return desc, inputs, found.astype(inputs["ATensor"].dtype)


def convolution(groups: int = 1, strides: int = 1, direction: str = "FORWARD", bias: float = 1.0) -> Any:
    """Return a convolution, its inputs, and what is off by as much as single precision is."""
    size = 46 if direction == "FORWARD" and strides == 1 else 23 if strides == 2 and direction == "FORWARD" else 46
    spatial = (23, 23) if direction == "BACKWARD" and strides == 2 else (46, 46)
    filter_ = (16, 16 // groups, 3, 3)
    sizes = {"InputTensor": (1, 16, *spatial), "FilterTensor": filter_, "BiasTensor": (1, 16, 1, 1)}
    sizes[NAME] = (1, 16, size, size)
    end = [1, 1] if direction == "FORWARD" or strides == 1 else [0, 0]
    fields = {
        "Mode": "CROSS_CORRELATION",
        "Direction": direction,
        "GroupCount": groups,
        "OutputPadding": [0, 0],
        "Strides": [strides] * 2,
        "Dilations": [1, 1],
        "StartPadding": [1, 1],
        "EndPadding": end,
    }
    desc = valid("CONVOLUTION", sizes, fields, "FLOAT32")
    inputs = numbers(2, sizes, np.float32)
    inputs["BiasTensor"] *= np.float32(bias)
    right = engine.run(desc, inputs)[NAME]
    noise = np.random.default_rng(3).normal(size=right.shape) * 1e-7
    return desc, inputs, (right + noise).astype(np.float32)


CASES: dict[str, Callable[[], Any]] = {
    "matrices": gemm,
    "matrices and factors": lambda: gemm(alpha=-2.5, beta=0.75),
    "positive matrices": lambda: gemm(low=0.0),
    "FLOAT16": lambda: gemm("FLOAT16"),
    "convolution": convolution,
    "long sums": lambda: gemm(length=1100),
    "large bias": lambda: convolution(bias=8.0),
    "groups": lambda: convolution(groups=4),
    "transposed": lambda: convolution(direction="BACKWARD"),
    "transposed with strides": lambda: convolution(direction="BACKWARD", strides=2),
}


def judged(desc: OperatorDesc, inputs: dict[str, Array], actual: Array, *, with_screen: bool) -> tuple[Any, int]:
    """Return the result of the output, and how many bounds it took."""
    limit, given, asked = limit_for(desc, None), {NAME: actual}, [0]
    screen = Screen(desc, given, limit)
    assert screen.is_used
    computed = engine.evaluate(desc, inputs, watch=screen.see if with_screen else None)

    def counted(masks: Any, *, is_likely: bool = False) -> Bounds:
        for found in bounds(desc, inputs, masks, limit.precision, is_likely=is_likely):
            asked[0] += found[1].size
            yield found

    (part,) = desc.tensors(OUTPUT)
    expected = {NAME: (part.tensor, computed[NAME].values)}
    settled = screen.settled() if with_screen else ()
    return compare(expected, given, limit, counted, settled=settled)[NAME].result, asked[0]


def is_alike(screened: OutputResult, full: OutputResult) -> bool:
    """Whether two results say the same, but for what the sums of sizes lose in FLOAT32."""
    of_sums = ("max_share", "likely_share", "systematic", "squares", "max_ulp", "closest", "most_off", "worst", "bound")
    same = dict.fromkeys(of_sums)
    assert screened.max_share == pytest.approx(full.max_share, rel=1e-3)
    assert screened.max_ulp == pytest.approx(full.max_ulp, rel=1e-5)
    assert screened.squares == pytest.approx(full.squares, rel=1e-9)
    assert (screened.systematic is None) == (full.systematic is None)
    for one, other in ((screened.closest, full.closest), (screened.most_off, full.most_off)):
        assert one is not None
        assert other is not None
        assert one.place == other.place
        assert one.share == pytest.approx(other.share, rel=1e-3)
    empty = {"first": (), "profile": ()}
    return screened._replace(**same, **empty) == full._replace(**same, **empty)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_result_is_that_of_all_bounds_and_nearly_none_is_computed(name: str) -> None:
    desc, inputs, actual = CASES[name]()
    (screened, few), (full, all_) = (judged(desc, inputs, actual, with_screen=way) for way in (True, False))
    assert is_alike(screened, full)
    assert few < all_ / 50 or all_ < 1000
    assert full.mismatches == full.unlikely == 0


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.5, 20.0, 1e4, np.inf, np.nan])
@pytest.mark.parametrize("name", ["matrices", "convolution"])
def test_elements_that_are_off_are_found(name: str, factor: float) -> None:
    desc, inputs, actual = CASES[name]()
    flat = actual.reshape(-1)
    for at in (0, 1234, actual.size - 1):
        flat[at] = flat[at] * (1 + np.float32(1e-5)) * np.float32(factor)
    screened, full = (judged(desc, inputs, actual, with_screen=way)[0] for way in (True, False))
    assert screened.mismatches == full.mismatches > 0
    assert [element.place for element in screened.first] == [element.place for element in full.first]
    assert screened.unlikely == full.unlikely


def test_an_error_that_is_unlikely_but_no_more_is_counted() -> None:
    desc, inputs, actual = gemm()
    mask = {NAME: np.ones(actual.shape, bool)}
    ((_, _, bound),) = bounds(desc, inputs, mask, is_likely=True)
    actual.reshape(-1)[77] = bound.value[77] + 3 * bound.radius[77]
    screened, full = (judged(desc, inputs, actual, with_screen=way)[0] for way in (True, False))
    assert screened.unlikely == full.unlikely == 1
    assert screened.likely_share == pytest.approx(full.likely_share, rel=0.01)


def test_errors_that_all_go_in_one_direction_are_systematic_as_ever() -> None:
    desc, inputs, actual = gemm()
    mask = {NAME: np.ones(actual.shape, bool)}
    ((_, _, bound),) = bounds(desc, inputs, mask, is_likely=True)
    actual = (bound.value + 1.3 * bound.radius).astype(np.float32).reshape(actual.shape)
    screened, full = (judged(desc, inputs, actual, with_screen=way)[0] for way in (True, False))
    assert screened.systematic == pytest.approx(full.systematic)
    assert full.systematic is not None


def test_outputs_that_are_equal_need_no_bounds() -> None:
    desc, inputs, _ = gemm()
    result, asked = judged(desc, inputs, engine.run(desc, inputs)[NAME], with_screen=True)
    assert result == judged(desc, inputs, engine.run(desc, inputs)[NAME], with_screen=False)[0]
    assert asked == 0


def test_infinities_and_nan_in_an_input_are_judged_by_all_bounds() -> None:
    desc, inputs, _ = gemm()
    inputs["ATensor"][0, 0, 3, 4], inputs["ATensor"][1, 0, 5, 6] = np.inf, np.nan
    actual = np.nextafter(engine.run(desc, inputs)[NAME], np.float32(0))
    screened, full = (judged(desc, inputs, actual, with_screen=way)[0] for way in (True, False))
    assert screened == full
    assert full.mismatches


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_is_settled_is_within_its_likely_bound(name: str) -> None:
    desc, inputs, actual = CASES[name]()
    screen = Screen(desc, {NAME: actual}, limit_for(desc, None))
    engine.evaluate(desc, inputs, watch=screen.see)
    settled = screen.settled()[0][NAME]
    mask = {NAME: ~settled.asked}
    data_type = next(part.tensor.data_type for part in desc.tensors(OUTPUT))
    unit = 2.0**-10 if data_type == "FLOAT16" else 2.0**-23
    with np.errstate(all="ignore"):
        for is_likely in (False, True):
            for _, at, bound in bounds(desc, inputs, mask, is_likely=is_likely):
                off = np.abs(actual.reshape(-1)[at] - bound.value)
                off[actual.reshape(-1)[at] == bound.value.astype(actual.dtype)] = 0
                share = off / (bound.radius + unit * np.exp2(np.floor(np.log2(np.abs(bound.value)))))
                assert share.max() <= 1
                assert is_likely or share.max() <= settled.most * (1 + 1e-6)


def test_small_outputs_and_other_types_are_not_screened() -> None:
    desc, _, actual = gemm()
    limit = limit_for(desc, None)
    assert not Screen(desc, {NAME: actual.astype(np.float64)}, limit).is_used
    assert not Screen(desc, {}, limit).is_used
    assert not Screen(desc, {NAME: actual[0]}, limit).is_used
    sizes = dict.fromkeys(("ATensor", "BTensor", NAME), (1, 1, 4, 4))
    small = valid("GEMM", sizes, {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1}, "FLOAT32")
    assert not Screen(small, {NAME: np.zeros((1, 1, 4, 4), np.float32)}, limit).is_used


def test_more_leading_elements_are_asked_where_the_first_were_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    desc, inputs, actual = gemm()
    full = judged(desc, inputs, actual, with_screen=False)[0]
    monkeypatch.setattr(screening, "_FIRST", 0)
    assert is_alike(judged(desc, inputs, actual, with_screen=True)[0], full)
