"""Ball arithmetic is computed as in the engine: without NumPy's warnings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _as_in_the_engine() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield
