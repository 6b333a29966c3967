"""Computes equations of specs/about as they are written, to hold them against results from elsewhere.

Of the subset of LaTeX it knows what equations of single elements have: fractions, roots, powers, cases and functions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

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
    "=": lambda a, b: a == b,
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
}
_WORDS = (r"\text{ and }", r"\text{ or }")
_ENDS = {"", ")", "}", ",", r"\rfloor", r"\rceil", "|", r"\right", *_WORDS, *RELATIONS}


class Unknown(Exception):
    """There is something in an equation that this program does not compute."""


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
                if token == r"\cdot":
                    self.take()
                value = value * self.power()
        return value

    def power(self) -> Any:
        value = self.atom()
        if self.next == "^":
            self.take()
            value = value ** (self.group() if self.next == "{" else self.atom())
        return value

    def group(self) -> Any:
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def atom(self) -> Any:
        token = self.take()
        if re.fullmatch(r"\d+(\.\d+)?", token):
            return Fraction(token)
        known = {"e": math.e, r"\pi": math.pi, **self.names}
        if token in known:
            return known[token]
        if token == "-":
            return -self.power()
        if token in FUNCTIONS:
            return FUNCTIONS[token](*self.arguments())
        return self.bracketed(token)

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
            if self.next == r"\text{otherwise}":
                return True
            left = self.sum()
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
