"""What the kernels say of themselves: the formula of an operator, and the elementary functions that it is made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy as np

from dmlcheck.reference.engine import row
from dmlcheck.reference.roundings import ROUNDINGS, rounding, words


def formula_text(operator: str) -> str | None:
    """Return the formula of an operator as its kernel has it, None for a NumPy function that needs no words."""
    function = row(operator).kernel.function
    return None if isinstance(function, np.ufunc) else inspect.getdoc(function)


def is_computed(operator: str) -> bool:
    """Whether an operator rounds anything, so that a bound follows from its formula."""
    return not row(operator).kernel.is_exact


def rounding_texts(operator: str, data_type: str = "FLOAT32") -> list[tuple[str, str]]:
    """Return the elementary functions in an operator's formula, each with its rounding and the source of that."""
    found = ROUNDINGS.keys() & set(_functions(row(operator).kernel.function, set())) - _PLAIN
    return [(name, words(rounding(name, data_type))) for name in sorted(found)]


_PLAIN = {"add", "subtract", "multiply", "square"}  # 0.5 ULP each


def _functions(function: Any, seen: set[int]) -> Iterator[str]:
    """Yield the names of the functions with a row in ROUNDINGS that a function calls, in others of the engine too."""
    if isinstance(function, np.ufunc):
        yield function.__name__
        return
    code = getattr(function, "__code__", None)
    if code is None or id(code) in seen or not function.__module__.startswith(_ENGINE):
        return
    seen.add(id(code))
    if function.__module__ == "dmlcheck.reference.special":  # how the engine computes it is not how others do
        yield from (constant for constant in code.co_consts if isinstance(constant, str))
        return
    names = set(_names(code))
    yield from names
    near = [function.__globals__.get(name) for name in names]
    near += [cell.cell_contents for cell in function.__closure__ or ()]
    for other in near:
        for part in other.values() if isinstance(other, dict) else [other]:
            yield from _functions(part, seen)


_ENGINE = ("dmlcheck.reference.kernels.", "dmlcheck.reference.special", "dmlcheck.reference.sums")


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
