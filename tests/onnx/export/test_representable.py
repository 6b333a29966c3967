"""Which numbers a data type has."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.onnx.export.representable import fits, rounded

INF = float("inf")


@pytest.mark.parametrize(
    ("value", "kind", "answer"),
    [
        (127, "INT8", True),
        (128, "INT8", False),
        (-1, "UINT32", False),
        (2**32 - 1, "UINT32", True),
        (0.5, "INT32", False),
        (INF, "INT32", False),
        (0.1, "FLOAT16", False),
        (INF, "FLOAT16", True),
        (70000, "FLOAT16", False),
        (0.5, "FLOAT16", True),
    ],
)
def test_a_type_has_a_number_or_not(value: float, kind: str, answer: bool) -> None:
    assert fits(value, kind) is answer


def test_numbers_are_rounded_as_numpy_rounds_them() -> None:
    for value in (0.1, 1 / 3, 65519.9, 1e-8):
        assert rounded(value, "FLOAT16") == float(np.float16(value))
        assert rounded(value, "FLOAT32") == float(np.float32(value))
    assert rounded(1e9, "FLOAT16") == INF
    assert rounded(-1e39, "FLOAT32") == -INF
