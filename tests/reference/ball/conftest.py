"""Ball arithmetic is computed as in the engine: without NumPy's warnings."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _as_in_the_engine(quiet: None) -> None:
    """Compute without NumPy's warnings."""
