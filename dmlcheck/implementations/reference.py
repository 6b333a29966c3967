"""The reference engine as an implementation."""

from __future__ import annotations

import contextlib
import os
import re
from functools import cached_property
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array, ComputedOutput


class Reference:
    """The NumPy reference engine; it is imported when it computes, since some processes only pass it on."""

    name = "reference"
    version = __version__
    is_directml = False

    @property
    def device(self) -> str:
        """The NumPy that computes: `NumPy 2.4.6`."""
        return f"NumPy {_numpy_version()}"

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return None: it computes every operator."""

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        return self._engine.run(desc, inputs)  # type: ignore[no-any-return]

    def evaluate(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, ComputedOutput]:
        """Return the outputs of a valid desc, each with a mask of its undefined elements."""
        return self._engine.evaluate(desc, inputs)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End nothing: nothing was started."""

    @cached_property
    def _engine(self) -> Any:
        from dmlcheck.reference import engine

        return engine


_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)


def _numpy_version() -> str:
    """Return the version of NumPy without importing it, since some processes only pass on results.

    NumPy keeps it in a small file. importlib.metadata, which has it too, takes 120 million instructions to import: 3 %
    of the benchmark `run`, which misses its goal with it.
    """
    spec = PathFinder.find_spec("numpy")
    if spec is not None and spec.origin is not None:
        path = os.path.join(os.path.dirname(spec.origin), "version.py")
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            found = _VERSION.search(file.read())
            if found is not None:
                return found[1]
    from importlib.metadata import version

    return version("numpy")
