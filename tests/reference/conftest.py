"""What the tests of the reference engine share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """Compute as the engine does: without NumPy's warnings."""
    with np.errstate(all="ignore"):
        yield
