"""The expressions of specs: arithmetic over the fields of a desc or its values, compiled once and safe to evaluate."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.shapes import SHAPES

_FUNCTIONS: dict[str, Any] = {
    "abs": abs,
    "all": all,
    "any": any,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "range": range,
    "sum": sum,
    "zip": zip,
    **SHAPES,
}
_ALLOWED = (
    ast.Expression, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Call,
    ast.List, ast.Tuple, ast.Starred, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.IfExp, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub,
    ast.Not, ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip
_NAMES = {".Sizes": ".sizes", ".DataType": ".data_type"}  # of a TensorDesc, for DirectML's
_DIRECTML_NAME = re.compile(r"\.(?:Sizes|DataType)\b")
_OF_ARRAYS = (ast.Pow, ast.BitAnd, ast.BitOr, ast.Invert)  # may stand in an expression over values, too


def free_names(expression: str) -> frozenset[str]:
    """Return the free names of an expression: fields, the names of `let`, and `i`."""
    return frozenset(_compiled(expression)[1])


@cache
def _compiled(expression: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Compile an expression of a spec to a function of the names that it takes, and return both."""
    free = _free_names(expression, _ALLOWED)
    return _made(expression, free, _FUNCTIONS), free


def _free_names(expression: str, allowed: tuple[type[ast.AST], ...]) -> tuple[str, ...]:
    """Return the names that an expression takes, sorted; ValueError if it has other parts than it may."""
    tree = ast.parse(expression.strip(), mode="eval")
    names: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, allowed):
            raise ValueError(f"{type(node).__name__} may not stand in a constraint: {expression}")  # noqa: TRY004 - not a type
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise ValueError(f"{node.attr} may not stand in a constraint: {expression}")
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else names).add(node.id)
    return tuple(sorted(names - bound - _FUNCTIONS.keys()))


def _made(expression: str, free: tuple[str, ...], functions: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the function of the free names of an expression."""
    text = f"lambda {', '.join(free)}: ({_DIRECTML_NAME.sub(lambda found: _NAMES[found[0]], expression.strip())})"
    made: Callable[..., Any] = eval(text, {"__builtins__": {}, **functions})  # noqa: S307 - our own
    return made


def of_values(expression: str, functions: Mapping[str, Any]) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Compile an expression over values, with functions of arrays in place of functions of numbers; as `_compiled`."""
    free = tuple(name for name in _free_names(expression, _ALLOWED + _OF_ARRAYS) if name not in functions)
    return _made(expression, free, {**_FUNCTIONS, **functions}), free


def evaluate(expression: Any, desc: OperatorDesc, i: int | None = None) -> Any:
    """Return the value of an expression over a desc's fields; a number is its own value.

    `i` is the number of a dimension or element. The value is None if the expression names missing fields or has no
    value for them: other findings are about these.
    """
    if not isinstance(expression, str):
        return expression
    function, names = _compiled(expression)
    arguments = []
    for name in names:
        value = i if name == "i" else _value(name, desc)
        if value is None:
            return None
        arguments.append(value)
    try:
        return function(*arguments)
    except (AttributeError, IndexError, TypeError, ZeroDivisionError):  # a dimension or an element that is not there
        return None


def _value(name: str, desc: OperatorDesc) -> Any:
    meaning = desc.spec.let.get(name)
    return desc.values.get(name) if meaning is None else evaluate(meaning, desc)
