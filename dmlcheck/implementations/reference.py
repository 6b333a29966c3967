"""The reference engine as an implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations.protocol import Implementation

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array


class Reference(Implementation):
    """The NumPy reference engine. It is imported when it first computes: a process that only reports needs none."""

    name = "reference"
    version = __version__
    is_directml = False

    @property
    def device(self) -> str:
        """The NumPy that computes: `NumPy 2.4.6`."""
        import numpy as np

        return f"NumPy {np.__version__}"

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        from dmlcheck.reference import engine

        return engine.run(desc, inputs)
