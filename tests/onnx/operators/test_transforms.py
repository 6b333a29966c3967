"""STFT: the frames, which DmlSTFT.h computes with DirectML."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_nodes import Desc, descs, node, zeros

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import row_of
from dmlcheck.onnx.provider.registrations import left_to_others

SIGNAL, OUTPUT, STEP = zeros(2, 128, 1), zeros(2, 15, 9, 2), np.array(8)
FRAMES = "FLOAT32 2 15 16"


def test_frames_that_overlap_are_multiplied_by_the_window() -> None:
    """15 frames of 16 samples, a step of 8 apart."""
    fields = {"ATensor": f"{FRAMES} by 128 8 1", "BTensor": f"{FRAMES} by 0 0 1", "OutputTensor": FRAMES}
    assert descs("STFT", [SIGNAL, STEP, zeros(16)], OUTPUT) == [Desc("ELEMENT_WISE_MULTIPLY", fields, "3_0")]


def test_without_a_window_frames_are_copied() -> None:
    fields = {"InputTensor": f"{FRAMES} by 128 8 1", "OutputTensor": FRAMES}
    made = descs("STFT", [SIGNAL, STEP, None, np.array(16)], OUTPUT)
    assert made == [Desc("ELEMENT_WISE_IDENTITY", fields, "3_0")]


def test_frames_without_a_length_are_refused() -> None:
    with pytest.raises(Unmapped, match="without a step or a length of frames"):
        descs("STFT", [SIGNAL, STEP], OUTPUT)


@pytest.mark.parametrize(("name", "version"), [("DFT", 17), ("DFT", 20), ("GridSample", 16)])
def test_what_shaders_compute_has_no_desc(name: str, version: int) -> None:
    one = node(name, [zeros(1, 1, 4, 4)], zeros(1, 1, 4, 4))
    assert left_to_others(one, version, []) is None
    assert "shaders of its own: DirectML has no operator for it" in str(row_of(name).elsewhere)
