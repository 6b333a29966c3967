"""The reference engine as an implementation."""

from __future__ import annotations

from typing import Any

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.kernels import Array


class Reference:
    """The NumPy reference engine."""

    name = "reference"
    version = __version__
    device = "NumPy"

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why there is no result: the operator has no kernel yet."""
        return engine.unsupported(desc)

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        return engine.run(desc, inputs)

    def close(self) -> None:
        """End nothing: nothing was started."""
