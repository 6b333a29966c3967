"""Winograd's algorithms: transforms made here by Toom and Cook's interpolation, and what is allowed for them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import valid_descs
from valid_descs import valid

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.known_faults import likely_cause
from dmlcheck.comparison.records import OutputResult
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.ball.errors import Arithmetic
from dmlcheck.reference.ball.winograd import lost_by_winograd, may_be_winograd
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reference.rows import WINOGRAD

Array = np.ndarray[Any, Any]
F32 = np.float32
POINTS = {4: (0, 1, -1, 2, -2), 6: (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))}


def convolution(x: Sequence[int], taps: Sequence[int], output: Sequence[int], **fields: Any) -> OperatorDesc:
    return valid("CONVOLUTION", valid_descs.convolution(x, taps, output, **fields))


def polynomial(roots: list[Any]) -> list[Any]:
    """Return the coefficients of the product of x - root, the lowest first."""
    made = [Fraction(1)]
    for root in roots:
        made = [up - root * own for up, own in zip([Fraction(0), *made], [*made, Fraction(0)], strict=True)]
    return made


def transforms(tile: int) -> tuple[Array, Array, Array]:
    """Return the matrices for a tile of results and a window of 3: of the sums, of the filter, of the elements."""
    points = [Fraction(point) for point in POINTS[tile]]
    others = [[other for other in points if other != point] for point in points]
    scales = [np.prod([point - other for other in rest]) for point, rest in zip(points, others, strict=True)]
    sums = [[*(point**row for point in points), Fraction(row == tile - 1)] for row in range(tile)]
    taps = [[point**power / scale for power in range(3)] for point, scale in zip(points, scales, strict=True)]
    elements = [*([*polynomial(rest), Fraction(0)] for rest in others), polynomial(points)]
    return tuple(np.array(rows, dtype=F32) for rows in (sums, [*taps, [0, 0, 1]], elements))  # type: ignore[return-value]


def winograd(x: Array, taps: Array, tile: int) -> Array:
    """Return the convolution without padding in FLOAT32, tile by tile."""
    sums, of_taps, of_elements = transforms(tile)
    count, channels = len(x), x.shape[1]
    sizes = [size - 2 for size in x.shape[2:]]
    tiles = [-(-size // tile) for size in sizes]
    padded = np.zeros((count, channels, *(number * tile + 2 for number in tiles)), F32)
    padded[:, :, : x.shape[2], : x.shape[3]] = x
    filters = of_taps @ taps @ of_taps.T
    found = np.zeros((count, len(taps), *(number * tile for number in tiles)), F32)
    for row in range(0, found.shape[2], tile):
        for column in range(0, found.shape[3], tile):
            near = padded[:, :, row : row + tile + 2, column : column + tile + 2]
            products = filters[None] * (of_elements @ near @ of_elements.T)[:, None]
            total = products[:, :, 0]
            for channel in range(1, channels):
                total = total + products[:, :, channel]
            found[:, :, row : row + tile, column : column + tile] = sums @ total @ sums.T
    return found[:, :, : sizes[0], : sizes[1]]


def drawn(kind: str, sizes: tuple[int, ...]) -> Array:
    random = np.random.default_rng(sum(sizes))
    made = {
        "normal": lambda: random.standard_normal(sizes),
        "positive": lambda: random.random(sizes),
        "wide": lambda: np.exp(2 * random.standard_normal(sizes)),
    }[kind]()
    return np.asarray(made, F32)


def judged(
    desc: OperatorDesc, inputs: dict[str, Any], found: Array, *algorithms: str
) -> tuple[OutputResult, str | None]:
    """Compare what was found, and name the likely cause of what is wrong."""
    label = "OutputTensor"
    limit = limit_for(desc, None, Precision(algorithms=algorithms))
    tensor, expected = desc.parts[label][0].tensor, engine.run(desc, inputs)[label]
    bounds_of = partial(bounds, desc, inputs, precision=limit.precision)
    result, mask = compare({label: (tensor, expected)}, {label: found}, limit, bounds_of)[label]
    wrong = None if mask is None else WrongOutput(desc, inputs, label, tensor, expected, found, limit, mask)
    return result, None if wrong is None else likely_cause(wrong)


def given(kind: str, channels: int) -> tuple[OperatorDesc, dict[str, Any]]:
    x, taps = (1, channels, 26, 20), (3, channels, 3, 3)
    desc = convolution(x, taps, (1, 3, 24, 18))
    return desc, {"InputTensor": drawn(kind, x), "FilterTensor": drawn(kind, taps)}


@pytest.mark.parametrize("channels", [1, 4, 32])
@pytest.mark.parametrize("kind", ["normal", "positive", "wide"])
@pytest.mark.parametrize("tile", [4, 6])
def test_winograds_algorithms_are_right_where_they_are_allowed(tile: int, kind: str, channels: int) -> None:
    desc, inputs = given(kind, channels)
    result, _ = judged(desc, inputs, winograd(inputs["InputTensor"], inputs["FilterTensor"], tile), WINOGRAD)
    assert (result.mismatches, result.unlikely, result.systematic, result.unlimited) == (0, 0, None, 0)


@pytest.mark.parametrize("channels", [8, 64])
@pytest.mark.parametrize("tile", [4, 6])
def test_the_errors_of_winograds_algorithms_are_not_systematic(tile: int, channels: int) -> None:
    desc, inputs = given("normal", channels)
    result, _ = judged(desc, inputs, winograd(inputs["InputTensor"], inputs["FilterTensor"], tile))
    assert (result.mismatches, result.systematic) == (0, None)


def test_winograds_algorithms_are_wrong_where_they_are_not_allowed_and_named() -> None:
    desc, inputs = given("normal", 4)
    result, cause = judged(desc, inputs, winograd(inputs["InputTensor"], inputs["FilterTensor"], 6))
    assert result.mismatches > 0
    assert cause == (
        "likely cause: the errors are as large as those of Winograd's algorithms, which `--algorithms winograd` allows"
    )


@pytest.mark.parametrize("channels", [1, 4])
def test_rounded_inputs_are_wrong_where_winograds_algorithms_are_allowed(channels: int) -> None:
    desc, inputs = given("normal", channels)
    cut = {name: (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(F32) for name, values in inputs.items()}
    found = engine.run(desc, cut)["OutputTensor"]
    for algorithms in ((), (WINOGRAD,)):
        result, cause = judged(desc, inputs, found, *algorithms)
        assert result.mismatches > 0
        assert "Winograd" not in (cause or "")


def test_what_is_lost_follows_the_largest_elements_around_a_result() -> None:
    """One element of 10 at place 6, padding 1 before it: the results from 1 to 13 may be in a tile that sees it."""
    x = np.zeros((1, 1, 1, 30), F32)
    x[..., 6] = 10
    desc = convolution((1, 1, 1, 30), (1, 1, 3, 3), (1, 1, 1, 30), StartPadding=[1, 1], EndPadding=[1, 1])
    inputs = {"InputTensor": x, "FilterTensor": np.full((1, 1, 3, 3), -0.5, F32)}
    lost = lost_by_winograd(desc, inputs, Arithmetic(is_likely=True))[0, 0, 0]
    # A tile of 6 results that has result o sees from o - 5 - 1 to o + 5 + 1.
    assert np.flatnonzero(lost).tolist() == list(range(6 - 6, 6 + 7))
    assert lost[6] == 64 * 2.0**-24 * 10 * 4.5
    assert lost_by_winograd(desc, inputs, Arithmetic())[0, 0, 0, 6] == 2 * lost[6]


def test_groups_and_the_backward_direction_have_the_sums_of_their_own_filters() -> None:
    taps = np.zeros((4, 1, 3, 3), F32)
    taps[:, 0, 0, 0] = [1, 2, 3, 4]
    x = np.stack([np.full((5, 5), 1, F32), np.full((5, 5), 10, F32)])[None]
    forward = convolution((1, 2, 5, 5), (4, 1, 3, 3), (1, 4, 3, 3), GroupCount=2)
    unit = 128 * 2.0**-24
    lost = lost_by_winograd(forward, {"InputTensor": x, "FilterTensor": taps}, Arithmetic())
    assert (lost / unit)[0, :, 0, 0].tolist() == [1, 2, 30, 40]
    backward = convolution((1, 2, 5, 5), (2, 2, 3, 3), (1, 2, 7, 7), Direction="BACKWARD")
    lost = lost_by_winograd(backward, {"InputTensor": x, "FilterTensor": taps.reshape(2, 2, 3, 3)}, Arithmetic())
    assert lost.shape == (1, 2, 7, 7)
    assert (lost / unit)[0, :, 3, 3].tolist() == [1 * 1 + 10 * 3, 1 * 2 + 10 * 4]


def test_other_windows_and_strides_are_not_for_winograd() -> None:
    assert may_be_winograd(convolution((1, 1, 9, 9), (1, 1, 3, 3), (1, 1, 7, 7)))
    assert not may_be_winograd(convolution((1, 1, 9, 9), (1, 1, 3, 3), (1, 1, 4, 4), Strides=[2, 2]))
    assert not may_be_winograd(convolution((1, 1, 9, 9), (1, 1, 5, 5), (1, 1, 5, 5)))
