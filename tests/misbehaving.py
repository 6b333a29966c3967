"""Implementations that go wrong, for the tests of runs: what a case's first input element says is what happens."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from dmlcheck.implementations.protocol import Reference

CRASH, HANG, MEMORY, RAISE, WRONG, EXIT = 101, 102, 103, 104, 105, 106


class Misbehaving(Reference):
    """The reference engine, but for inputs that begin with one of the numbers above."""

    name = "misbehaving"

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Do as the first element says."""
        asked = int(inputs["InputTensor"].reshape(-1)[0])
        if asked == CRASH:
            os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        if asked == HANG:
            time.sleep(600)
        if asked == MEMORY:
            raise MemoryError
        if asked == RAISE:
            raise RuntimeError("on purpose")
        if asked == EXIT:
            os._exit(3)
        outputs = super().run(desc, inputs)
        return {name: values + 1 for name, values in outputs.items()} if asked == WRONG else outputs


class DirectMLLike(Misbehaving):
    """The same, as DirectML: its known deviations are then worth a look."""

    is_directml = True


def broken() -> None:
    """Fail to make an implementation."""
    raise OSError("no device")
