"""Resampling against plain loops over fractions, whole and in tiles; what is undefined, and bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from drawn_descs import OF_WINDOWS, draws
from elements import refused
from made_descs import Made, built, tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound
from dmlcheck.reference.tiling import cut

Array = np.ndarray[Any, Any]

INF, NAN = math.inf, math.nan
HALF = Fraction(1, 2)


def resamplings(operator: str, count: int = 80) -> Iterator[Made]:
    """Yield descs of at most four dimensions with their inputs."""
    wishes = {"Antialiased": (0,)} if operator == "RESAMPLE3" else None
    return draws(operator, count, wishes, wanted=lambda desc: len(desc["InputTensor"].sizes) < 5, sizes=OF_WINDOWS)


def described(operator: str, x: Array, output: tuple[int, ...], **fields: Any) -> Made:
    """Return the desc of an operator with an input and output sizes."""
    kind = x.dtype.name.upper()
    tensors = {"InputTensor": tensor(kind, x.shape), "OutputTensor": tensor(kind, output)}
    return built(operator, {**tensors, **fields}, {"InputTensor": x})


def returning(operator: str, gradient: Array, sizes: tuple[int, ...], **fields: Any) -> Made:
    """Return the desc of a gradient, with what comes in and the sizes of what comes out."""
    kind = gradient.dtype.name.upper()
    tensors = {"InputGradientTensor": tensor(kind, gradient.shape), "OutputGradientTensor": tensor(kind, sizes)}
    return built(operator, {**tensors, **fields}, {"InputGradientTensor": gradient})


# ---- the formula in fractions


def coordinates(desc: OperatorDesc, place: tuple[int, ...]) -> list[Fraction]:
    """Return where a place of the output is in the input."""
    fields, rank = desc.values, len(place)
    before, after = fields.get("InputPixelOffsets", [0.5] * rank), fields.get("OutputPixelOffsets", [-0.5] * rank)
    return [
        (at - exact(output)) / exact(scale) - exact(input)
        for at, scale, input, output in zip(place, fields["Scales"], before, after, strict=True)
    ]


def exact(number: float) -> Fraction:
    return Fraction(float(np.float32(number)))


def clamped(at: int, size: int) -> int:
    return min(max(at, 0), size - 1)


def rounding(desc: OperatorDesc) -> Callable[[Fraction], int]:
    direction = desc.values.get("RoundingDirection")
    return math.ceil if direction == "INCREASING" else math.floor if direction else lambda x: math.floor(x + HALF)


def nearest(desc: OperatorDesc, x: Array) -> Array:
    """Return the element that is the nearest to each place."""
    found, rounded = np.empty(desc.values["OutputTensor"].sizes, x.dtype), rounding(desc)
    for place in np.ndindex(found.shape):
        found[place] = x[
            tuple(clamped(rounded(at), size) for at, size in zip(coordinates(desc, place), x.shape, strict=True))
        ]
    return found


def corners(
    desc: OperatorDesc, place: tuple[int, ...], sizes: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield the elements that have a part in a place, with their weights."""
    sides = []
    for at, size in zip(coordinates(desc, place), sizes, strict=True):
        if desc.values["InterpolationMode"] == "NEAREST_NEIGHBOR":
            sides.append([(clamped(rounding(desc)(at), size), Fraction(1))])
        else:
            part = at - math.floor(at)
            sides.append([(clamped(math.floor(at), size), 1 - part), (clamped(math.floor(at) + 1, size), part)])
    for corner in itertools.product(*sides):
        index, weights = zip(*corner, strict=True)
        yield index, math.prod(weights)


def linear(desc: OperatorDesc, x: Array) -> Array:
    """Return the weighted averages as fractions."""
    found = np.empty(desc.values["OutputTensor"].sizes, object)
    for place in np.ndindex(found.shape):
        found[place] = sum(Fraction(x[at].item()) * weight for at, weight in corners(desc, place, x.shape))
    return found


def right(desc: OperatorDesc, x: Array) -> Array:
    if desc.values["InterpolationMode"] == "NEAREST_NEIGHBOR":
        return nearest(desc, x)
    return linear(desc, x).astype(np.float64)


# ---- properties


def run(operator: str, x: Any, output: tuple[int, ...], **fields: Any) -> Array:
    found: Array = engine.run(*described(operator, np.array(x, np.float32), output, **fields))["OutputTensor"]
    return found


# ---- what is undefined


# ---- bounds


def bound(desc: OperatorDesc, inputs: dict[str, Array], **options: Any) -> Bound:
    asked = {"OutputTensor": np.ones(desc.values["OutputTensor"].sizes, bool)}
    return gathered(desc, inputs, asked, **options)["OutputTensor"]


def accepted(desc: OperatorDesc, inputs: dict[str, Array]) -> list[list[int]]:
    """Return, for each element of an output of the numbers 0, 1, 2 ..., which of them are right."""
    given = bound(desc, inputs)
    ways = (given, *given.others)
    assert not any(way.radius.any() or way.is_rounded for way in ways)
    return [sorted({int(way.value[at]) for way in ways}) for at in range(given.value.size)]


@pytest.mark.parametrize(
    ("scale", "offsets", "expected"),
    [
        # (o + 0.5) / 1.5 is 1/3, 1, 5/3, 7/3, 3, 11/3: two are whole, but for the rounding of a quotient
        (1.5, (0.5, -0.5), [[0], [0, 1], [1], [2], [2, 3], [3]]),
        # (o + 0.5) / 2 + 0.5 and o / 4: powers of two divide exactly, halves too
        (0.5, (0.5, -0.5), [[1], [3], [5]]),
        (4.0, (0.5, 0), [[0], [0], [0], [0], [1], [1]]),
        # 3.0000001 / 0.1 and the like
        (0.1, (0.5, 0), [[0], [9, 10], [19, 20], [29, 30]]),
    ],
)
def test_at_a_boundary_either_neighbour_is_right_and_elsewhere_exactly_one(
    scale: float, offsets: tuple[float, float], expected: list[list[int]]
) -> None:
    x = np.arange(40, dtype=np.float32)
    fields = {"InputPixelOffsets": [offsets[0]], "OutputPixelOffsets": [offsets[1]]}
    made = described("RESAMPLE1", x, (len(expected),), InterpolationMode="NEAREST_NEIGHBOR", Scales=[scale], **fields)
    assert accepted(*made) == expected


def test_either_neighbour_is_right_in_each_dimension() -> None:
    x = np.arange(16, dtype=np.uint8).reshape(4, 4)
    made = described("RESAMPLE", x, (2, 2), InterpolationMode="NEAREST_NEIGHBOR", Scales=[1.5, 1.5])
    assert accepted(*made) == [[0], [0, 1], [0, 4], [0, 1, 4, 5]]


def single(desc: OperatorDesc, x: Array) -> Array:
    """Return a linear resampling of one dimension in FLOAT32, with the reciprocal of the scale."""
    fields = desc.values
    inverse = np.float32(1) / np.float32(fields["Scales"][0])
    before, after = (np.float32(fields[name][0]) for name in ("InputPixelOffsets", "OutputPixelOffsets"))
    at = (np.arange(desc.values["OutputTensor"].sizes[0], dtype=np.float32) - after) * inverse - before
    low = np.floor(at)
    part = at - low
    first, last = (x[np.clip(side, 0, x.size - 1).astype(int)].astype(np.float32) for side in (low, low + 1))
    return (first * (1 - part) + last * part).astype(x.dtype)


@pytest.mark.parametrize("scale", [1.1, 3, 0.3, 7.7])
@pytest.mark.parametrize("far", [0, 4000, 100000])
def test_averages_in_float32_are_within_the_bound_and_those_at_a_moved_place_are_not(scale: float, far: int) -> None:
    x = np.random.default_rng(far).normal(size=60).astype(np.float32)
    held = float(np.float32(scale))
    fields = {"Scales": [scale], "InputPixelOffsets": [round(far / held)], "OutputPixelOffsets": [-far]}
    desc, inputs = described("RESAMPLE1", x, (int(50 * scale),), InterpolationMode="LINEAR", **fields)
    given = bound(desc, inputs)
    assert not refused(single(desc, x), given).any()
    moved = described("RESAMPLE1", x, (int(50 * scale),), InterpolationMode="LINEAR", **(
        fields | {"OutputPixelOffsets": [-far - 0.0005 * max(1, far / 10)]}
    ))  # fmt: skip
    assert refused(single(moved[0], x), given).mean() > 0.7


@pytest.mark.parametrize("seed", range(4))
def test_averages_of_two_axes_are_right_in_any_order(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(33, 65)).astype(np.float32)
    # Twice as large, centred: between two elements the weights are 3/4 and 1/4, which FLOAT32 holds.
    offsets = {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5]}
    desc, inputs = described("RESAMPLE1", x, (66, 130), InterpolationMode="LINEAR", Scales=[2, 2], **offsets)
    given = bound(desc, inputs)

    def along(y: np.ndarray, axis: int, *, is_lerp: bool) -> np.ndarray:
        at = (np.arange(2 * y.shape[axis]) + 0.5) / 2 - 0.5
        low = np.clip(np.floor(at), 0, y.shape[axis] - 1).astype(int)
        high = np.clip(np.floor(at) + 1, 0, y.shape[axis] - 1).astype(int)
        part = (at - np.floor(at)).astype(np.float32).reshape([-1, 1] if axis == 0 else [1, -1])
        first, last = np.take(y, low, axis), np.take(y, high, axis)
        return first + (last - first) * part if is_lerp else first * (1 - part) + last * part

    for is_lerp in (False, True):
        for axes in ((0, 1), (1, 0)):
            found = along(along(x, axes[0], is_lerp=is_lerp), axes[1], is_lerp=is_lerp)
            assert found.dtype == np.float32
            assert not refused(found.reshape(-1), given).any()
    assert refused(found.reshape(-1) * np.float32(1 + 2.0**-18), given).mean() > 0.5


def test_an_average_may_be_a_part_of_a_difference_that_cancels() -> None:
    """ROI_ALIGN1 of DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30: 32 ULP off between 17 and 0."""
    x, part = np.array([17.1, 0], np.float32), np.arange(64, dtype=np.float32) / 64
    offsets = {"InputPixelOffsets": [0], "OutputPixelOffsets": [0]}
    given = bound(*described("RESAMPLE1", x, (64,), InterpolationMode="LINEAR", Scales=[64], **offsets))
    found = x[0] + (x[1] - x[0]) * part
    assert found.dtype == np.float32
    assert np.abs(found - given.value).max() > 4e-7
    assert not refused(found, given).any()
    assert refused(found - np.float32(4e-6), given)[-8:].all()


def test_a_place_beside_an_element_may_be_on_its_other_side() -> None:
    # (3 - 0) / 1.5 is 2, or a little less: between 1 and 2, where the slope is another
    fields = {"InterpolationMode": "LINEAR", "InputPixelOffsets": [0], "OutputPixelOffsets": [0]}
    x = np.array([0, 2.0**24, 0, 0, 0], np.float32)
    given = bound(*described("RESAMPLE1", x, (6,), Scales=[1.5], **fields))
    reach = 2 * 4.5 * 2.0**-23 / 2 * 2 * 2.0**24  # 4.5 ULP of the quotient, times the slope
    assert given.value[3] + given.radius[3] >= reach / 2
    assert given.radius[3] <= 2 * reach


def test_an_integer_average_is_rounded_toward_zero_or_to_the_nearest() -> None:
    x = np.array([10, 17], np.int8)
    given = bound(*described("RESAMPLE", x, (4,), InterpolationMode="LINEAR", Scales=[2]))
    ways = (given, *given.others)
    found = [sorted({int(way.value[at]) for way in ways}) for at in range(4)]
    assert found == [[10], [11, 12], [15], [17]]
    assert not any(way.radius.any() for way in ways)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_averages_at_places_that_may_be_many_elements_off_are_undefined(dtype: Any) -> None:
    # o + 10^8 in FLOAT32 is off by up to 4, and a quotient of that, less an offset of 6.7 * 10^7, by more
    fields = {"InterpolationMode": "LINEAR", "Scales": [1.5], "OutputPixelOffsets": [-1e8]}
    made = described("RESAMPLE1", np.arange(60, dtype=dtype), (20,), InputPixelOffsets=[66_666_664], **fields)
    assert bound(*made).undefined.all()
    near = fields | {"OutputPixelOffsets": [-10]}
    made = described("RESAMPLE1", np.arange(60, dtype=dtype), (20,), InputPixelOffsets=[7], **near)
    assert not bound(*made).undefined.any()


def test_averages_in_float16_are_within_the_bound_of_that_arithmetic_alone() -> None:
    x = np.random.default_rng(5).normal(size=60).astype(np.float16)
    fields = {"Scales": [1.7], "InputPixelOffsets": [0.5], "OutputPixelOffsets": [-0.5]}
    desc, inputs = described("RESAMPLE1", x, (100,), InterpolationMode="LINEAR", **fields)
    at = (np.arange(100).astype(np.float16) + np.float16(0.5)) / np.float16(1.7) - np.float16(0.5)
    low = np.floor(at)
    first, last = (x[np.clip(side, 0, 59).astype(int)] for side in (low, low + np.float16(1)))
    found = first * (1 - (at - low)) + last * (at - low)
    assert found.dtype == np.float16
    assert not refused(found, bound(desc, inputs, accumulate="FLOAT16")).any()
    assert refused(found, bound(desc, inputs)).any()


# ---- gradients

GRADIENTS = {"RESAMPLE_GRAD": "RESAMPLE1", "RESAMPLE_GRAD1": "RESAMPLE2"}


def gradient(
    operator: str, given: Array, sizes: tuple[int, ...], **fields: Any
) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return a gradient with the fields of the forward operator, whose offsets change their roles."""
    names = ("InputPixelOffsets", "OutputPixelOffsets")
    swapped = {name: fields[other] for name, other in zip(names, reversed(names), strict=True)}
    return returning(operator, given, sizes, **(fields | swapped))


@pytest.mark.slow
@pytest.mark.parametrize("block", [7, 1 << 16])
@pytest.mark.parametrize("operator", GRADIENTS)
def test_a_gradient_is_the_transpose_of_its_forward_operator(
    operator: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cut, "BLOCK", block)
    for desc, inputs in resamplings(GRADIENTS[operator]):
        x, sizes = inputs["InputTensor"], desc.values["OutputTensor"].sizes
        fields = {name: value for name, value in desc.values.items() if not desc.spec.fields[name].is_tensor}
        given = (np.arange(math.prod(sizes)) % 17 - 8.0).reshape(sizes).astype(np.float32)
        found = engine.evaluate(*gradient(operator, given, x.shape, **fields))["OutputGradientTensor"]
        assert found.undefined is None
        assert found.values == pytest.approx(transposed(desc, given), abs=1e-5), desc


def transposed(desc: OperatorDesc, given: Array) -> Array:
    """Return for each element of a forward input the sum of what is given at all places, times its weight there."""
    found = np.zeros(desc.values["InputTensor"].sizes)
    for place in np.ndindex(given.shape):
        for index, weight in corners(desc, place, found.shape):
            found[index] += float(weight) * given[place]
    return found


@pytest.mark.parametrize("mode", ["NEAREST_NEIGHBOR", "LINEAR"])
def test_elements_that_no_place_reads_get_nothing_in_parts_too(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "BLOCK", 3)
    fields = {"Scales": [0.01], "InputPixelOffsets": [0], "OutputPixelOffsets": [0], "InterpolationMode": mode}
    found = engine.run(*returning("RESAMPLE_GRAD", np.array([1, 2, 4], np.float32), (500,), **fields))
    assert {at: value for at, value in enumerate(found["OutputGradientTensor"].tolist()) if value > 0.01} == {
        0: 1,
        100: pytest.approx(2, abs=1e-4),
        200: pytest.approx(4, abs=1e-4),
    }


def returned_bound(desc: OperatorDesc, inputs: dict[str, Array], **options: Any) -> Bound:
    asked = {"OutputGradientTensor": np.ones(desc.values["OutputGradientTensor"].sizes, bool)}
    return gathered(desc, inputs, asked, **options)["OutputGradientTensor"]


def added(desc: OperatorDesc, given: Array) -> Array:
    """Return the gradient of one dimension in FLOAT32, with the reciprocal of the scale, one place after the other."""
    fields, found = desc.values, np.zeros(desc.values["OutputGradientTensor"].sizes, np.float32)
    inverse = np.float32(1) / np.float32(fields["Scales"][0])
    before, after = (np.float32(fields[name][0]) for name in ("OutputPixelOffsets", "InputPixelOffsets"))
    for o, value in enumerate(given):
        at = (np.float32(o) - after) * inverse - before
        if fields["InterpolationMode"] == "NEAREST_NEIGHBOR":
            found[clamped(math.floor(at + np.float32(0.5)), found.size)] += value
            continue
        low = math.floor(at)
        found[clamped(low, found.size)] += value * (np.float32(1) - (at - np.float32(low)))
        found[clamped(low + 1, found.size)] += value * (at - np.float32(low))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["NEAREST_NEIGHBOR", "LINEAR"])
@pytest.mark.parametrize("scale", [3, 1.1, 0.3, 40])
@pytest.mark.parametrize("far", [0, 3000])
def test_gradients_in_float32_are_within_the_bound_and_those_of_moved_places_are_not(
    mode: str, scale: float, far: int
) -> None:
    count = max(4, int(30 * scale))
    given = np.random.default_rng(far).normal(size=count).astype(np.float32)
    held = float(np.float32(scale))
    fields = {"Scales": [scale], "OutputPixelOffsets": [round(far / held)], "InputPixelOffsets": [-far]}
    desc, inputs = returning("RESAMPLE_GRAD", given, (30,), InterpolationMode=mode, **fields)
    for is_likely in (False, True):
        bound = returned_bound(desc, inputs, is_likely=is_likely)
        assert not refused(added(desc, given), bound).any()
    reads = bound.value != 0
    moved, _ = returning(
        "RESAMPLE_GRAD", given, (30,), InterpolationMode=mode, **(fields | {"InputPixelOffsets": [-far - 0.05 * scale]})
    )
    assert mode == "NEAREST_NEIGHBOR" or refused(added(moved, given), bound)[reads].mean() > 0.6
    assert refused(added(desc, 2 * given), bound)[reads].mean() > 0.6


# what DirectML 1.13.1 and 1.15.4 gave on vkd3d-proton on Mesa lavapipe 25.0, 2026-12-01
IN_STEPS = [
    0, 0.8999999761581421, 0.10000002384185791, 1.8000001907348633, 0.19999980926513672, 2.700000286102295,
    0.2999997138977051, 3.5999984741210938, 0.40000152587890625, 4.499998092651367, 0.5000019073486328,
    5.399997711181641, 0.6000022888183594, 6.300004005432129, 0.6999959945678711, 7.200004577636719,
    0.7999954223632812, 8.100013732910156, 0.8999862670898438,
]  # fmt: skip


def test_the_places_of_a_gradient_may_be_reached_in_steps() -> None:
    fields = {"Scales": [0.5], "InputPixelOffsets": [0.3], "OutputPixelOffsets": [-1.7]}
    fields |= {"InterpolationMode": "LINEAR", "RoundingDirection": "INCREASING"}
    made = returning("RESAMPLE_GRAD1", np.arange(1, 10, dtype=np.float32), (19,), **fields)
    found = np.array(IN_STEPS, np.float32)
    for is_likely in (False, True):
        bound = returned_bound(*made, is_likely=is_likely)
        assert not refused(found, bound).any()
    last = np.array([7, 8, 15, 16, 17, 18])
    farther = found + np.where(np.arange(19) % 2, -9, 9).astype(np.float32) * np.float32(1e-5)
    assert refused(farther, bound)[last].all()


def test_what_may_go_to_either_neighbour_is_between_all_and_nothing_in_both() -> None:
    # o / 3 is 0, 1/3, 2/3, 1 ...: that of 3 is whole, but for the rounding of a quotient
    fields = {"Scales": [3], "InputPixelOffsets": [0], "OutputPixelOffsets": [0], "RoundingDirection": "DECREASING"}
    given = np.array([1, 2, 4, 8, 16, 32], np.float32)
    made = returning("RESAMPLE_GRAD1", given, (2,), InterpolationMode="NEAREST_NEIGHBOR", **fields)
    bound = returned_bound(*made)
    ends = np.stack([bound.value - bound.radius, bound.value + bound.radius])
    assert ends == pytest.approx(np.array([[7, 48], [15, 56]]), abs=1e-3)


def test_a_gradient_in_float16_is_within_the_bound_of_that_arithmetic_alone() -> None:
    given = np.random.default_rng(6).normal(size=400).astype(np.float16)
    fields = {
        "Scales": [40],
        "InputPixelOffsets": [0],
        "OutputPixelOffsets": [0],
        "InterpolationMode": "NEAREST_NEIGHBOR",
    }
    desc, inputs = returning("RESAMPLE_GRAD", given, (10,), **fields)
    found = np.zeros(10, np.float16)
    for o, value in enumerate(given):
        found[clamped(math.floor(o / 40 + 0.5), 10)] += value
    assert not refused(found, returned_bound(desc, inputs, accumulate="FLOAT16")).any()
    assert refused(found, returned_bound(desc, inputs)).any()
