"""Which cases to run: `-k` expressions over ids, and shards."""

from __future__ import annotations

import re
from collections.abc import Callable

from dmlcheck.diagnostics.wording import describe

Matcher = Callable[[str], bool]
_TOKEN = r"""\s*(?:
    ([()])
    | "([^"]*)" | '([^']*)'
    | (["'])                                  # a quote that is not closed
    | (and|or|not)(?=[\s()]|\Z)               # a word of the language is by itself, or before or after a parenthesis
    | ([^\s()]+(?:\([^\s()]*\)[^\s()]*)*)      # anything else may hold parentheses that close: f(x)
    )"""
_MAX_DEPTH = 100


def parse_shard(text: str) -> tuple[int, int] | None:
    """Return the number of a shard and how many there are, of `2/5` 2 and 5; None if a text is no shard."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text, re.ASCII)
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    return (index, count) if 1 <= index <= count else None


class ExpressionError(ValueError):
    """A `-k` expression that cannot be read."""


def matcher(expression: str) -> Matcher:
    """Return the test of an id by a `-k` expression: substrings joined by and, or, not and parentheses, in any case.

    A substring with spaces, or one that is a word of the language, goes in quotes. Any number of terms may be joined;
    parentheses and nots nest up to 100 levels.
    """
    if not expression.strip():
        raise ExpressionError("-k is empty; write a part of the ids, such as gemm")
    parser = _Parser(_tokens(expression))
    found = parser.alternatives()
    if parser.peek() is not None:
        problem = f"unexpected {parser.peek()!r} in -k {describe(expression)}"
        raise ExpressionError(f"{problem}; join parts of ids by and, or, not; put one with spaces in quotes")
    return lambda case_id: found(case_id.casefold())


def _tokens(expression: str) -> list[tuple[str, str]]:
    token = re.compile(_TOKEN, re.VERBOSE)
    tokens = []
    position = 0
    end = len(expression.rstrip())
    while position < end:
        match = token.match(expression, position)
        if match is None or match[4]:
            problem = f"a quote is not closed in -k {describe(expression)}"
            raise ExpressionError(f"{problem}; put a name with ' in it between \", and one with \" between '")
        parenthesis, double, single, _, operator, word = match.groups()
        if parenthesis or operator:
            tokens.append((parenthesis or operator, parenthesis or operator))
        else:
            text = next(part for part in (double, single, word) if part is not None)
            tokens.append(("text", text.casefold()))
        position = match.end()
    return tokens


class _Parser:
    """A recursive descent over tokens, to a depth that is limited."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    def peek(self) -> str | None:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else None

    def take(self, kind: str) -> bool:
        if self.position < len(self.tokens) and self.tokens[self.position][0] == kind:
            self.position += 1
            return True
        return False

    def alternatives(self) -> Matcher:
        found = [self.conjunction()]
        while self.take("or"):
            found.append(self.conjunction())
        return found[0] if len(found) == 1 else lambda text: any(part(text) for part in found)

    def conjunction(self) -> Matcher:
        found = [self.negation()]
        while self.take("and"):
            found.append(self.negation())
        return found[0] if len(found) == 1 else lambda text: all(part(text) for part in found)

    def negation(self) -> Matcher:
        if self.take("not"):
            self.enter()
            inner = self.negation()
            self.depth -= 1
            return lambda text: not inner(text)
        if self.take("("):
            self.enter()
            inner = self.alternatives()
            self.depth -= 1
            if not self.take(")"):
                raise ExpressionError("a parenthesis is not closed in -k; one that is part of a name goes in quotes")
            return inner
        if self.position < len(self.tokens) and self.tokens[self.position][0] == "text":
            word = self.tokens[self.position][1]
            self.position += 1
            return lambda text: word in text
        place = "at its end" if self.peek() is None else f"before {self.peek()!r}"
        raise ExpressionError(f"-k expects a substring {place}")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ExpressionError(f"-k is nested deeper than {_MAX_DEPTH} levels of parentheses and nots")
