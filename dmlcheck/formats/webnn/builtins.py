"""The functions of JavaScript that make tests of data: methods of lists, objects and numbers.

Each gets its place and its arguments, a method first the list or the text that it is called on. TypeError and the like
where the arguments are of another kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dmlcheck.formats.webnn.arithmetic import as_text, same, truth
from dmlcheck.formats.webnn.literals import NotData, whole_or_float
from dmlcheck.formats.webnn.values import Builtin, Fields, Items, ScriptValue, known

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_ITEMS = 2**20  # of a list that is made
_MOST_LEVELS = 20  # of lists in lists
_MOST_TEXT = 10_000  # characters


class Site(Protocol):
    """The place of a call: its node, the way to call functions of the file, and the account of work."""

    @property
    def node(self) -> Node:
        """The call."""

    def call(self, function: ScriptValue, given: Sequence[ScriptValue]) -> ScriptValue:
        """Return the result of a function."""

    def spend(self, work: int) -> None:
        """Count work."""


def _made(site: Site, values: Iterable[Any]) -> Items:
    """Return a list of values, plain ones as what the call gives."""
    found = Items()
    for value in values:
        found.append(value if isinstance(value, ScriptValue) else ScriptValue(site.node, value))
        _check_count(site, len(found))
    site.spend(len(found))
    return found


def _check_count(site: Site, count: int) -> None:
    """NotData for a list of more items than lists of tests have."""
    if count > _MOST_ITEMS:
        raise NotData(site.node, f"it has more than {_MOST_ITEMS:,} items")


def _each(site: Site, function: ScriptValue, parts: Items) -> Iterable[tuple[ScriptValue, ScriptValue]]:
    """Yield each item with the result of a function for it, which gets the item, its place and the list."""
    for place, part in enumerate(list(parts)):
        yield part, site.call(function, (part, ScriptValue(site.node, place), ScriptValue(site.node, parts)))


# ---- methods of lists


def _map(site: Site, parts: Items, function: ScriptValue) -> Items:
    return _made(site, (result for _, result in _each(site, function, parts)))


def _for_each(site: Site, parts: Items, function: ScriptValue) -> None:
    for _ in _each(site, function, parts):
        pass


def _flattened(values: Iterable[ScriptValue]) -> Iterable[ScriptValue]:
    for value in values:
        inner = known(value)
        yield from inner if isinstance(inner, Items) else [value]


def _flat_map(site: Site, parts: Items, function: ScriptValue) -> Items:
    return _made(site, _flattened(result for _, result in _each(site, function, parts)))


def _filter(site: Site, parts: Items, function: ScriptValue) -> Items:
    return _made(site, (part for part, result in _each(site, function, parts) if truth(known(result))))


def _every(site: Site, parts: Items, function: ScriptValue) -> bool:
    return all(truth(known(result)) for _, result in _each(site, function, parts))


def _find(site: Site, parts: Items, function: ScriptValue) -> Any:
    return next((part for part, result in _each(site, function, parts) if truth(known(result))), None)


def _reduce(site: Site, parts: Items, function: ScriptValue, *first: ScriptValue) -> ScriptValue:
    waiting = list(enumerate(parts))
    result = first[0] if first else waiting.pop(0)[1]
    for place, part in waiting:
        result = site.call(function, (result, part, ScriptValue(site.node, place), ScriptValue(site.node, parts)))
    return result


def _push(site: Site, parts: Items, *given: ScriptValue) -> int:
    parts.extend(given)
    _check_count(site, len(parts))
    return len(parts)


def _concat(site: Site, parts: Items, *given: ScriptValue) -> Items:
    return _made(site, [*parts, *_flattened(given)])


def _whole(value: ScriptValue) -> int:
    found = known(value)
    if isinstance(found, (bool, str)) or found != int(found):
        raise TypeError
    return int(found)


def _slice(site: Site, parts: Items | str, *ends: ScriptValue) -> Items | str:
    kept = parts[_span(ends)]
    return kept if isinstance(kept, str) else _made(site, kept)


def _span(ends: Sequence[ScriptValue]) -> slice:
    """Return the part from a start, 0 if there is none, to an end."""
    start, stop, *_ = [*(_whole(end) for end in ends), None, None]
    return slice(start, stop)


def _fill(site: Site, parts: Items, value: ScriptValue, *ends: ScriptValue) -> Items:
    for place in range(*_span(ends).indices(len(parts))):
        parts[place] = value
    site.spend(len(parts))
    return parts


def _reverse(site: Site, parts: Items) -> Items:
    parts.reverse()
    site.spend(len(parts))
    return parts


def _joined(site: Site, parts: Items, between: str, level: int = 0) -> str:
    if level > _MOST_LEVELS:
        raise NotData(site.node)
    site.spend(len(parts))
    return short(site, between.join(text_of(site, known(part), level + 1) for part in parts))


def text_of(site: Site, value: Any, level: int = 0) -> str:
    """Return a value as JavaScript writes it in text: a list with commas."""
    return _joined(site, value, ",", level) if isinstance(value, Items) else as_text(value)


def short(site: Site, text: str) -> str:
    """Return text; NotData if it is longer than names and modes are."""
    if len(text) > _MOST_TEXT:
        raise NotData(site.node, f"it has more than {_MOST_TEXT:,} characters")
    return text


def _join(site: Site, parts: Items, *between: ScriptValue) -> str:
    return _joined(site, parts, as_text(known(between[0])) if between else ",")


def _index_of(site: Site, parts: Items | str, sought: ScriptValue) -> int:
    what = known(sought)
    if isinstance(parts, str):
        return parts.find(as_text(what))
    site.spend(len(parts))
    return next((place for place, part in enumerate(parts) if same(known(part), what)), -1)


def _includes(site: Site, parts: Items | str, sought: ScriptValue) -> bool:
    if isinstance(parts, Items) and _is_nan(sought):
        return any(map(_is_nan, parts))
    return _index_of(site, parts, sought) >= 0


def _is_nan(value: ScriptValue) -> bool:
    found = known(value)
    return isinstance(found, float) and math.isnan(found)


def _at(_: Site, parts: Items | str, place: ScriptValue) -> Any:
    index = _whole(place)
    return parts[index] if -len(parts) <= index < len(parts) else None


METHODS: Mapping[type, Mapping[str, Callable[..., Any]]] = {
    Items: {
        "at": _at,
        "concat": _concat,
        "entries": lambda site, parts: _made(site, (_made(site, entry) for entry in enumerate(parts))),
        "every": _every,
        "fill": _fill,
        "filter": _filter,
        "find": _find,
        "flat": lambda site, parts: _made(site, _flattened(parts)),
        "flatMap": _flat_map,
        "forEach": _for_each,
        "includes": _includes,
        "indexOf": _index_of,
        "join": _join,
        "keys": lambda site, parts: _made(site, range(len(parts))),
        "map": _map,
        "push": _push,
        "reduce": _reduce,
        "reverse": _reverse,
        "slice": _slice,
        "some": lambda site, parts, function: any(truth(known(result)) for _, result in _each(site, function, parts)),
        "toReversed": lambda site, parts: _made(site, parts[::-1]),
        "values": _slice,
    },
    str: {
        "at": _at,
        "endsWith": lambda _, text, end: text.endswith(as_text(known(end))),
        "includes": _includes,
        "indexOf": _index_of,
        "slice": _slice,
        "startsWith": lambda _, text, start: text.startswith(as_text(known(start))),
        "toLowerCase": lambda _, text: text.lower(),
        "toUpperCase": lambda _, text: text.upper(),
    },
}
# Functions that change a list or an object, those that are not read too.
CHANGING = frozenset({"assign", "copyWithin", "fill", "pop", "push", "reverse", "shift", "sort", "splice", "unshift"})


# ---- functions that every file has


def _array(site: Site, *given: ScriptValue) -> Items:
    if len(given) == 1 and isinstance(known(given[0]), (int, float)):
        return _repeated(site, None, given[0])
    return _made(site, given)


def _repeated(site: Site, value: Any, times: ScriptValue) -> Items:
    count = _whole(times)
    if count < 0:
        raise ValueError
    _check_count(site, count)
    return _made(site, [value] * count)


def _array_from(site: Site, source: ScriptValue, *function: ScriptValue) -> Items:
    found = known(source)
    parts = _array(site, found["length"]) if isinstance(found, Fields) else _made(site, list(found))
    return _map(site, parts, function[0]) if function else parts


def _entries(site: Site, one: ScriptValue) -> Items:
    parts = _object(one)
    return _made(site, (_made(site, entry) for entry in parts.items()))


def _from_entries(_: Site, entries: ScriptValue) -> Fields:
    made = Fields()
    for entry in known(entries):
        key, value = known(entry)
        made[as_text(known(key))] = value
    return made


def _assign(site: Site, target: ScriptValue, *sources: ScriptValue) -> ScriptValue:
    changed = _object(target)
    for source in sources:
        changed.update(_object(source))
    site.spend(len(changed))
    return target


def _object(value: ScriptValue) -> Fields:
    found = known(value)
    if not isinstance(found, Fields):
        raise TypeError
    return found


def _clone(site: Site, value: ScriptValue, level: int = 0) -> ScriptValue:
    found = value.of
    if not isinstance(found, (Items, Fields)):
        return value
    found = known(value)
    if level > _MOST_LEVELS:
        raise NotData(site.node)
    site.spend(len(found) + 1)
    if isinstance(found, Items):
        return ScriptValue(value.node, Items(_clone(site, part, level + 1) for part in found))
    return ScriptValue(value.node, Fields((key, _clone(site, part, level + 1)) for key, part in found.items()))


def _to_number(_: Site, value: ScriptValue, *__: ScriptValue) -> Any:
    found = known(value)
    if not isinstance(found, (int, float)):
        raise TypeError
    return whole_or_float(float(found))


def _of_floats(function: Callable[..., float], count: int | None, _: Site, *given: ScriptValue) -> Any:
    """Return the result of a function of some numbers; as map calls it, with more than it takes."""
    numbers = []
    for value in given[:count]:
        found = known(value)
        if isinstance(found, (bool, str)) or found is None:
            raise TypeError
        numbers.append(float(found))
    return whole_or_float(float(function(*numbers)))


def _fround(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _rounded(value: float) -> float:
    """Return the nearest whole number, of two the greater one."""
    return math.floor(value + 0.5) if abs(value) < 2**52 else value


def _whole_as(function: Callable[[float], float], value: float) -> float:
    """Return a whole number with the sign of a float that it is made of, zero too."""
    return math.copysign(function(value), value) if math.isfinite(value) else value


def _typed(dtype: str, site: Site, source: ScriptValue) -> Items:
    """Return the items of a typed array: floats in its type, and integers that are of it."""
    found = known(source)
    if isinstance(found, (int, float)):
        return _repeated(site, 0, source)
    if not isinstance(found, Items):
        raise TypeError
    kind = np.dtype(dtype)
    return _made(site, (ScriptValue(part.node, _cast(kind, known(part))) for part in found))


def _cast(kind: np.dtype[Any], value: Any) -> Any:
    if isinstance(value, (bool, str)) or value is None:
        raise TypeError
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return whole_or_float(float(kind.type(value)))
    limits = np.iinfo(kind)
    if value != int(value) or not limits.min <= value <= limits.max:
        raise ValueError
    return value


_TYPED = {
    "Float16Array": "f2",
    "Float32Array": "f4",
    "Float64Array": "f8",
    "Int8Array": "i1",
    "Int16Array": "i2",
    "Int32Array": "i4",
    "BigInt64Array": "i8",
    "Uint8Array": "u1",
    "Uint16Array": "u2",
    "Uint32Array": "u4",
    "BigUint64Array": "u8",
}
# With the number of arguments, None for any.
_MATH: Mapping[str, tuple[Callable[..., float], int | None]] = {
    "abs": (abs, 1),
    "ceil": (partial(_whole_as, math.ceil), 1),
    "exp": (math.exp, 1),
    "floor": (partial(_whole_as, math.floor), 1),
    "fround": (_fround, 1),
    "log": (math.log, 1),
    "max": (max, None),
    "min": (min, None),
    "pow": (math.pow, 2),
    "round": (_rounded, 1),
    "sqrt": (math.sqrt, 1),
    "tanh": (math.tanh, 1),
    "trunc": (partial(_whole_as, math.trunc), 1),
}


def globals_at(node: Node) -> dict[str, ScriptValue]:
    """Return the names that every file has, as if their values stood at a node."""
    members = {
        name: ScriptValue(node, Builtin(partial(_of_floats, one, count))) for name, (one, count) in _MATH.items()
    }
    found: dict[str, Any] = {
        "Math": Fields(members),
        "Array": Builtin(_array, {"from": Builtin(_array_from), "of": Builtin(_made_of)}),
        "Object": Fields(
            {
                "assign": ScriptValue(node, Builtin(_assign)),
                "entries": ScriptValue(node, Builtin(_entries)),
                "fromEntries": ScriptValue(node, Builtin(_from_entries)),
                "keys": ScriptValue(node, Builtin(lambda site, one: _made(site, _object(one)))),
                "values": ScriptValue(node, Builtin(lambda site, one: _made(site, _object(one).values()))),
            }
        ),
        "Number": Builtin(_to_number),
        "String": Builtin(lambda site, value, *_: text_of(site, known(value))),
        "structuredClone": Builtin(_clone),
        "Infinity": math.inf,
        "NaN": math.nan,
        "undefined": None,
    }
    found |= {name: Builtin(partial(_typed, dtype)) for name, dtype in _TYPED.items()}
    return {name: ScriptValue(node, value) for name, value in found.items()}


def _made_of(site: Site, *given: ScriptValue) -> Items:
    return _made(site, given)
