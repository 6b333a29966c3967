"""What can be judged: anything that runs a desc on arrays."""

from __future__ import annotations

from typing import Any, Protocol

from dmlcheck.kernels import Array
from dmlcheck.model import OperatorDesc


class Implementation(Protocol):
    """One implementation under test."""

    name: str

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why the implementation cannot run a desc, or None when it can."""

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc, by name, each of the shape and type that the desc gives it."""
