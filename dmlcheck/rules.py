"""The constraint words: what a labelled row of a spec can claim of a desc, one small generator each.

A word yields a finding for every way in which a desc breaks the claim, and nothing where it holds. It says nothing of
tensors and fields that the desc does not have or that are wrong in themselves: other findings do. Words never compute.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from dmlcheck.diagnostics import Finding
from dmlcheck.model import OperatorDesc, TensorDesc

Word = Callable[[OperatorDesc, Any], Iterator[Finding]]
_Path = tuple["str | int", ...]


def same_data_type(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """All the named tensors that are there have the data type of the first."""
    for label, path, tensor, first, expected in _against_first(desc, names):
        if tensor.data_type != expected.data_type:
            params = {
                "tensor": label,
                "found": tensor.data_type,
                "other": first,
                "expected": expected.data_type,
            }
            yield Finding(
                "data-type-mismatch",
                (*path, "DataType"),
                params,
                help=f"use {expected.data_type} for both",
            )


def same_dimension_count(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """All the named tensors that are there have as many dimensions as the first."""
    for label, path, tensor, first, expected in _against_first(desc, names):
        found, wanted = len(tensor.sizes), len(expected.sizes)
        if found != wanted:
            params = {
                "tensor": label,
                "found": dimensions(found),
                "other": first,
                "expected": wanted,
            }
            more = "leave reduced dimensions in place, with size 1" if found < wanted else None
            yield Finding("rank-mismatch", (*path, "Sizes"), params, help=more)


def same_sizes(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """All the named tensors that are there have the sizes of the first."""
    for label, path, tensor, _, expected in _against_first(desc, names):
        yield from _compare_sizes(label, path, tensor, expected.sizes)


def sizes(desc: OperatorDesc, claims: dict[str, str]) -> Iterator[Finding]:
    """Each size of a tensor is what an expression of its dimension `i` gives."""
    for name, expression in claims.items():
        tensor = desc.tensor(name)
        if tensor is not None:
            expected = evaluate(f"[{expression} for i in range({name}.DimensionCount)]", desc)
            if expected is not None:
                yield from _compare_sizes(name, (name,), tensor, tuple(expected))


def axes_within(desc: OperatorDesc, claims: dict[str, str]) -> Iterator[Finding]:
    """Every axis of a field is a dimension of a tensor."""
    for field, name in claims.items():
        tensor = desc.tensor(name)
        if tensor is None or not tensor.sizes:
            continue
        last = len(tensor.sizes) - 1
        for label, path, axis in _axes(desc, field):
            if axis > last:
                params = {"field": label, "found": axis, "tensor": name, "last": last}
                yield Finding("axis-out-of-range", path, params)


def distinct_axes(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """No axis is named twice in a field."""
    for field in fields:
        seen: dict[int, str] = {}
        for label, path, axis in _axes(desc, field):
            if axis in seen:
                params = {"field": label, "found": axis, "first": seen[axis]}
                yield Finding("duplicate-axis", path, params, help="name each axis once")
            seen.setdefault(axis, label)


def effective_dimension_count_at_most(desc: OperatorDesc, claims: dict[str, int]) -> Iterator[Finding]:
    """Every dimension of a tensor before its last few has size 1."""
    for name, most in claims.items():
        tensor = desc.tensor(name)
        for axis, size in enumerate(tensor.sizes[:-most] if tensor else ()):
            if size != 1:
                yield Finding("size-mismatch", (name, "Sizes", axis), _size_params(name, axis, size, 1))


RULES: dict[str, Word] = {
    "same_data_type": same_data_type,
    "same_dimension_count": same_dimension_count,
    "same_sizes": same_sizes,
    "sizes": sizes,
    "axes_within": axes_within,
    "distinct_axes": distinct_axes,
    "effective_dimension_count_at_most": effective_dimension_count_at_most,
}


def dimensions(count: int) -> str:
    """Return `1 dimension` or `3 dimensions`."""
    return f"{count} dimension" if count == 1 else f"{count} dimensions"


# ---- what the words share


def _against_first(desc: OperatorDesc, names: list[str]) -> Iterator[tuple[str, _Path, TensorDesc, str, TensorDesc]]:
    parts = [part for name in names for part in desc.parts[name]]
    for label, path, tensor in parts[1:]:
        yield label, path, tensor, parts[0].label, parts[0].tensor


def _compare_sizes(label: str, path: _Path, tensor: TensorDesc, expected: tuple[int, ...]) -> Iterator[Finding]:
    # A wrong number of dimensions is the business of same_dimension_count.
    if tensor.sizes != expected and len(tensor.sizes) == len(expected):
        for axis, (found, wanted) in enumerate(zip(tensor.sizes, expected, strict=True)):
            if found != wanted:
                yield Finding(
                    "size-mismatch",
                    (*path, "Sizes", axis),
                    _size_params(label, axis, found, wanted),
                )


def _size_params(label: str, axis: int, found: int, expected: int) -> dict[str, Any]:
    return {"tensor": label, "axis": axis, "found": found, "expected": expected}


def _axes(desc: OperatorDesc, field: str) -> Iterator[tuple[str, _Path, int]]:
    value = desc.values.get(field)
    if isinstance(value, tuple):
        for index, axis in enumerate(value):
            yield f"{field}[{index}]", (field, index), axis
    elif value is not None:
        yield field, (field,), value


# ---- expressions

_FUNCTIONS: dict[str, Any] = {
    "abs": abs,
    "len": len,
    "max": max,
    "min": min,
    "range": range,
    "sum": sum,
}
_ALLOWED = (
    ast.Expression, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Call,
    ast.List, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.IfExp, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.Not, ast.And, ast.Or,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip


@cache
def _compiled(expression: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Compile an expression of a spec to a function of the fields that it names, and return both."""
    tree = ast.parse(expression, mode="eval")
    names: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise ValueError(f"{type(node).__name__} may not stand in a constraint: {expression}")  # noqa: TRY004 - not a type
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else names).add(node.id)
    fields = tuple(sorted(names - bound - _FUNCTIONS.keys()))
    made = eval(f"lambda {', '.join(fields)}: {expression}", {"__builtins__": {}, **_FUNCTIONS})  # noqa: S307 - our own
    return made, fields


def evaluate(expression: str, desc: OperatorDesc) -> Any:
    """Return the value of an expression over a desc's fields, or None when it names what the desc does not have."""
    function, fields = _compiled(expression)
    values = desc.values
    try:
        return function(*[values[field] for field in fields])
    except (KeyError, IndexError):  # a field or a dimension that is not there; another row says so
        return None
