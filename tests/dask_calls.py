"""Functions that tests have the workers of a cluster call."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def doubled(number: int) -> int:
    """Return twice a number; an exception for 13."""
    if number == 13:
        raise ValueError("13 is not doubled")
    return 2 * number


def ended_once(path: str) -> str:
    """Return the name of a file that is there already; without it, make it and end the worker."""
    if not path:
        return "untouched"
    if os.path.exists(path) and not path.endswith("always"):
        return os.path.basename(path)
    Path(path).touch()
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return "alive"
