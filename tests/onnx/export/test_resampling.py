"""Resampling as ONNX graphs: what has no words; test_crosscheck compares values."""

from __future__ import annotations

import pytest
from onnx_models import made, whole

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible


@pytest.mark.parametrize("offset", [1, -0.25])
def test_other_offsets_are_refused(offset: float) -> None:
    x = whole(3, 4)
    fields = {"InputPixelOffsets": [offset, 0], "OutputPixelOffsets": [0, 0], "Scales": [1, 2]}
    fields |= {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING"}
    with pytest.raises(Inexpressible, match="no such InputPixelOffsets and OutputPixelOffsets"):
        build(made("RESAMPLE2", {"InputTensor": x}, {"OutputTensor": whole(3, 8)}, **fields))


def test_a_filter_that_takes_effect_is_refused() -> None:
    x = whole(8, 4)
    fields = {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5], "RoundingDirection": "DECREASING"}
    fields |= {"InterpolationMode": "LINEAR", "Scales": [0.25, 1], "Antialiased": True}
    desc = made("RESAMPLE3", {"InputTensor": x}, {"OutputTensor": x[:2]}, **fields)
    with pytest.raises(Inexpressible, match="the filter of Antialiased is not documented"):
        build(desc)
