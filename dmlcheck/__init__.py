"""A conformance tool for DirectML operators.

The functions here are the library's whole public face; importing them does not import NumPy until something is
computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dmlcheck.api import (
        InvalidInput,
        accepted,
        evaluate,
        known_deviations,
        load_cases,
        minimum_feature_level,
        run_cases,
        validate,
    )
    from dmlcheck.cases.records import Case
    from dmlcheck.diagnostics.record import Diagnostic
    from dmlcheck.running.results import CaseResult

__all__ = [
    "Case",
    "CaseResult",
    "Diagnostic",
    "InvalidInput",
    "__version__",
    "accepted",
    "evaluate",
    "known_deviations",
    "load_cases",
    "minimum_feature_level",
    "run_cases",
    "validate",
]
_HOMES = {"Diagnostic": "diagnostics.record", "Case": "cases.records", "CaseResult": "running.results"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dmlcheck' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"dmlcheck.{_HOMES.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
