"""Normalizations as ONNX graphs: the values of their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import expect, f32, made, whole

from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import Inexpressible


@pytest.mark.parametrize("has_parameters", [False, True])
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_without_the_variance_the_mean_is_subtracted_and_the_result_rounded_once(
    kind: str, has_parameters: bool
) -> None:
    """The mean of rows of 3 is no number of either type."""
    x = whole(2, 3, 4, step=7, wrap=13).astype(kind)
    inputs = {"InputTensor": x}
    wanted = x - x.astype(np.float64).mean((0, 1), keepdims=True)
    if has_parameters:
        inputs |= {"ScaleTensor": whole(1, 3, 4).astype(kind), "BiasTensor": whole(2, 1, 1).astype(kind)}
        wanted = wanted * inputs["ScaleTensor"] + inputs["BiasTensor"]
    fields = {"Axes": [1, 0], "NormalizeVariance": False, "Epsilon": 0.25}
    expect("MEAN_VARIANCE_NORMALIZATION1", inputs, {"OutputTensor": wanted.astype(kind)}, **fields)


@pytest.mark.parametrize("has_scale", [False, True])
def test_without_the_mean_rows_are_divided_by_the_root_of_their_mean_square(has_scale: bool) -> None:
    x = whole(2, 3, 4, step=7, wrap=13)
    inputs = {"InputTensor": x, **({"ScaleTensor": whole(2, 1, 4, step=3)} if has_scale else {})}
    wanted = x / np.sqrt((x.astype(np.float64) ** 2).mean((0, 2), keepdims=True) + 0.25) * inputs.get("ScaleTensor", 1)
    fields = {"Axes": [2, 0], "UseMean": False, "UseVariance": True, "Epsilon": 0.25}
    expect("MEAN_VARIANCE_NORMALIZATION2", inputs, {"OutputTensor": f32(wanted)}, 1e-5, **fields)


@pytest.mark.parametrize(
    ("name", "sizes", "reason"),
    [("BiasTensor", (1, 1, 4), "adds a bias before it rounds"), ("ScaleTensor", (1, 3, 1), "what Axes does not name")],
)
def test_a_mean_square_goes_with_scales_of_its_axes_alone(name: str, sizes: tuple[int, ...], reason: str) -> None:
    x = whole(2, 3, 4)
    fields = {"Axes": [0, 2], "UseMean": False, "UseVariance": True, "Epsilon": 0.25}
    desc = made("MEAN_VARIANCE_NORMALIZATION2", {"InputTensor": x, name: whole(*sizes)}, {"OutputTensor": x}, **fields)
    with pytest.raises(Inexpressible, match=reason):
        build(desc)


def test_a_local_response_is_taken_over_neighbouring_channels() -> None:
    x = whole(1, 5, 2, 2).astype(np.float64)
    sums = np.stack([(x[:, max(c - 1, 0) : c + 2] ** 2).sum(1) for c in range(5)], 1)
    wanted = x / (2 + 0.5 / 3 * sums) ** 0.75
    fields = {"CrossChannel": True, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.75, "Bias": 2}
    expect(
        "LOCAL_RESPONSE_NORMALIZATION",
        {"InputTensor": f32(x)},
        {"OutputTensor": f32(wanted)},
        1e-5,
        ("onnxruntime",),
        **fields,
    )


@pytest.mark.parametrize("order", [1, 2])
def test_a_norm_is_that_of_its_axis(order: int) -> None:
    x = f32([[[[3, -4], [1, 2]]]])
    wanted = x / (np.abs(x) ** order).sum(2, keepdims=True) ** (1 / order)
    fields = {"Axis": 2, "P": order}
    for epsilon in (0, 1e-5):
        given = {**fields, "Epsilon": epsilon}
        expect("LP_NORMALIZATION", {"InputTensor": x}, {"OutputTensor": wanted}, 1e-6, ("onnxruntime",), **given)
    desc = made("LP_NORMALIZATION", {"InputTensor": x}, {"OutputTensor": x}, **fields, Epsilon=0.5)
    with pytest.raises(Inexpressible, match="no Epsilon: only 0 and 1e-5 are exported"):
        build(desc)
