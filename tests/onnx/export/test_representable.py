"""Which numbers a data type has."""

from __future__ import annotations

import numpy as np

from dmlcheck.onnx.export.representable import rounded

INF, NAN = float("inf"), float("nan")


def test_numbers_are_rounded_as_numpy_rounds_them() -> None:
    for value in (0.1, 1 / 3, 65519.9, 1e-8):
        assert rounded(value, "FLOAT16") == float(np.float16(value))
        assert rounded(value, "FLOAT32") == float(np.float32(value))
    assert rounded(1e9, "FLOAT16") == INF
    assert rounded(-1e39, "FLOAT32") == -INF
