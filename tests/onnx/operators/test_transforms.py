"""STFT: the frames, which DmlSTFT.h computes with DirectML."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_nodes import Desc, descs, zeros

from dmlcheck.onnx.descs.node import Unmapped

SIGNAL, OUTPUT, STEP = zeros(2, 128, 1), zeros(2, 15, 9, 2), np.array(8)
FRAMES = "FLOAT32 2 15 16"


def test_frames_that_overlap_are_multiplied_by_the_window() -> None:
    """15 frames of 16 samples, a step of 8 apart."""
    fields = {"ATensor": f"{FRAMES} by 128 8 1", "BTensor": f"{FRAMES} by 0 0 1", "OutputTensor": FRAMES}
    assert descs("STFT", [SIGNAL, STEP, zeros(16)], OUTPUT) == [Desc("ELEMENT_WISE_MULTIPLY", fields, "3_0")]


def test_frames_without_a_length_are_refused() -> None:
    with pytest.raises(Unmapped, match="without a step or a length of frames"):
        descs("STFT", [SIGNAL, STEP], OUTPUT)
