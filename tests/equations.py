"""Computes equations of specs/about as they are written, to hold them against results from elsewhere.

Of the subset of LaTeX it knows what equations of elements have: fractions, roots, powers, cases, functions, subscripts,
and sums, products and extremes over a variable.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

_TOKEN = re.compile(
    r"\\text\{[^}]*\}|\\begin\{cases\}|\\end\{cases\}|\\\\|\\[a-zA-Z]+|\\[,;]|[A-Za-z][A-Za-z0-9]*|\d+(?:\.\d+)?|\S"
)

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    r"\max": max,
    r"\min": min,
    r"\ln": math.log,
    "arccos": math.acos,
    "arcsin": math.asin,
    "arctan": math.atan,
    "atan2": math.atan2,
    "cos": math.cos,
    "erf": math.erf,
    "round": lambda x: float(round(x)),
    "sign": lambda x: math.copysign(1, x) if x else 0,
    "sin": math.sin,
    "tanh": math.tanh,
    "trunc": math.trunc,
    "clamp": lambda x, lo, hi: max(lo, min(x, hi)),
}
RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(np.all(a == b)),  # of vectors, in each dimension
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    r"\le": lambda a, b: a <= b,
    r"\ge": lambda a, b: a >= b,
    r"\ne": lambda a, b: a != b,
}
INTEGERS: Mapping[str, Callable[[Any, Any], Any]] = {
    r"\land": lambda a, b: int(a) & int(b),
    r"\lor": lambda a, b: int(a) | int(b),
    r"\oplus": lambda a, b: int(a) ^ int(b),
    r"\bmod": lambda a, b: a % b,
}
FOLDS: Mapping[str, Callable[[list[Any]], Any]] = {
    r"\sum": sum,
    r"\prod": math.prod,
    r"\max": max,
    r"\min": min,
}
RANGE = "range of "  # before a variable's name: the values that it takes in a sum, or their function of the names
LIMITS = "limits of sums"  # the conditions that stand after an equation: what they exclude is not counted
_NAME = re.compile(r"[A-Za-z]\w*(_\w+|_\{[^}]*\})?(\(\w\))?'?")
_WORDS = (r"\text{ and }", r"\text{ or }")
_ENDS = {"", ")", "}", ",", ";", r"\rfloor", r"\rceil", "|", r"\right", *_WORDS, *RELATIONS}


class Unknown(Exception):
    """There is something in an equation that this program does not compute."""


class Definition(NamedTuple):
    """The right side of an equation that says what a name is: computed where the name stands, with the names there."""

    text: str


class Lazy(NamedTuple):
    """A value that follows from the values of other names, where the name stands."""

    function: Callable[[Mapping[str, Any]], Any]


class Equation:
    """The right side of an equation, computed by recursive descent while its tokens are read."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self.tokens = [token for token in _TOKEN.findall(text) if token not in (r"\quad", r"\,", r"\;")]
        self.names = names
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.next
        if wanted is not None and token != wanted:
            raise Unknown(f"{token} for {wanted}")
        self.at += 1
        return token

    def sum(self) -> Any:
        value = -self.product() if self.next == "-" and self.take() else self.product()
        while self.next in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Any:
        value = self.power()
        while self.next not in _ENDS and self.next not in ("+", "-"):
            token = self.next
            if token in INTEGERS:
                self.take()
                value = INTEGERS[token](value, self.power())
            elif token == "/":
                self.take()
                value = value / self.power()
            else:
                if token in (r"\cdot", r"\odot"):
                    self.take()
                value = value * self.power()
        return value

    def power(self) -> Any:
        value = self.atom()
        if self.next == "^":
            self.take()
            if self.next == r"\top":
                self.take()
                return getattr(value, "T", value)  # a number is its own transpose
            value = value ** (self.group() if self.next == "{" else self.atom())
        return value

    def group(self) -> Any:
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def atom(self) -> Any:
        token = self.take()
        if self.next == "_":
            return self.fold(FOLDS[token]) if token in FOLDS else self.subscripted(token)
        if re.fullmatch(r"\d+(\.\d+)?", token):
            return Fraction(token)
        known = {"e": math.e, r"\pi": math.pi, **self.names}
        if token in known:
            value = self.value(known[token])
            return value(*self.arguments()) if callable(value) and self.next in ("(", r"\left") else value
        if token == "-":
            return -self.power()
        if token in FUNCTIONS:
            return FUNCTIONS[token](*self.arguments())
        return self.bracketed(token)

    def value(self, value: Any) -> Any:
        """Return the value of a name, computed with the names here if it follows from them."""
        if isinstance(value, Definition):
            return Equation(value.text, self.names).sum()
        return value.function(self.names) if isinstance(value, Lazy) else value

    def subscript(self) -> str:
        """Return the text of a subscript."""
        self.take("_")
        if self.next != "{":
            return self.take()
        begin = self.at + 1
        depth = 0
        while not (self.next == "}" and depth == 1):
            depth += {"{": 1, "}": -1}.get(self.take(), 0)
        self.take("}")
        return " ".join(self.tokens[begin : self.at - 1])

    def subscripted(self, token: str) -> Any:
        """Return what a name with a subscript is: one of the names, or its function of the subscript's parts."""
        text = self.subscript()
        if f"{token}_{text}" in self.names:
            return self.value(self.names[f"{token}_{text}"])
        function = self.names.get(f"{token}_", self.names.get(token))
        if not callable(function):
            raise Unknown(f"{token}_{text}")
        return function(*listed(text, self.names))

    def fold(self, function: Callable[[list[Any]], Any]) -> Any:
        """Return a sum, product or extreme of what follows, over the variables below the sign; None is not counted."""
        variables, condition = _bound(self.subscript())
        begin, names = self.at, self.names
        conditions = [condition] * bool(condition) + self.names.get(LIMITS, [])
        values = []
        for bound in self.bindings(variables):
            self.at, self.names = begin, bound
            is_counted = all(Equation(text, bound).holds() for text in conditions)
            value = self.product()  # it is read in any case
            if is_counted and value is not None:
                values.append(value)
        if self.at == begin:
            raise Unknown("nothing is added")
        self.names = names
        return function(values)

    def bindings(self, variables: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Yield the names with each value of some variables; the range of one may follow from those before it."""
        found: Iterable[Mapping[str, Any]] = [self.names]
        for variable in variables:
            found = [{**names, variable: value} for names in found for value in _range(variable, names)]
        yield from found

    def bracketed(self, token: str) -> Any:
        closing = {"(": ")", "|": "|", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil"}
        if token == r"\left":
            token = self.take()
            value = self.sum()
            self.take(r"\right")
            self.take(closing[token])
        elif token in closing:
            value = self.sum()
            self.take(closing[token])
        elif token == r"\frac":
            return self.group() / self.group()
        elif token == r"\sqrt":
            return math.sqrt(self.group())
        elif token == r"\begin{cases}":
            return self.cases()
        else:
            raise Unknown(token)
        return {"|": abs, r"\lfloor": math.floor, r"\lceil": math.ceil}.get(token, lambda same: same)(value)

    def arguments(self) -> list[Any]:
        is_large = self.next == r"\left" and bool(self.take())
        self.take("(")
        found = [self.sum()]
        while self.next == ",":
            self.take()
            found.append(self.sum())
        if is_large:
            self.take(r"\right")
        self.take(")")
        return found

    def cases(self) -> Any:
        """Return the value whose condition holds; the values of the others are not computed."""
        rows = " ".join(self.tokens[self.at : self.tokens.index(r"\end{cases}", self.at)]).split(r"\\")
        self.at = self.tokens.index(r"\end{cases}", self.at) + 1
        for row in rows:
            value, condition = row.split("&")
            if Equation(condition, self.names).holds():
                return Equation(value, self.names).sum()
        raise Unknown("no case holds")

    def holds(self) -> bool:
        found = True
        while True:
            if self.next.startswith(r"\text{") and self.next not in _WORDS:
                found = found and self.told(self.take()[6:-1])
            else:
                left = self.sum()
                found = found and (self.next in RELATIONS or bool(left))
            while self.next in RELATIONS:
                relation = RELATIONS[self.take()]
                right = self.sum()
                found, left = found and relation(left, right), right
            if not self.next:
                return found
            if self.next == r"\text{ or }":
                self.take()
                return found or self.holds()
            self.take(r"\text{ and }")

    def told(self, words: str) -> bool:
        """Return whether the words of a condition are true: a field and its value, or values of enumerations."""
        field, is_, value = words.partition(" is ")
        if is_:
            return str(self.names[field]).upper() == value
        chosen = {value for value in self.names.values() if isinstance(value, str)}
        return words == "otherwise" or chosen.issuperset(words.split(", "))


def _range(variable: str, names: Mapping[str, Any]) -> Any:
    values = names[RANGE + variable]
    return values(names) if callable(values) else values


def _bound(text: str) -> tuple[list[str], str]:
    """Return the variables below a sign, and the condition that limits them."""
    if any(relation in text.split() for relation in RELATIONS):
        return [text.split(maxsplit=1)[0]], text
    return [part.strip().replace(" _ ", "_") for part in text.split(",")], ""


def listed(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Return the values of a subscript's parts; a part after a semicolon is one as well."""
    reader = Equation(text, names)
    values = [reader.sum()]
    while reader.next in (",", ";"):
        reader.take()
        values.append(reader.sum())
    if reader.next:
        raise Unknown(reader.next)
    return values


def _spaced(name: str) -> str:
    """Return a name with its subscript as `subscript` returns it: without braces, with a space between tokens."""
    base, _, subscript = name.partition("_")
    return f"{base}_{' '.join(_TOKEN.findall(subscript.strip('{}')))}" if subscript else name


def parts_of(equations: Iterable[str]) -> list[str]:
    """Return the single equations and conditions, of which there may be several on a line."""
    return [part.split(r" \quad \text")[0] for text in equations for part in text.split(r", \quad ")]


def elements(
    equations: Iterable[str], variables: Mapping[str, Iterable[Any]], names: Mapping[str, Any]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the subscript of the left side and the value of the right side for all values of some variables.

    The first equation is computed, the others say what is in it, or which terms of its sums count.
    """
    (left, _, right), *others = (part.partition(" = ") for part in parts_of(equations))
    limits = [name + equal + text for name, equal, text in others if name in variables or not _NAME.fullmatch(name)]
    definitions = {_spaced(name): Definition(text) for name, equal, text in others if name + equal + text not in limits}
    known = {**definitions, LIMITS: limits, **names}
    _, _, subscript = left.partition("_")
    for values in itertools.product(*variables.values()):
        scope = {**known, **dict(zip(variables, values, strict=True))}
        reader = Equation(right, scope)
        value = reader.sum()
        if reader.next:
            raise Unknown(reader.next)
        text = subscript[1:-1] if subscript.startswith("{") else subscript
        yield tuple(listed(text, scope)) if text else (), value


def computed(equations: tuple[str, ...], names: Mapping[str, Any]) -> float:
    """Return the left side of the first equation; the others say what is in it. Unknown for what it cannot read."""
    known = dict(names)
    for equation in reversed(equations):
        left, _, right = equation.partition(" = ")
        reader = Equation(right, known)
        known[left] = reader.sum()
        if reader.next:
            raise Unknown(reader.next)
    return float(known[equations[0].partition(" = ")[0]])
