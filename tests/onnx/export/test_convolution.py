"""Convolutions as ONNX graphs: the values of their formulas in plain loops."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx_models import expect, f32, made, whole
from windows import convolved

from dmlcheck.onnx.export.builder import build
from dmlcheck.onnx.export.records import Inexpressible

Array = np.ndarray[Any, Any]


def transposed(
    x: Array,
    kernel: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    more: Sequence[int],
    groups: int = 1,
) -> Array:
    """Add to the output what each input element gives it, the filter as it is stored; then cut, or add zeros."""
    own, count = x.shape[1] // groups, kernel.shape[1]
    spans = [
        (size - 1) * step + (reach - 1) * gap + 1
        for size, step, reach, gap in zip(x.shape[2:], strides, kernel.shape[2:], dilations, strict=True)
    ]
    made = np.zeros(
        (x.shape[0], count * groups, *(span + extra for span, extra in zip(spans, more, strict=True))), x.dtype
    )
    for c, place in itertools.product(range(x.shape[1]), itertools.product(*map(range, x.shape[2:]))):
        group = c // own
        for reach in itertools.product(*map(range, kernel.shape[2:])):
            at = tuple(p * s + k * d for p, s, k, d in zip(place, strides, reach, dilations, strict=True))
            values = np.outer(x[(slice(None), c, *place)], kernel[(c, slice(None), *reach)])
            made[(slice(None), slice(group * count, (group + 1) * count), *at)] += values
    ends = [size - cut for size, cut in zip(made.shape[2:], high, strict=True)]
    return made[(slice(None), slice(None), *(slice(a, b) for a, b in zip(low, ends, strict=True)))].copy()


FORWARD = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "OutputPadding": [0, 0], "GroupCount": 1}


def test_sizes_that_are_larger_by_a_stride_of_1_are_less_end_padding() -> None:
    """ONNX's output_padding would be 1, and has to be less than the stride."""
    x, kernel = whole(1, 2, 3, 4), whole(2, 3, 3, 3, step=3)
    steps = {"Strides": [1, 1], "Dilations": [2, 1], "StartPadding": [1, 1], "EndPadding": [1, 1]}
    larger = transposed(x, kernel, [1, 1], [2, 1], [1, 1], [0, 1], (0, 0))
    inputs = {"InputTensor": x, "FilterTensor": kernel}
    fields = FORWARD | steps | {"Direction": "BACKWARD"}
    expect("CONVOLUTION", inputs, {"OutputTensor": larger}, by=("onnxruntime",), **fields)


def test_a_fused_activation_comes_after_the_bias() -> None:
    x, kernel, bias = whole(1, 2, 3, 3), whole(2, 2, 1, 1), f32([[[[-4]], [[2]]]])
    steps = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    wanted = np.maximum(convolved(x, kernel, *steps.values()) + bias, 0)
    fields = FORWARD | steps | {"FusedActivation": {"Type": "ACTIVATION_RELU"}}
    inputs = {"InputTensor": x, "FilterTensor": kernel, "BiasTensor": bias}
    expect("CONVOLUTION", inputs, {"OutputTensor": wanted}, **fields)
    desc = made(
        "CONVOLUTION", inputs, {"OutputTensor": wanted}, **(fields | {"FusedActivation": {"Type": "ACTIVATION_TANH"}})
    )
    with pytest.raises(Inexpressible, match="a fused ACTIVATION_TANH is a node of its own in ONNX"):
        build(desc)
