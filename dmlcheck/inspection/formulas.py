"""The formulas of kernels as text, and the elementary functions in them."""

from __future__ import annotations

import inspect

import numpy as np

from dmlcheck.reference.ball.roundings import limits_and_sources, rounding, words
from dmlcheck.reference.bindings import row
from dmlcheck.specs.load import load_spec


def formula_texts(operator: str) -> list[str]:
    """Return the paragraphs of a kernel's docstring: its formula, and the meaning of the names in it.

    Functions of NumPy and of `special` have none, since their names say what they compute.
    """
    function = row(operator).kernel.function
    text = None if isinstance(function, np.ufunc) or function.__module__ == _SPECIAL else inspect.getdoc(function)
    return [" ".join(part.split()) for part in (text or "").split("\n\n") if part]


def is_computed(operator: str) -> bool:
    """Whether an operator rounds, so that its tolerance follows from its formula."""
    return row(operator).kernel.is_exact is not True


def rounding_texts(operator: str, data_type: str = "FLOAT32") -> list[tuple[str, str]]:
    """Return the elementary functions in an operator's formula, each with its rounding and the source of that."""
    return [(name, words(rounding(name, data_type))) for name in load_spec(operator).functions]


def rounding_limits(operator: str, data_type: str = "FLOAT32") -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the elementary functions in an operator's formula, each with its limits and their sources."""
    return [(name, limits_and_sources(rounding(name, data_type))) for name in load_spec(operator).functions]


_SPECIAL = "dmlcheck.reference.functions.special"
