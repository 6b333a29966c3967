"""Pooling against plain loops over fractions, whole and in tiles; what is undefined, and bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from drawn_descs import OF_WINDOWS, draws
from elements import refused
from made_descs import Made, of_arrays, tensor
from products_of import peak

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound, bounds
from dmlcheck.reference.tiling import windows as of_windows

Array = np.ndarray[Any, Any]

INF, NAN = math.inf, math.nan
ONE = np.ones((1, 1, 1, 1), np.float32)


def poolings(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs with their inputs: whole numbers with ties for maxima, and no negative ones for odd powers."""
    for desc, inputs in draws(operator, count, wanted=is_of_floats, sizes=OF_WINDOWS):
        x = inputs["InputTensor"]
        if "MAX" in operator:
            x = np.rint(x * x.dtype.type(2))
        yield desc, {**inputs, "InputTensor": np.abs(x) if desc.values.get("P", 2) % 2 else x}


def is_of_floats(desc: OperatorDesc) -> bool:
    """Whether the input has floats, or quantized numbers, and regions FLOAT32."""
    roi = desc.parts.get("ROITensor")
    is_exact = not roi or roi[0].tensor.data_type == "FLOAT32"
    return is_exact and ("QUANTIZED" in desc.spec.short or desc["InputTensor"].data_type.startswith("FLOAT"))


def built(operator: str, x: Array, output: tuple[int, ...], **fields: Any) -> Made:
    """Return a pooling of an array, with the places of the largest where it has them."""
    outputs = {"OutputTensor": tensor(x.dtype.name.upper(), output)}
    if "MAX" in operator and operator != "MAX_POOLING":
        outputs |= {"OutputIndicesTensor": tensor("UINT32", output)}
    return of_arrays(operator, {"Input": x}, outputs, **fields)


def under(desc: OperatorDesc) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]], int]]:
    """Yield each place of an output, where the elements under the window are, and how many elements the window has.

    Those beyond EndPadding count as well.
    """
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


def maxima(desc: OperatorDesc, x: Array) -> tuple[Array, Array]:
    sizes = desc.values["OutputTensor"].sizes
    found, where = np.full(sizes, NAN), np.zeros(sizes, np.int64)
    for index, places, _ in under(desc):
        if places:
            best = max(places, key=lambda at: (x[at], [-one for one in at]))
            found[index], where[index] = x[best], np.ravel_multi_index(best, x.shape)
    return found, where


# ---- memory


@pytest.mark.slow
@pytest.mark.parametrize("window", [(2, 2), (4000, 4000)])
def test_quantized_averages_take_little_beside_a_large_tensor(window: tuple[int, int]) -> None:
    tensors = {"Input": np.ones((1, 1, 4000, 4000), np.uint8), "InputScale": ONE, "OutputScale": ONE}
    sizes = [1, 1, *(4000 // size for size in window)]
    fields = {
        "Strides": window,
        "WindowSize": window,
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "Dilations": [1, 1],
    }
    output = {"OutputTensor": {"DataType": "UINT8", "Sizes": sizes}}
    name = "QUANTIZED_LINEAR_AVERAGE_POOLING"
    assert peak(*of_arrays(name, tensors, output, **fields, IncludePadding=0)) < 24 * 2**20  # as INT16 it takes 31 MiB


def test_unpooling_takes_three_times_its_tensors_at_most() -> None:
    x = np.ones((1, 1, 2000, 2000), np.float16)
    places = 4 * np.arange(x.size, dtype=np.uint32).reshape(x.shape)
    output = {"OutputTensor": {"DataType": "FLOAT16", "Sizes": [1, 1, 4000, 4000]}}
    made = of_arrays("MAX_UNPOOLING", {"Input": x, "Indices": places}, output)
    tensors = x.nbytes + places.nbytes + 2 * 4000 * 4000
    assert peak(*made) < 3 * tensors


@pytest.mark.parametrize(("strides", "dilations"), [((900, 900), (1, 1)), ((1, 1), (1990, 1990))])
def test_windows_far_apart_take_little(strides: tuple[int, int], dilations: tuple[int, int]) -> None:
    x = np.ones((1, 1, 2000, 2000), np.float16)
    fields = {"Strides": strides, "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    sizes = tuple((1999 - gap) // step + 1 for step, gap in zip(strides, dilations, strict=True))
    made = built("AVERAGE_POOLING1", x, (1, 1, *sizes), **fields, Dilations=dilations, IncludePadding=0)
    assert peak(*made) < 24 * 2**20  # all of it as FLOAT64 takes 30 MiB


# ---- regions


def of_regions(x: Array, roi: Array, scale: float, height: int, width: int) -> Array:
    """Return the largest elements of the parts of regions, NaN where there are none; no corner is close to a half."""
    found = np.full((len(roi), x.shape[1], height, width), NAN)
    for number, (image, *coordinates) in enumerate(roi.tolist()):
        x1, y1, x2, y2 = (math.floor(Fraction(at) * Fraction(scale) + Fraction(1, 2)) for at in coordinates)
        for row, column in np.ndindex(height, width):
            rows = [y for y in range(x.shape[2]) if _is_in(y, y1, y2, row, height)]
            columns = [at for at in range(x.shape[3]) if _is_in(at, x1, x2, column, width)]
            if rows and columns:
                found[number, :, row, column] = x[int(image)][:, rows][:, :, columns].max(axis=(1, 2))
    return found


def _is_in(at: int, first: int, last: int, part: int, count: int) -> bool:
    length = Fraction(last - first + 1, count)
    return first + math.floor(part * length) <= at < first + math.ceil((part + 1) * length)


@pytest.mark.slow
def test_each_part_of_a_region_has_its_largest_element() -> None:
    for desc, inputs in poolings("ROI_POOLING", 150):
        size, scale = desc.values["PooledSize"], float(np.float32(desc.values["SpatialScale"]))
        found = engine.evaluate(desc, inputs)["OutputTensor"]
        is_undefined = np.zeros(found.values.shape, bool) if found.undefined is None else found.undefined
        right = of_regions(inputs["InputTensor"], inputs["ROITensor"][0, 0], scale, size.Height, size.Width)
        assert (is_undefined == np.isnan(right)).all()
        assert (found.values[~is_undefined] == right[~is_undefined]).all()
        assert (found.values[is_undefined] == 0).all()


@pytest.mark.parametrize(
    ("region", "scale", "is_undefined"),
    [
        ((0, 0, 0, 1, 1), 1, False),
        ((0, 0.5, 0, 1, 1), 1, False),
        ((0, 0, 0, 2, 2), 0.25, False),
        ((0, 0, 0, 1.25, 1.25), 1, False),
        ((0, 0, 0, 15, 15), 0.1, False),
        ((0.5, 0, 0, 1, 1), 1, True),
        ((1, 0, 0, 1, 1), 1, True),
        ((-1, 0, 0, 1, 1), 1, True),
        ((0, NAN, 0, 1, 1), 1, True),
        ((0, 0, 0, INF, 1), 1, True),
        ((0, 0, 0, 3e38, 1), 1, False),
    ],
)
def test_a_region_of_no_image_and_a_corner_that_is_not_finite_are_undefined(
    region: tuple[float, ...], scale: float, is_undefined: bool
) -> None:
    x = np.ones((1, 1, 2, 2), np.float32)
    roi = np.array(region, np.float32).reshape(1, 1, 1, 5)
    output = {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}}
    fields = {"SpatialScale": scale, "PooledSize": {"Height": 1, "Width": 1}}
    found = engine.evaluate(*of_arrays("ROI_POOLING", {"Input": x, "ROI": roi}, output, **fields))["OutputTensor"]
    assert (found.undefined is not None) == is_undefined


@pytest.mark.parametrize(
    ("region", "scale", "expected"),
    [
        ((0, 0, 1, 1), 1, {8}),
        ((0.5, 0, 1, 1), 1, {8, 6}),  # x1 is 0, the even one, or 1
        ((1, 0, 2, 2), 0.5, {8, 6}),
        ((1, 1, 3, 2), 0.5, {8, 3}),  # of both 0 or of both 1: 6 and 5 are of one and the other
        ((15, 15, 20, 20), 0.1, {3, 1}),  # 1.5 but for rounding, which makes 1 or 2 of both
        ((15, 14, 20, 20), 0.1, {3, 2}),
        ((14, 14, 20, 20), 0.1, {3}),
    ],
)
def test_corners_beside_halves_are_rounded_in_any_way(
    region: tuple[float, ...], scale: float, expected: set[float]
) -> None:
    x = np.array([8, 6, 4, 5, 3, 2, 1, 1, 1], np.float32).reshape(1, 1, 3, 3)
    roi = np.array([0, *region], np.float32).reshape(1, 1, 1, 5)
    output = {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}}
    fields = {"SpatialScale": scale, "PooledSize": {"Height": 1, "Width": 1}}
    desc, inputs = of_arrays("ROI_POOLING", {"Input": x, "ROI": roi}, output, **fields)
    found = gathered(desc, inputs, {"OutputTensor": np.ones((1, 1, 1, 1), bool)})["OutputTensor"]
    assert not found.undefined.any()
    assert {way.value.item() for way in (found, *found.others)} == expected


# ---- what is undefined


def results(operator: str, x: Any, output: tuple[int, ...], **fields: Any) -> dict[str, list[Any]]:
    """Return the outputs as flat lists, None for the elements that are undefined."""
    found = engine.evaluate(*built(operator, np.array(x, np.float32), output, **fields))
    lists = {}
    for name, computed in found.items():
        marks = np.zeros(computed.values.shape, bool) if computed.undefined is None else computed.undefined
        pairs = zip(computed.values.reshape(-1).tolist(), marks.reshape(-1).tolist(), strict=True)
        lists[name] = [None if mark else value for value, mark in pairs]
    return lists


EDGE = {"Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [2, 2], "EndPadding": [0, 0]}
PLAIN = EDGE | {"StartPadding": [0, 0]}


def passes(desc: OperatorDesc, inputs: dict[str, Array], actual: list[float]) -> bool:
    """Whether these elements of an output are right."""
    tensor, expected = desc.values["OutputTensor"], engine.run(desc, inputs)["OutputTensor"]
    own = np.array(actual, expected.dtype).reshape(expected.shape)
    wanted, limit = {"OutputTensor": (tensor, expected)}, limit_for(desc, None)
    found = compare(wanted, {"OutputTensor": own}, limit, partial(bounds, desc, inputs))
    return found["OutputTensor"].result.mismatches == 0


@pytest.mark.slow
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("order", [1, 3, 5, 7, 9])
def test_an_odd_order_of_negative_elements_takes_their_sizes_or_their_powers(order: int, data_type: str) -> None:
    elements = [1.0, -2.0, 1.5, 0.5]
    dtype = np.float32 if data_type == "FLOAT32" else np.float16
    desc, inputs = built("LP_POOLING", np.array(elements, dtype).reshape(1, 1, 2, 2), (1, 1, 1, 1), **PLAIN, P=order)
    of_sizes = sum(abs(x) ** order for x in elements) ** (1 / order)
    signed = sum(x**order for x in elements)
    root = math.copysign(abs(signed) ** (1 / order), signed)
    for right in (of_sizes, root, *([NAN] if order > 1 else [])):
        assert passes(desc, inputs, [right])
    for wrong in ((of_sizes + root) / 2, -of_sizes, of_sizes * 1.01, root * 0.99, *([NAN] if order == 1 else [])):
        assert not passes(desc, inputs, [wrong])


def test_powers_that_cancel_may_have_any_root_that_their_error_allows() -> None:
    x = np.array([[[[0.7, -0.7], [1e-3, 0]]]], np.float32)
    desc, inputs = built("LP_POOLING", x, (1, 1, 1, 1), **PLAIN, P=3)
    assert passes(desc, inputs, [1e-3])
    assert not passes(desc, inputs, [0.3])


def test_a_high_power_of_a_large_window_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((1, 2, 40, 50), np.float32)
    x[0, :, 7, 9:11] = [[2.0**120], [-(2.0**-140)]]
    whole = EDGE | {"WindowSize": [40, 50], "StartPadding": [0, 0], "Strides": [1, 1]}
    right = [2.0**120 * 2**0.125, 2.0**-140 * 2**0.125]
    for large in (of_windows.LARGE, 100):
        monkeypatch.setattr(of_windows, "LARGE", large)
        found = results("LP_POOLING", x, (1, 2, 1, 1), **whole, P=8)
        assert found == {"OutputTensor": np.float32(right).tolist()}


# ---- bounds


@pytest.mark.parametrize("order", [3, 9])
def test_the_norm_of_zeros_is_bounded(order: int) -> None:
    """Powers below 2^-126 may be flushed: what is left of 9 of them is less than 2^-126 * 9 to the 1 / P."""
    made = built(
        "LP_POOLING", np.zeros((1, 1, 3, 3), np.float32), (1, 1, 1, 1), **PLAIN | {"WindowSize": [3, 3]}, P=order
    )
    (radius,) = bound(*made).radius
    assert radius <= 2 * (9 * 2.0**-126) ** (1 / order)


@pytest.mark.parametrize("order", [7, 8, 9, 20])
@pytest.mark.parametrize("size", [2.0**127, 2.0**60, 1000.0])
def test_the_norm_of_a_high_order_is_bounded_for_every_number(order: int, size: float) -> None:
    x = np.array([size, size, size / 2, 0], np.float32).reshape(1, 1, 2, 2)
    found = bound(*built("LP_POOLING", x, (1, 1, 1, 1), **PLAIN, P=order))
    assert 0 < found.radius[0] < size * 1e-4


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
