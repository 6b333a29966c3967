"""Scale and Bias as nodes of their own, where that adds no rounding."""

from __future__ import annotations

from typing import Any

import pytest
from onnx_models import INF, E, evaluate, of, simple


@pytest.mark.parametrize(
    ("operator", "scale", "bias", "expected"),
    [
        ("ELEMENT_WISE_EXP", 1, 0, [1, E]),
        ("ELEMENT_WISE_EXP", -2, 0, [1, E**-2]),
        ("ELEMENT_WISE_RECIP", -2, 0, [INF, -0.5]),  # 0 * -2 is -0, and 0 once 0 is added
        ("ELEMENT_WISE_ABS", -2, 0.1, [0.1, 1.9]),
        ("ELEMENT_WISE_IDENTITY", 0.1, 0, [0, 0.1]),
    ],
)
def test_scale_and_bias_come_before_the_function_where_that_is_exact(
    operator: str, scale: float, bias: float, expected: Any
) -> None:
    x = of("FLOAT32", 0, 1)
    desc = simple(operator, {"InputTensor": x}, ScaleBias={"Scale": scale, "Bias": bias})
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"][0].tolist() == pytest.approx(expected)
