"""Values of a file of JavaScript, each with the expression that it comes from, and how they are read as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.formats.webnn.literals import NotData, Wrong, shown

if TYPE_CHECKING:
    from tree_sitter import Node

Scalar = float | int | str | bool | None


class ScriptValue(NamedTuple):
    """A value: a scalar, `Items`, `Fields`, a function or `Unknown`, and the expression that gave it."""

    node: Node
    of: Any


class Unknown(NamedTuple):
    """The place of a value that is not known, with the reason."""

    reason: NotData | Wrong


class Items(list[ScriptValue]):
    """A list. `spoiled` is the reason why its contents are not known: something that is not read may change them."""

    spoiled: NotData | Wrong | None = None


class Fields(dict[str, ScriptValue]):
    """An object. `spoiled` is the reason why its contents are not known: something that is not read may change them."""

    spoiled: NotData | Wrong | None = None


class Block:
    """The names of a block, and the scope around it; `is_function` where it belongs to a function or the file."""

    __slots__ = ("is_function", "names", "outer")

    def __init__(self, names: dict[str, ScriptValue], outer: Block | None = None, *, is_function: bool = False) -> None:
        self.names = names
        self.outer = outer
        self.is_function = is_function

    def of_function(self) -> Block:
        """Return the scope of the function or the file around, which has the names that `var` declares."""
        scope = self
        while not scope.is_function and scope.outer is not None:
            scope = scope.outer
        return scope

    def holding(self, name: str) -> dict[str, ScriptValue] | None:
        """Return the names of the innermost scope that has one of this name."""
        scope: Block | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names
            scope = scope.outer
        return None


class Function(NamedTuple):
    """A function of the file, with the scope that it stands in."""

    node: Node
    scope: Block


class Builtin(NamedTuple):
    """A function that every file has: it gets its place and its arguments. `members` are its own properties."""

    call: Callable[..., Any]
    members: Mapping[str, Any] = {}


def known(value: ScriptValue) -> Any:
    """Return the contents of a value; NotData or Wrong where they are not known."""
    found = value.of
    if isinstance(found, Unknown):
        raise found.reason.with_traceback(None)
    if isinstance(found, (Items, Fields)) and found.spoiled is not None:
        raise found.spoiled.with_traceback(None)
    return found


def fields(value: ScriptValue, what: str) -> dict[str, ScriptValue]:
    """Return the parts of an object by key."""
    found = known(value)
    if not isinstance(found, Fields):
        raise _unlike(value, f"{what} must be an object")
    return found


def items(value: ScriptValue, what: str) -> list[ScriptValue]:
    """Return the parts of a list."""
    found = known(value)
    if not isinstance(found, Items):
        raise _unlike(value, f"{what} must be a list")
    return found


def is_list(value: ScriptValue) -> bool:
    """Whether a value is a list."""
    return isinstance(known(value), Items)


def is_nothing(value: ScriptValue) -> bool:
    """Whether a value is null or undefined."""
    return known(value) is None


def is_undefined(value: ScriptValue) -> bool:
    """Whether a value is undefined, and not null: this comes only from the word."""
    return value.of is None and value.node.type != "null"


def scalar(value: ScriptValue) -> Scalar:
    """Return a number, text, a truth value, or None for null and undefined."""
    found = known(value)
    if found is None or isinstance(found, (int, float, str)):
        return found
    raise _unlike(value, "a single value is needed")


def string(value: ScriptValue, what: str) -> str:
    """Return text."""
    found = scalar(value)
    if not isinstance(found, str):
        raise Wrong(value.node, f"{what} must be text, not {shown(value.node)}")
    return found


def number_in(value: ScriptValue, what: str) -> float | int:
    """Return a number."""
    found = scalar(value)
    if isinstance(found, (str, bool)) or found is None:
        raise Wrong(value.node, f"{what} must be a number, not {shown(value.node)}")
    return found


def whole(value: ScriptValue, what: str) -> int:
    """Return a whole number."""
    found = number_in(value, what)
    if not math.isfinite(found) or found != int(found):
        raise Wrong(value.node, f"{what} must be a whole number, not {shown(value.node)}")
    return int(found)


def _unlike(value: ScriptValue, need: str) -> Wrong | NotData:
    """Return the exception for a value of another form: NotData for a function, Wrong for anything else."""
    if isinstance(value.of, (Function, Builtin)):
        return NotData(value.node)
    return Wrong(value.node, f"{need}, not {shown(value.node)}")
