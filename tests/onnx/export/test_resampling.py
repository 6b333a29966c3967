"""Resampling as ONNX graphs: the values of its formula in plain loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx_models import expect, f32, made, whole

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible

Array = np.ndarray[Any, Any]


def resampled(
    x: Array,
    sizes: Sequence[int],
    scales: Sequence[float],
    offsets: Sequence[tuple[float, float]],
    mode: str,
    to_floor: bool,
) -> Array:
    """Follow the formula of the page: where an output element lies in the input, beyond whose edges these repeat."""
    made = np.empty(sizes)
    for place in np.ndindex(*sizes):
        at = [(o - after) / s - before for o, s, (before, after) in zip(place, scales, offsets, strict=True)]
        if mode == "NEAREST_NEIGHBOR":
            near = [math.floor(each) if to_floor else math.ceil(each) for each in at]
            made[place] = x[tuple(min(max(each, 0), size - 1) for each, size in zip(near, x.shape, strict=True))]
            continue
        total = 0.0
        for ends in itertools.product((0, 1), repeat=len(at)):
            weight, index = 1.0, []
            for each, end, size in zip(at, ends, x.shape, strict=True):
                weight *= each % 1 if end else 1 - each % 1
                index.append(min(max(math.floor(each) + end, 0), size - 1))
            total += weight * x[tuple(index)]
        made[place] = total
    return made


CENTRES = [(0.5, -0.5)] * 2


@pytest.mark.parametrize(("before", "after"), [(0.5, -0.5), (0, 0)], ids=["half_pixel", "asymmetric"])
@pytest.mark.parametrize(("direction", "moved", "rounding"), [
    ("INCREASING", 0.5, "round_prefer_floor"),
    ("DECREASING", -0.5, "round_prefer_ceil"),
    ("INCREASING", 0, "ceil"),
    ("DECREASING", 0, "floor"),
])  # fmt: skip
def test_an_offset_of_half_an_element_more_prefers_a_side(
    before: float, after: float, direction: str, moved: float, rounding: str
) -> None:
    x, scales, offsets = whole(3, 4, wrap=13), (2, 0.5), [(before + moved, after)] * 2
    wanted = resampled(x, (6, 2), scales, offsets, "NEAREST_NEIGHBOR", direction == "DECREASING")
    fields = {"InputPixelOffsets": [before + moved] * 2, "OutputPixelOffsets": [after] * 2, "Scales": list(scales)}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": direction}
    expect("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, **fields)
    graph = build(made("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, **fields))
    assert [node.attributes["nearest_mode"] for node in graph.nodes] == [rounding]


@pytest.mark.parametrize(("direction", "offset"), [("INCREASING", 0), ("INCREASING", 0.75), ("DECREASING", -0.75)])
def test_an_axis_that_stays_as_it_is_may_have_any_offset_that_keeps_it_so(direction: str, offset: float) -> None:
    x, scales = whole(3, 4, wrap=13), (1, 2)
    before = [offset, 0.5 if direction == "INCREASING" else -0.5]
    wanted = resampled(x, (3, 8), scales, [(each, 0) for each in before], "NEAREST_NEIGHBOR", direction == "DECREASING")
    fields = {"InputPixelOffsets": before, "OutputPixelOffsets": [0, 0], "Scales": list(scales)}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": direction}
    expect("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, **fields)


@pytest.mark.parametrize("offset", [1, -0.25])
def test_other_offsets_are_refused(offset: float) -> None:
    x = whole(3, 4)
    fields = {"InputPixelOffsets": [offset, 0], "OutputPixelOffsets": [0, 0], "Scales": [1, 2]}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING"}
    with pytest.raises(Inexpressible, match="no such InputPixelOffsets and OutputPixelOffsets"):
        build(made("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": whole(3, 8)}, **fields))


@pytest.mark.parametrize(
    ("operator", "fields"),
    [("RESAMPLE", {}), ("RESAMPLE1", {}), ("RESAMPLE3", {"RoundingDirection": "DECREASING", "Antialiased": True})],
)
def test_every_version_of_resampling_takes_the_same_centres(operator: str, fields: dict[str, Any]) -> None:
    x = whole(3, 4, wrap=13)
    wanted = resampled(x, (6, 6), (2, 1.5), CENTRES, "LINEAR", to_floor=True)
    if operator != "RESAMPLE":
        fields = fields | {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5]}
    fields = fields | {"InterpolationMode": "LINEAR", "Scales": [2, 1.5]}
    expect(operator, {"InputTensor": x}, {"OutputTensor": f32(wanted)}, 1e-5, **fields)


def test_a_filter_that_takes_effect_is_refused() -> None:
    x = whole(8, 4)
    fields = {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5], "RoundingDirection": "DECREASING"}
    fields |= {"InterpolationMode": "LINEAR", "Scales": [0.25, 1], "Antialiased": True}
    desc = made("RESAMPLE3", {"InputTensor": x}, {"OutputTensor": x[:2]}, **fields)
    with pytest.raises(Inexpressible, match="the filter of Antialiased is not documented"):
        build(desc)
