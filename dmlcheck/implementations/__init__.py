"""What can be judged: anything that runs a desc on arrays."""

from __future__ import annotations

from importlib import import_module
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


def make(name: str) -> Implementation:
    """Return the implementation of a name; ValueError where there is none.

    `reference` is the reference engine; `python:MODULE:NAME` is what NAME of an importable module gives when called.
    """
    if name == "reference":
        from dmlcheck.implementations.reference import Reference

        return Reference()
    kind, _, place = name.partition(":")
    module, _, attribute = place.partition(":")
    if kind != "python" or not module or not attribute:
        raise ValueError(f"{name} is not an implementation; there are reference and python:MODULE:NAME")
    try:
        made: Implementation = getattr(import_module(module), attribute)()
    except Exception as error:
        raise ValueError(f"{name} cannot be made: {type(error).__name__}: {error}") from error
    return made
