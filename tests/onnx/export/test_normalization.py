"""Normalizations as ONNX graphs: what has no words; test_crosscheck compares values."""

from __future__ import annotations

import pytest
from onnx_models import f32, made, whole

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible


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


def test_a_norm_with_an_epsilon_of_its_own_is_refused() -> None:
    x = f32([[[[3, -4], [1, 2]]]])
    desc = made("LP_NORMALIZATION", {"InputTensor": x}, {"OutputTensor": x}, Axis=2, P=1, Epsilon=0.5)
    with pytest.raises(Inexpressible, match="no Epsilon: only 0 and 1e-5 are exported"):
        build(desc)
