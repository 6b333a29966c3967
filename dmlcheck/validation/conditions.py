"""When a row of a spec applies, and to what: its fields, values and feature levels, tensors and nested operators."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.specs.names import LEVEL_ORDER
from dmlcheck.specs.records import DATA_TYPE, TERMS, Constraint, Half
from dmlcheck.specs.shapes import SHAPES


def applicable(desc: OperatorDesc, level: str) -> Iterator[Constraint]:
    """Yield the rows of a desc's operator that apply to it at a level."""
    return (row for row in desc.spec.constraints if applies(row, desc, level))


def applies(row: Constraint, desc: OperatorDesc, level: str) -> bool:
    """Whether a row applies to a desc at a level."""
    return row.is_unconditional or (_is_at(row, level) and _is_about(row, desc))


def _is_at(row: Constraint, level: str) -> bool:
    order = LEVEL_ORDER[level]
    if row.since is not None and order < LEVEL_ORDER[row.since]:
        return False
    return row.until is None or order < LEVEL_ORDER[row.until]


def _is_about(row: Constraint, desc: OperatorDesc) -> bool:
    values = desc.values
    if any(name not in values for name in row.present):
        return False
    if any(name in values or name in desc.broken for name in row.absent):
        return False
    if row.when is not None and not desc.matches(row.when):
        return False
    return row.unless is None or (_is_known(row.unless, desc) and not desc.matches(row.unless))


def _is_known(condition: Mapping[str, tuple[str, ...]], desc: OperatorDesc) -> bool:
    """Whether every field of a condition has a value, or may do without one."""
    return all(name in desc.values or desc.spec.fields[name].optional for name in condition if name != DATA_TYPE)


def half_of(desc: OperatorDesc) -> Half | None:
    """Return the intermediate results that DirectML keeps in FLOAT16; None if it keeps none, or for another type."""
    half = desc.spec.half
    if half is None or desc.value_of(DATA_TYPE) != "FLOAT16":
        return None
    if half.parts_beyond is not None and (evaluate("products", desc) or 0) > half.parts_beyond:
        return half._replace(stored=TERMS)
    is_given = not half.given or any(desc.values.get(name) is not None for name in half.given)
    return half if is_given else None


def tensors_of(desc: OperatorDesc, name: str) -> tuple[TensorPart, ...]:
    """Return the tensors of a field, or the one with a label (`OutputTensors[0]`); none if it is not there."""
    if name in desc.parts:
        return desc.parts[name]
    return tuple(part for part in desc.parts[name.partition("[")[0]] if part.label == name)


def nested(desc: OperatorDesc) -> Iterator[tuple[tuple[str | int, ...], OperatorDesc]]:
    """Yield the operators inside an operator, each with its path."""
    for field in desc.spec.operators:
        value = desc.values.get(field.name)
        if isinstance(value, OperatorDesc):
            yield (field.name,), value
        else:
            for index, part in enumerate(value or ()):
                if part is not None:
                    yield (field.name, index), part


# ---- expressions


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
