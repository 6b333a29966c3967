"""What the tests of ONNX's models share."""

from __future__ import annotations

from typing import Any


def check(model: Any) -> None:
    """Raise onnx's own error where a model is not valid, or a value's shape or type is not what its operator gives."""
    from onnx import checker

    checker.check_model(model, full_check=True)
