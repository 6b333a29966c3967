"""Gradients as ONNX graphs: what has no words; test_crosscheck compares values."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import made

from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible


def test_a_bound_that_is_no_number_of_the_type_is_refused() -> None:
    x = np.array([[1, 2]], np.float16)
    inputs = {"InputTensor": x, "InputGradientTensor": x}
    desc = made("ELEMENT_WISE_CLIP_GRAD", inputs, {"OutputGradientTensor": x}, Min=0.1, Max=2)
    with pytest.raises(Inexpressible, match="Min or Max is not a number of FLOAT16"):
        build(desc)
