"""What the kernels say of themselves: the formula of an operator, and the elementary functions that it is made of."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy as np

from dmlcheck.reference.bindings import row
from dmlcheck.reference.roundings import ROUNDINGS, rounding, words


def formula_texts(operator: str) -> list[str]:
    """Return the formula of an operator as its kernel has it, and what the names in it are.

    There is nothing to say of a function whose name says it.
    """
    function = row(operator).kernel.function
    text = None if isinstance(function, np.ufunc) or function.__module__ == _SPECIAL else inspect.getdoc(function)
    return [" ".join(part.split()) for part in (text or "").split("\n\n") if part]


def is_computed(operator: str) -> bool:
    """Whether an operator rounds anything, so that a bound follows from its formula."""
    return row(operator).kernel.is_exact is not True


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
    if function.__module__ == _SPECIAL:  # how the engine computes it is not how others do
        yield from (constant for constant in code.co_consts if isinstance(constant, str))
        return
    yield from _called(code)
    near = [function.__globals__.get(name) for part in _parts(code) for name in part.co_names]
    near += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    near += [cell.cell_contents for cell in function.__closure__ or ()]
    for other in near:
        for part in other.values() if isinstance(other, dict) else [other]:
            yield from _functions(part, seen)


_SPECIAL = "dmlcheck.reference.special"
_ENGINE = tuple(
    f"dmlcheck.reference.{name}" for name in ("interpolation", "kernels.", "quantization", "special", "sums")
)


def _called(code: CodeType) -> Iterator[str]:
    """Yield the names of NumPy's functions that some code has, and `divide` where it has a quotient."""
    for part in _parts(code):
        before: Any = None
        for step in dis.get_instructions(part):
            if before is not None and (before.opname, before.argval) == ("LOAD_GLOBAL", "np"):
                yield str(step.argval)
            if step.opname == "BINARY_TRUE_DIVIDE" or (step.opname == "BINARY_OP" and step.argrepr == "/"):
                yield "divide"
            before = step


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
