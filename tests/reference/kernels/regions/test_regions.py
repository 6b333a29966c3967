"""Regions of images against plain loops over fractions, whole and in tiles; what is undefined, and bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from drawn_descs import TINY, draws
from elements import misrounded, refused
from made_descs import Made, of_arrays, tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound
from dmlcheck.reference.tiling import cut

Array = np.ndarray[Any, Any]
Places = list[Fraction]

INF, NAN = math.inf, math.nan
HALF = Fraction(1, 2)
REGIONS = ("ROI_ALIGN", "ROI_ALIGN1")


def aligned(operator: str, count: int = 80) -> Iterator[Made]:
    """Yield descs of an operator with their inputs."""
    wishes = {"MinimumSamplesPerOutput": (1, 2, 3)}
    return draws(operator, count, wishes, sizes=TINY)


def returning(count: int = 80) -> Iterator[tuple[Made, Made]]:
    """Yield descs of ROI_ALIGN1 and of its gradient, with their inputs."""
    generator = np.random.default_rng(17)
    for desc, inputs in aligned("ROI_ALIGN1", count):
        fields = {name: value for name, value in desc.values.items() if not desc.spec.fields[name].is_tensor}
        fields |= {"OutOfBoundsInputValue": 0}
        given = {name.removesuffix("Tensor"): x for name, x in inputs.items()}
        given = {name: x.astype(np.float32 if x.dtype.kind == "f" else np.uint32) for name, x in given.items()}
        ranks = {"Input": 4, "ROI": 2, "BatchIndices": 1}  # without more dimensions before these
        given = {name: x.reshape(x.shape[x.ndim - ranks[name] :]) for name, x in given.items()}
        sizes = desc["OutputTensor"].sizes[-4:]
        forward = of_arrays("ROI_ALIGN1", given, {"OutputTensor": tensor("FLOAT32", sizes)}, **fields)
        del fields["OutOfBoundsInputValue"]
        back = {**given, "InputGradient": generator.integers(-9, 10, sizes).astype(np.float32)}
        outputs = {"OutputGradientTensor": given["Input"].shape, "OutputROIGradientTensor": given["ROI"].shape}
        made = {name: tensor("FLOAT32", of) for name, of in outputs.items()}
        yield forward, of_arrays("ROI_ALIGN_GRAD", back, made, **fields)


# ---- the formula in fractions


def exact(number: float) -> Fraction:
    return Fraction(float(np.float32(number)))


def samples_of(size: Fraction, count: int, fields: dict[str, Any]) -> int | None:
    """Return the number of samples of an element along an axis, None where it is undefined."""
    least, most = fields["MinimumSamplesPerOutput"], fields["MaximumSamplesPerOutput"]
    clamped = min(max(abs(size) / count, Fraction(least)), Fraction(most))
    if not 1 <= least <= most or clamped.denominator > 1 or (size < 0 and clamped != least):
        return None
    return int(clamped)


def along(corners: list[float], axis: int, count: int, fields: dict[str, Any]) -> list[Places] | None:
    """Return where the samples of each output element are along height (0) or width (1)."""
    scale = exact(fields["SpatialScaleX" if axis else "SpatialScaleY"])
    start, stop = (Fraction(corners[at]) * scale for at in (1 - axis, 3 - axis))
    of_each = samples_of(stop - start, count, fields)
    steps = (of_each or 1) * count - bool(fields.get("AlignRegionsToCorners"))
    if of_each is None or steps == 0:
        return None
    before, after = exact(fields.get("InputPixelOffset", 0.5)), exact(fields.get("OutputPixelOffset", -0.5))
    places = [(s - after) * (stop - start) / steps + start - before for s in range(of_each * count)]
    return [places[at * of_each : (at + 1) * of_each] for at in range(count)]


def sides(x: Fraction, size: int, mode: str) -> dict[int, Fraction]:
    """Return the weights of the elements of an axis at a place."""
    if mode == "NEAREST_NEIGHBOR":
        return {min(max(math.floor(x + HALF), 0), size - 1): Fraction(1)}
    found: dict[int, Fraction] = {}
    for index, weight in ((math.floor(x), 1 - (x - math.floor(x))), (math.floor(x) + 1, x - math.floor(x))):
        held = min(max(index, 0), size - 1)
        found[held] = found.get(held, Fraction(0)) + weight
    return found


def is_clear(x: Fraction, size: int, fields: dict[str, Any]) -> bool:
    """Whether all readings say the same of what is at a place, which is not beyond the limit."""
    if fields["InterpolationMode"] == "LINEAR" and not fields.get("AlignRegionsToCorners"):
        return x not in (-1, size)
    is_half = fields["InterpolationMode"] == "NEAREST_NEIGHBOR" and (x - HALF).denominator == 1
    return 0 <= x <= size - 1 and not is_half


def sample(image: Array, y: Fraction, x: Fraction, fields: dict[str, Any]) -> Fraction:
    """Return what an image has at a place, in the reading that the reference takes."""
    pairs = list(zip((y, x), image.shape, strict=True))
    edge = 0 if fields.get("AlignRegionsToCorners") else 1
    if any((at < 0 or at > size - 1) if edge == 0 else (at <= -1 or at >= size) for at, size in pairs):
        return exact(fields["OutOfBoundsInputValue"])
    rows, columns = (sides(at, size, fields["InterpolationMode"]) for at, size in pairs)
    return sum(
        (Fraction(image[row, column].item()) * rows[row] * columns[column] for row in rows for column in columns),
        Fraction(0),
    )


def right(desc: OperatorDesc, inputs: dict[str, Array]) -> Array:
    """Return the output as float64, NaN where it is undefined."""
    fields, x = dict(desc.values), inputs["InputTensor"]
    found = np.full(fields["OutputTensor"].sizes, NAN)
    regions = inputs["ROITensor"].reshape(-1, 4).tolist()
    for region, (corners, image) in enumerate(zip(regions, inputs["BatchIndicesTensor"].reshape(-1), strict=True)):
        places = [along(corners, axis, found.shape[2 + axis], fields) for axis in range(2)]
        if None in places:
            continue
        for place in np.ndindex(found.shape[1:]):
            own = itertools.product(*(of[at] for of, at in zip(places, place[1:], strict=True) if of is not None))
            samples = [sample(x[image, place[0]], *at, fields) for at in own]
            if None not in samples:
                known = [one for one in samples if one is not None]
                is_largest = fields["ReductionFunction"] == "MAX"
                found[(region, *place)] = max(known) if is_largest else sum(known, Fraction(0)) / len(known)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 1 << 16])
@pytest.mark.parametrize("operator", REGIONS)
def test_every_element_has_its_samples(operator: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "BLOCK", block)
    known = differing = total = 0
    for desc, inputs in aligned(operator):
        found, expected = engine.evaluate(desc, inputs)["OutputTensor"], right(desc, inputs)
        is_undefined = np.zeros(expected.shape, bool) if found.undefined is None else found.undefined
        # A number of samples that rounding may decide is undefined by the one and not by the other.
        differing += int((is_undefined != np.isnan(expected)).sum())
        total += is_undefined.size
        compared = ~is_undefined & ~np.isnan(expected)
        known += int(compared.sum())
        assert not (misrounded(found.values, expected) & compared).any(), (desc, inputs)
    assert known > 1000
    assert differing < 0.05 * total


# ---- properties


IMAGE = np.arange(1.0, 21).astype(np.float32).reshape(1, 1, 4, 5)
FIELDS: dict[str, Any] = {
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "LINEAR",
    "SpatialScaleX": 1,
    "SpatialScaleY": 1,
    "OutOfBoundsInputValue": 0,
    "MinimumSamplesPerOutput": 1,
    "MaximumSamplesPerOutput": 1,
}
OFFSETS: dict[str, Any] = {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}


def built(corners: Any, sizes: tuple[int, int], x: Any = IMAGE, **fields: Any) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return a ROI_ALIGN1 of the first of some images, or a ROI_ALIGN where the fields have no offsets."""
    roi, images = np.array(corners, np.float32).reshape(-1, 4), np.array(x, np.float32)
    tensors = {"Input": images, "ROI": roi, "BatchIndices": np.zeros(len(roi), np.uint32)}
    output = {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [len(roi), images.shape[1], *sizes]}}
    operator = "ROI_ALIGN1" if "InputPixelOffset" in fields else "ROI_ALIGN"
    return of_arrays(operator, tensors, output, **(FIELDS | fields))


def results(*args: Any, **fields: Any) -> list[Any]:
    """Return the output as a flat list, None for the elements that are undefined."""
    found = engine.evaluate(*built(*args, **fields))["OutputTensor"]
    marks = np.zeros(found.values.shape, bool) if found.undefined is None else found.undefined
    return [None if mark else value for value, mark in zip(found.values.flat, marks.flat, strict=True)]


# ---- what is undefined


def ways(*args: Any, **fields: Any) -> list[set[float]]:
    """Return the right results of each element, as floats without their errors."""
    given = bound(*built(*args, **fields))
    assert not given.undefined.any()
    return [set(each) for each in zip(*(way.value.tolist() for way in (given, *given.others)), strict=True)]


# ---- bounds


def bound(desc: OperatorDesc, inputs: dict[str, Array], **options: Any) -> Bound:
    asked = {"OutputTensor": np.ones(desc.values["OutputTensor"].sizes, bool)}
    return gathered(desc, inputs, asked, **options)["OutputTensor"]


def single(desc: OperatorDesc, inputs: dict[str, Array]) -> Array:
    """Return the output, all of it in FLOAT32, as ONNX Runtime's loops have it."""
    f32, fields = np.float32, desc.values
    x, sizes, p = inputs["InputTensor"], fields["OutputTensor"].sizes, fields["MinimumSamplesPerOutput"]
    found = np.zeros(sizes, f32)
    for region, corners in enumerate(inputs["ROITensor"]):
        x1, y1, x2, y2 = corners * f32(fields["SpatialScaleX"])
        step = [(y2 - y1) / f32(sizes[2] * p), (x2 - x1) / f32(sizes[3] * p)]
        for place in np.ndindex(sizes[1:]):
            total = [f32(0)]
            for sub in np.ndindex(p, p):
                at = [
                    f32(start - f32(0.5)) + (f32(o * p + s) + f32(0.5)) * each
                    for start, o, s, each in zip((y1, x1), place[1:], sub, step, strict=True)
                ]
                total.append(_bilinear(x[0, place[0]], *at))
            own = max(total[1:]) if fields["ReductionFunction"] == "MAX" else np.add.accumulate(total)[-1] / f32(p * p)
            found[(region, *place)] = own
    return found


def _bilinear(image: Array, y: Any, x: Any) -> Any:
    one = np.float32(1)
    (top, bottom, down), (left, right_, across) = (
        (int(np.clip(np.floor(at), 0, size - 1)), int(np.clip(np.floor(at) + 1, 0, size - 1)), at - np.floor(at))
        for at, size in zip((y, x), image.shape, strict=True)
    )
    weights = ((one - down) * (one - across), (one - down) * across, down * (one - across), down * across)
    corners = (image[top, left], image[top, right_], image[bottom, left], image[bottom, right_])
    return sum((weight * corner for weight, corner in zip(weights, corners, strict=True)), np.float32(0))


@pytest.mark.slow
@pytest.mark.parametrize("function", ["AVERAGE", "MAX"])
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("far", [0, 500])
def test_samples_in_float32_are_within_the_bound_and_those_of_a_moved_region_are_not(
    function: str, samples: int, far: int
) -> None:
    generator = np.random.default_rng(samples)
    x = generator.normal(size=(1, 4, 9, 9 + far)).astype(np.float32)
    region = np.array([[0.7, 1.1, 7.3, 7.9], [2.2, 0.9, 5.1, 6.6]]) / 0.3 + [far / 0.3, 0, far / 0.3, 0]
    fields = {"SpatialScaleX": 0.3, "SpatialScaleY": 0.3, "ReductionFunction": function}
    fields |= {"MinimumSamplesPerOutput": samples, "MaximumSamplesPerOutput": samples}
    desc, inputs = built(region, (3, 3), x, **fields)
    given = bound(desc, inputs)
    assert not refused(single(desc, inputs).reshape(-1), given).any()
    moved = inputs | {"ROITensor": (region + 1e-4 * max(1, far / 10)).astype(np.float32)}
    assert refused(single(desc, moved).reshape(-1), given).mean() > 0.6


def test_a_sample_beside_a_limit_is_inside_or_outside_and_one_beside_a_half_either_neighbour() -> None:
    # 10 * 0.7 is a little less than 7 in FLOAT32, and 7 once it is rounded
    fields = {"SpatialScaleX": 0.7, "OutOfBoundsInputValue": 7, "InputPixelOffset": 8, "OutputPixelOffset": 0}
    given = bound(*built([10, 8, 10, 8], (1, 1), [[[[1, 2]]]], **(OFFSETS | fields)))
    assert not given.undefined.any()
    assert (given.value - given.radius).item() == pytest.approx(1)
    assert (given.value + given.radius).item() == pytest.approx(7)
    row = [[[[1, 2, 3, 4, 5, 6, 7, 8, 9]]]]
    nearest = {"SpatialScaleX": 0.7, "InterpolationMode": "NEAREST_NEIGHBOR"}
    for x, expected in ((10, [7, 8]), (11, [8])):
        given = bound(*built([x, 0.5, x, 0.5], (1, 1), row, **nearest))
        ways = (given, *given.others)
        assert sorted({way.value.item() for way in ways}) == expected
        assert not any(way.radius.any() or way.is_rounded for way in ways)
    samples = {"MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2}
    given = bound(*built([10, 0.5, 10, 0.5], (1, 1), row, **nearest, **samples))
    assert (given.value - given.radius).item() == pytest.approx(7)
    assert (given.value + given.radius).item() == pytest.approx(8)


def test_a_region_in_float16_is_within_the_bound_of_that_arithmetic() -> None:
    x = np.random.default_rng(3).normal(size=(1, 1, 20, 20)).astype(np.float16)
    roi = np.array([[1.3, 2.7, 15.2, 17.9]], np.float16)
    tensors = {"Input": x, "ROI": roi, "BatchIndices": np.zeros(1, np.uint32)}
    output = {"OutputTensor": {"DataType": "FLOAT16", "Sizes": [1, 1, 3, 3]}}
    desc, inputs = of_arrays("ROI_ALIGN", tensors, output, **FIELDS)
    moved = inputs | {"ROITensor": roi + np.float16(0.01)}
    found = engine.run(desc, moved)["OutputTensor"].reshape(-1)
    assert not refused(found, bound(desc, inputs, accumulate="FLOAT16")).any()
    assert refused(found, bound(desc, inputs)).any()


# ---- gradients


def marked(computed: Any) -> Array:
    return np.zeros(computed.values.shape, bool) if computed.undefined is None else computed.undefined


def clear(desc: OperatorDesc, inputs: dict[str, Array]) -> Array:
    """Say of which elements all readings give the same."""
    fields, (_, _, *plane) = desc.values, inputs["InputTensor"].shape
    found = np.zeros(fields["OutputTensor"].sizes, bool)
    for region, corners in enumerate(inputs["ROITensor"].reshape(-1, 4).tolist()):
        rows, columns = (along(corners, axis, found.shape[2 + axis], dict(fields)) for axis in range(2))
        for row, column in itertools.product(enumerate(rows or []), enumerate(columns or [])):
            samples = itertools.product(row[1], column[1])
            found[region, :, row[0], column[0]] = all(_is_known(at, plane, dict(fields)) for at in samples)
    return found


def _is_known(at: tuple[Fraction, ...], sizes: list[int], fields: dict[str, Any]) -> bool:
    pairs = list(zip(at, sizes, strict=True))
    if not fields.get("AlignRegionsToCorners") and any(x < -1 or x > size for x, size in pairs):
        return True
    return all(is_clear(x, size, fields) for x, size in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(("block", "count"), [(1, 20), (1 << 16, 80)])
def test_the_gradient_of_images_is_the_transpose_of_the_forward_operator(
    block: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cut, "BLOCK", block)
    compared = 0
    for (desc, inputs), (back, given) in returning(count):
        forward = engine.evaluate(desc, inputs)["OutputTensor"]
        known = np.where(
            ~marked(forward) & clear(desc, inputs), given["InputGradientTensor"], np.float32(0)
        )  # the rest gives nothing back
        found = engine.evaluate(back, given | {"InputGradientTensor": known})["OutputGradientTensor"]
        if marked(found).any():  # the number of samples of a region is not known, or which of two equal ones is largest
            continue
        # Maxima of averages are homogeneous: what a largest sample is, is its weights times the elements.
        expected = (forward.values.astype(np.float64) * known).sum()
        assert (found.values.astype(np.float64) * inputs["InputTensor"]).sum() == pytest.approx(expected, abs=2e-3), (
            desc
        )
        compared += 1
    assert compared > count / 4


def shaken(desc: OperatorDesc, inputs: dict[str, Array], region: int, corner: int) -> Fraction | None:
    """Return the derivative of the sum of all outputs of a region times their gradient, exactly, from differences."""
    tiny = Fraction(1, 2**60)
    sums = []
    for step in (tiny, -tiny):
        corners = [Fraction(at) for at in inputs["ROITensor"][region].tolist()]
        corners[corner] += step
        sums.append(total_of(desc, inputs, region, corners))
    return None if None in sums else (sums[0] - sums[1]) / (2 * tiny)


def total_of(desc: OperatorDesc, inputs: dict[str, Array], region: int, corners: list[Any]) -> Any:
    fields, (_, channels, height, width) = dict(desc.values), desc.values["InputGradientTensor"].sizes
    plain = fields | {"MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 1, "OutOfBoundsInputValue": 0}
    rows, columns = (along(corners, axis, (height, width)[axis], plain) for axis in range(2))
    if rows is None or columns is None:
        return None
    total = Fraction(0)
    for channel, row, column in np.ndindex(channels, height, width):
        image = inputs["InputTensor"][inputs["BatchIndicesTensor"][region], channel]
        value = sample(image, rows[row][0], columns[column][0], plain)
        if value is None:
            return None
        total += value * Fraction(inputs["InputGradientTensor"][region, channel, row, column].item())
    return total


@pytest.mark.slow
def test_the_gradient_of_regions_is_the_derivative_where_it_is_known() -> None:
    compared = 0
    for _, (desc, inputs) in returning(200):
        found = engine.evaluate(desc, inputs)["OutputROIGradientTensor"]
        fields = desc.values
        is_known = (fields["InterpolationMode"], fields["ReductionFunction"]) == ("LINEAR", "AVERAGE")
        for place in np.ndindex(found.values.shape):
            if marked(found)[place]:
                continue
            assert is_known
            expected = shaken(desc, inputs, *place)
            assert expected is not None
            assert found.values[place] == pytest.approx(float(expected), rel=1e-4, abs=1e-3), (desc, inputs)
            compared += 1
    assert compared > 60


PLANE: dict[str, Any] = {name: value for name, value in (FIELDS | OFFSETS).items() if name != "OutOfBoundsInputValue"}
EQUAL = {"InputPixelOffset": 0.25, "OutputPixelOffset": 0.25}


def returned(corners: Any, given: Any, x: Any, *outputs: str, **fields: Any) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return a ROI_ALIGN_GRAD of the first of some images."""
    roi, images = np.array(corners, np.float32).reshape(-1, 4), np.array(x, np.float32)
    tensors = {"Input": images, "InputGradient": np.array(given, np.float32), "ROI": roi}
    tensors |= {"BatchIndices": np.zeros(len(roi), np.uint32)}
    sizes = {"OutputGradient": images.shape, "OutputROIGradient": roi.shape}
    described = {f"{name}Tensor": {"DataType": "FLOAT32", "Sizes": list(sizes[name])} for name in outputs}
    return of_arrays("ROI_ALIGN_GRAD", tensors, described, **(PLANE | EQUAL | fields))


def returned_bounds(made: tuple[OperatorDesc, dict[str, Array]], **options: Any) -> dict[str, Bound]:
    desc, inputs = made
    asked = {part.label: np.ones(part.tensor.sizes, bool) for part in desc.tensors("output_tensor")}
    return gathered(desc, inputs, asked, **options)


def test_offsets_are_those_of_the_forward_operator() -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30."""
    fields = {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.25}
    made = returned([1, 0.5, 5, 0.5], [[[[1, 2, 4]]]], np.arange(8.0).reshape(1, 1, 1, 8), "OutputGradient", **fields)
    bound = returned_bounds(made)["OutputGradientTensor"]
    assert bound.others == ()
    assert bound.value.tolist() == pytest.approx([0.1666666, 0.8333334, 1.6666665, 2.3333335, 2, 0, 0, 0])


LARGEST = {"ReductionFunction": "MAX", "MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2}


def test_an_infinite_sample_is_the_largest_of_balls_too() -> None:
    """The samples are halfway between two rows, and between the elements 0 and 1, 1 and 2, and 2 and 3."""
    fields = {"ReductionFunction": "MAX", "InputPixelOffset": 0.0, "OutputPixelOffset": 0.0}
    made = returned([0.5, 0.5, 3.5, 0.5], [[[[4, 8, 16]]]], [[[[0, INF, 1, 2]] * 2]], "OutputGradient", **fields)
    found = returned_bounds(made)["OutputGradientTensor"]
    assert not found.undefined.any()
    assert found.value.tolist() == [1, 1 + 2, 2 + 4, 4] * 2


def test_beyond_an_edge_both_neighbours_of_a_sample_are_its_element() -> None:
    """0.2 of an element beyond the first one along both axes, it has four parts of the gradient, or all of it."""
    gradient, near, far = map(np.float32, (1.9199991, 0.2, 0.8))
    parts = np.float32(0)
    for weight in (far * far, far * near, near * far, near * near):
        parts += gradient * weight
    made = returned([-0.8, -0.8] * 2, [[[[gradient]]]], [[[[1, 2]] * 2]], "OutputGradient", **dict.fromkeys(EQUAL, 0))
    bound = returned_bounds(made)["OutputGradientTensor"]
    assert bound.value[0] == gradient
    assert 3e-7 < abs(float(parts) - float(gradient)) <= bound.radius[0] <= 1e-6


def test_of_samples_that_may_be_the_largest_each_may_get_the_gradient() -> None:
    close = [0, 1, 5, 1 + 2.0**-23, 0]
    image = [[[close, [-100] * 5]]]
    made = returned([1.5, 0, 3.5, 1], [[[[8]]]], image, "OutputGradient", **LARGEST, **dict.fromkeys(EQUAL, 0))
    bound = returned_bounds(made)["OutputGradientTensor"]
    assert (bound.value - bound.radius)[:5].tolist() == pytest.approx([0] * 5, abs=1e-4)
    assert (bound.value + bound.radius)[:5].tolist() == pytest.approx([0, 4, 8, 4, 0], abs=1e-4)
    assert (bound.value[5:] == 0).all()


def single_gradients(desc: OperatorDesc, inputs: dict[str, Array]) -> dict[str, Array]:
    """Return both gradients of averages of one sample in FLOAT32, one sample after the other, with equal offsets."""
    f32, fields = np.float32, desc.values
    x, given = inputs["InputTensor"], inputs["InputGradientTensor"]
    back, of_regions = np.zeros_like(x), np.zeros_like(inputs["ROITensor"])
    scale, offset = f32(fields["SpatialScaleX"]), f32(fields["InputPixelOffset"])
    for region, channel, row, column in np.ndindex(given.shape):
        x1, y1, x2, y2 = inputs["ROITensor"][region] * scale
        shares = [(f32(at) - offset) / f32(count) for at, count in zip((row, column), given.shape[2:], strict=True)]
        y, x_ = shares[0] * (y2 - y1) + (y1 - offset), shares[1] * (x2 - x1) + (x1 - offset)
        value, image, target = given[region, channel, row, column], x[0, channel], back[0, channel]
        top, left = int(np.floor(y)), int(np.floor(x_))
        down, across = y - f32(top), x_ - f32(left)
        for place, weight in (
            ((top, left), (1 - down) * (1 - across)),
            ((top, left + 1), (1 - down) * across),
            ((top + 1, left), down * (1 - across)),
            ((top + 1, left + 1), down * across),
        ):
            target[place] += weight * value
        steep = image[top : top + 2, left : left + 2]
        slopes = [
            (1 - down) * (steep[0, 1] - steep[0, 0]) + down * (steep[1, 1] - steep[1, 0]),
            (1 - across) * (steep[1, 0] - steep[0, 0]) + across * (steep[1, 1] - steep[0, 1]),
        ]
        for corner, share in enumerate((1 - shares[1], 1 - shares[0], shares[1], shares[0])):
            of_regions[region, corner] += value * slopes[corner % 2] * scale * share
    return {"OutputGradientTensor": back, "OutputROIGradientTensor": of_regions}


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 12])
def test_gradients_in_float32_are_within_the_bounds_and_those_of_moved_regions_are_not(count: int) -> None:
    generator = np.random.default_rng(count)
    x, given = generator.normal(size=(1, 2, 12, 12)), generator.normal(size=(2, 2, count, count))
    region = np.array([[1.7, 2.1, 8.3, 8.9], [3.2, 1.9, 7.1, 9.6]]) / 0.3
    fields = {"SpatialScaleX": 0.3, "SpatialScaleY": 0.3, "InputPixelOffset": 0.25, "OutputPixelOffset": 0.25}
    desc, inputs = returned(region, given, x, "OutputGradient", "OutputROIGradient", **fields)
    moved = single_gradients(desc, inputs | {"ROITensor": (region + 1e-3).astype(np.float32)})
    for label, found in single_gradients(desc, inputs).items():
        for is_likely in (False, True):
            bound = returned_bounds((desc, inputs), is_likely=is_likely)[label]
            assert not refused(found.reshape(-1), bound).any(), label
        reads = (bound.value != 0) & ~bound.undefined
        assert refused(moved[label].reshape(-1), bound)[reads].mean() > 0.5, label


def test_no_gradient_of_a_region_but_of_linear_averages_of_one_sample_is_known() -> None:
    image, given, region = np.arange(20.0).reshape(1, 1, 4, 5) ** 2, np.ones((1, 1, 2, 2)), [0.8, 0.6, 3.7, 2.9]
    others: list[dict[str, Any]] = [
        {"InterpolationMode": "NEAREST_NEIGHBOR"},
        {"ReductionFunction": "MAX"},
        {"MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2},
    ]
    for changed in ({}, *others):
        made = returned(region, given, image, "OutputROIGradient", **changed)
        assert marked(engine.evaluate(*made)["OutputROIGradientTensor"]).all() == bool(changed)
    made = returned([1, 0.6, 3.7, 2.9], given, image, "OutputROIGradient", InputPixelOffset=0, OutputPixelOffset=0)
    assert marked(engine.evaluate(*made)["OutputROIGradientTensor"])[0].tolist() == [True, False, True, False]
