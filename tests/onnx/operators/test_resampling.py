"""ONNX's resampling as DirectML's."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import found, node, only, zeros

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import row_of

X = zeros(1, 1, 4, 5)


def lines(made: Any, axis: int) -> tuple[float, float, float]:
    """Return scale, input offset and output offset of an axis."""
    names = ("Scales", "InputPixelOffsets", "OutputPixelOffsets")
    scale, before, after = (made.fields[name][axis] for name in names)
    return scale, before, after


def scaled(words: str, height: int, **attributes: Any) -> Any:
    """Return what becomes of a Resize of 4 rows to some, of which it gives the sizes."""
    sizes = np.array([1, 1, height, 5])
    attributes = {"coordinate_transformation_mode": words, "mode": "linear", **attributes}
    return found("Resize", [X, None, None, sizes], zeros(*sizes), **attributes)


@pytest.mark.parametrize(
    ("mode", "height", "expected"),
    [
        ("half_pixel", 8, (2, 0.5, -0.5)),
        ("pytorch_half_pixel", 8, (2, 0.5, -0.5)),
        ("pytorch_half_pixel", 1, (0.25, 0, 0)),
        ("asymmetric", 6, (1.5, 0, 0)),
        ("tf_half_pixel_for_nn", 8, (2, 0, -0.5)),
        ("align_corners", 7, (2, 0, 0)),
        ("align_corners", 1, (1, 0, 0)),
        ("half_pixel_symmetric", 8, (2, 0.5, -0.5)),
    ],
)
def test_coordinates_are_offsets_and_scales(mode: str, height: int, expected: tuple[float, float, float]) -> None:
    made = scaled(mode, height)
    assert made.operator == "RESAMPLE2"
    assert lines(made, 2) == expected
    assert made.fields["InterpolationMode"] == "LINEAR"


@pytest.mark.parametrize("sizes", [(2, 3, 2, 2, 2), (1, 1, 4, 3, 2), (2, 1, 1, 2, 2, 1)])
def test_more_than_four_dimensions_are_resized_where_few_change(sizes: tuple[int, ...]) -> None:
    """Each of the last three doubled is each element twice; halfway between two are 3/4 of one and 1/4 of the other."""
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    rank = len(sizes)
    made = (*sizes[: rank - 3], *(2 * size for size in sizes[rank - 3 :]))
    scales = np.array([1] * (rank - 3) + [2] * 3, np.float32)
    (found,) = computed(node_of("Resize", [x, None, scales], float32(*made), mode="nearest"))
    right = x.repeat(2, rank - 1).repeat(2, rank - 2).repeat(2, rank - 3)
    assert found.tolist() == right.tolist()
    (found,) = computed(node_of("Resize", [x, None, scales], float32(*made), mode="linear"))
    for axis in range(rank - 3, rank):
        padded = np.concatenate([x.take([0], axis), x, x.take([-1], axis)], axis)
        places = np.arange(2 * x.shape[axis])
        near, far = 1 + places // 2, 1 + places // 2 + np.where(places % 2, 1, -1)
        x = (0.75 * padded.take(near, axis) + 0.25 * padded.take(far, axis)).astype(np.float32)
    assert found == pytest.approx(x, rel=1e-6)


def test_more_than_three_dimensions_that_change_are_too_many() -> None:
    scales = np.array([1, 2, 2, 2, 2], np.float32)
    with pytest.raises(Unmapped, match="of 5 dimensions, of which more than 3 change"):
        only(node_of("Resize", [zeros(1, 1, 1, 1, 1), None, scales], float32(1, 2, 2, 2, 2), mode="linear"))


@pytest.mark.parametrize(
    ("roi", "height", "expected"),
    [
        ((1 / 3, 1), 5, (2, -1, 0)),  # from row 1 to row 3 in 4 steps
        ((0, 0.5), 1, (1, -0.75, 0)),  # the middle of rows 0 to 1.5
        ((1 / 3, 1 / 3), 4, (1, -1, 0)),
    ],
)
def test_a_part_of_the_input_is_taken(roi: tuple[float, float], height: int, expected: Any) -> None:
    sizes = np.array([height])
    part = np.array(roi, np.float64)
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear", "axes": [-2]}
    made = found("Resize", [X, part, None, sizes], zeros(1, 1, height, 5), opset=18, **attributes)
    assert lines(made, 2) == pytest.approx(expected)
    assert lines(made, 3) == (1, 0, 0)
    for wrong in ([0, 1.5], [-0.5, 1], [1, 0.5]):
        with pytest.raises(Unmapped, match="beyond the input's edges"):
            found("Resize", [X, np.array(wrong), None, sizes], zeros(1, 1, height, 5), opset=18, **attributes)


def test_before_opset_11_coordinates_are_scaled_alone() -> None:
    scales = np.array([1, 1, 2, 2], np.float32)
    for name, inputs, more in (("Resize", [X, scales], {}), ("Upsample", [X], {"scales": [1.0, 1.0, 2.0, 2.0]})):
        made = found(name, inputs, zeros(1, 1, 8, 10), opset=9, mode="nearest", **more)
        assert (made.operator, lines(made, 2)) == ("RESAMPLE2", (2, 0, 0))
        assert (made.fields["RoundingDirection"], made.fields["InterpolationMode"]) == (
            "DECREASING",
            "NEAREST_NEIGHBOR",
        )


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"mode": "area"}, "in mode area"),
        ({"antialias": 1}, "a filter that DirectML does not document"),
        ({"coordinate_transformation_mode": "nonsense"}, "Resize with nonsense"),
    ],
)
def test_what_directml_does_otherwise_is_refused(attributes: Any, reason: str) -> None:
    with pytest.raises(Unmapped, match=reason):
        scaled("half_pixel", 2, **attributes)


def test_regions_that_onnx_widens_and_their_maxima_are_refused() -> None:
    regions, attributes = np.array([[0, 0, 1, 1]], np.float32), {"spatial_scale": 0.5}
    with pytest.raises(Unmapped, match="widens regions of less than an element"):
        found("RoiAlign", [X, regions, np.array([0])], zeros(1, 1, 1, 1), opset=10, **attributes)
    with pytest.raises(Unmapped, match="RoiAlign of maxima"):
        found("RoiAlign", [X, regions, np.array([0])], zeros(1, 1, 1, 1), opset=16, mode="max", **attributes)


# ---- ties, which a scale that is rounded to FLOAT32 breaks


def exactly(size: int, resized: int, nearest: str) -> list[int]:
    """Return the nearest elements by half pixels, in exact arithmetic."""
    half = Fraction(1, 2)
    places = [(at + half) * Fraction(size, resized) - half for at in range(resized)]
    rounded = {
        "round_prefer_floor": lambda place: ceil(place - half),
        "round_prefer_ceil": lambda place: floor(place + half),
        "floor": floor,
        "ceil": ceil,
    }[nearest]
    return [min(max(rounded(place), 0), size - 1) for place in places]


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize(("size", "resized"), [(20, 6), (10, 6), (7, 3), (6, 10), (9, 12), (3, 14), (8, 4)])
def test_an_element_halfway_between_two_goes_where_it_does_exactly(size: int, resized: int, nearest: str) -> None:
    x = np.arange(size, dtype=np.float32).reshape(1, 1, 1, size)
    sizes = np.array([1, 1, 1, resized], np.int64)
    one = node_of("Resize", [x, None, None, sizes], float32(1, 1, 1, resized), opset=19, nearest_mode=nearest)
    (made,) = computed(one)
    assert made.reshape(-1).tolist() == exactly(size, resized, nearest)


def test_a_tie_is_said() -> None:
    def remark(resized: int, **more: Any) -> str | None:
        sizes = np.array([1, 1, 1, resized], np.int64)
        made = node("Resize", [zeros(1, 1, 1, 20), None, None, sizes], zeros(1, 1, 1, resized), opset=19, **more)
        say = row_of("Resize").remark
        assert say is not None
        return say(made)

    said = str(remark(6, nearest_mode="round_prefer_ceil"))
    assert said.startswith("a tie: element 1 of dimension 3 and 1 more lies halfway between two of the input")
    assert said.endswith("either is right")
    assert remark(8) is None
    assert remark(10) is None  # whose scale is 0.5, which FLOAT32 has
    assert remark(6, mode="linear") is None
