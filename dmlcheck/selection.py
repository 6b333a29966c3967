"""Which cases to run: `-k` expressions over ids."""

from __future__ import annotations

import re
from collections.abc import Callable

Matcher = Callable[[str], bool]
_TOKEN = re.compile(r"""\s*(?:(\()|(\))|"([^"]*)"|'([^']*)'|([^\s()]+(?:\([^\s()]*\)[^\s()]*)*))""")


class ExpressionError(ValueError):
    """A `-k` expression that cannot be read."""


def matcher(expression: str) -> Matcher:
    """Return what a `-k` expression asks of an id: substrings joined by and, or, not and parentheses, in any case.

    A substring with spaces, or one that is a word of the language, goes in quotes.
    """
    parser = _Parser(_tokens(expression))
    found = parser.alternatives()
    if parser.peek() is not None:
        raise ExpressionError(f"unexpected {parser.peek()!r} in -k {expression!r}")
    return lambda case_id: found(case_id.casefold())


def _tokens(expression: str) -> list[tuple[str, str]]:
    tokens = []
    position = 0
    while expression[position:].strip():
        match = _TOKEN.match(expression, position)
        if match is None:
            raise ExpressionError(f"a quote is not closed in -k {expression!r}")
        opening, closing, double, single, word = match.groups()
        if word is not None and word in ("and", "or", "not"):
            tokens.append((word, word))
        elif opening or closing:
            tokens.append((opening or closing, opening or closing))
        else:
            text = next(part for part in (double, single, word) if part is not None)
            tokens.append(("text", text.casefold()))
        position = match.end()
    return tokens


class _Parser:
    """A recursive descent over tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self) -> str | None:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else None

    def take(self, kind: str) -> bool:
        if self.position < len(self.tokens) and self.tokens[self.position][0] == kind:
            self.position += 1
            return True
        return False

    def alternatives(self) -> Matcher:
        found = self.conjunction()
        while self.take("or"):
            found = _either(found, self.conjunction())
        return found

    def conjunction(self) -> Matcher:
        found = self.negation()
        while self.take("and"):
            found = _both(found, self.negation())
        return found

    def negation(self) -> Matcher:
        if self.take("not"):
            inner = self.negation()
            return lambda text: not inner(text)
        if self.take("("):
            inner = self.alternatives()
            if not self.take(")"):
                raise ExpressionError("a parenthesis is not closed in -k")
            return inner
        if self.position < len(self.tokens) and self.tokens[self.position][0] == "text":
            word = self.tokens[self.position][1]
            self.position += 1
            return lambda text: word in text
        raise ExpressionError(f"-k expects a substring before {self.peek() or 'the end'!r}")


def _either(left: Matcher, right: Matcher) -> Matcher:
    return lambda text: left(text) or right(text)


def _both(left: Matcher, right: Matcher) -> Matcher:
    return lambda text: left(text) and right(text)
