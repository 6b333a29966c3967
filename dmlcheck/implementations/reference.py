"""The reference engine as an implementation."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array, Computed


class Reference:
    """The NumPy reference engine, which is imported when something is asked of it: a process may only pass it on."""

    name = "reference"
    version = __version__
    device = "NumPy"

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why there is no result: the operator has no kernel yet."""
        return self._engine.unsupported(desc)  # type: ignore[no-any-return]

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        return self._engine.run(desc, inputs)  # type: ignore[no-any-return]

    def evaluate(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Computed]:
        """Return the outputs of a valid desc, each with a mask of what the documentation leaves open."""
        return self._engine.evaluate(desc, inputs)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End nothing: nothing was started."""

    @cached_property
    def _engine(self) -> Any:
        from dmlcheck.reference import engine

        return engine
