"""Sizes that a model names: exporters also write sums and products of names, as `past + seq` or `2*s0`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

_LONGEST = 500  # characters of a size that is read
_LARGEST = 2**63
_FUNCTIONS: dict[str, Callable[..., Fraction]] = {
    "Max": max,
    "Min": min,
    "ceiling": lambda x: Fraction(math.ceil(x)),
    "floor": lambda x: Fraction(math.floor(x)),
}
_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: lambda a, b: a % b,
}


def size_of(text: str, number_of: Callable[[str], int | None]) -> int | None:
    """Return the number that a named size is, None if it is not known; `number_of` returns that of a name."""
    known = number_of(text)
    tree = _tree(text)
    if known is not None or tree is None:
        return known
    try:
        found = _value(tree, number_of)
    except (ValueError, ZeroDivisionError):
        return None
    return int(found) if found.denominator == 1 and 0 <= found < _LARGEST else None


def names_of_size(text: str, known: Mapping[str, int] = {}) -> list[str]:
    """Return the names that a named size consists of, without the known ones; the whole text if it cannot be read."""
    tree = _tree(text)
    if tree is None:
        return [text]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called)
    return [name for name in dict.fromkeys(node.id for node in names) if name not in known]


def options_of(names: Iterable[str]) -> list[str]:
    """Return the options that give sizes to names, as a shell takes them."""
    return [f"--dim {name}=SIZE" if re.fullmatch(r"[\w.:/-]+", name) else f'--dim "{name}=SIZE"' for name in names]


def _tree(text: str) -> ast.expr | None:
    """Return the expression of a size, None if it is no more than a name, or no such text."""
    if text.isidentifier() or len(text) > _LONGEST:
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _value(tree, lambda _: 1)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    except ZeroDivisionError:
        pass  # with other numbers it is none
    return tree if any(isinstance(node, ast.Name) for node in ast.walk(tree)) else None


def _value(node: ast.expr, number_of: Callable[[str], int | None]) -> Fraction:
    """Return the value of an expression; ValueError if it is of another kind, or a name has no number."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.Name) and (number := number_of(node.id)) is not None:
        return Fraction(number)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, number_of), _value(node.right, number_of))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and node.args:
        return _FUNCTIONS[node.func.id](*(_value(each, number_of) for each in node.args))
    raise ValueError(ast.dump(node))
