"""ONNX's reductions, and what is grouped along axes, as DirectML's."""

from __future__ import annotations

import pytest
from onnx_nodes import found, zeros

from dmlcheck.onnx.descs.node import Unmapped

X = zeros(2, 3)


def test_what_versions_of_onnx_say_differently_is_refused() -> None:
    with pytest.raises(Unmapped, match="ReduceL2 of no axes"):
        found("ReduceL2", [X], X, noop_with_empty_axes=1)
