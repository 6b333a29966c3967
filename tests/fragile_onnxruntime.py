"""ONNX Runtime whose native code crashes or hangs, for the tests of runs: the first input element says which."""

from __future__ import annotations

import os
import time
from typing import Any

from dmlcheck.implementations.onnxruntime import OnnxRuntime

CRASH, HANG = 101, 102


class Fragile(OnnxRuntime):
    """The CPU's execution provider, but for inputs that begin with one of the numbers above."""

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Do as the first element says."""
        asked = int(inputs["InputTensor"].reshape(-1)[0])
        if asked == CRASH:
            os.abort()
        if asked == HANG:
            time.sleep(600)
        return super().run(desc, inputs)
