"""Globs on ids: `*` stands for any text, `?` for one character, and nothing else for anything but itself.

A match never goes back: each stretch between two stars is taken where it is first found, which finds a match wherever
there is one. So the time grows with the length of the text, whatever the glob.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

MAX_LENGTH = 4096  # characters of a glob with `*` or `?`; a stretch is looked for at each character of a text

_WILD = re.compile(r"[*?]")


class Glob(NamedTuple):
    """A glob in parts: the beginning of a text, the parts that follow in order, and its end, None without a star."""

    start: re.Pattern[str]
    middle: tuple[re.Pattern[str], ...] = ()
    end: re.Pattern[str] | None = None
    end_length: int = 0

    def matches(self, text: str) -> bool:
        """Whether the glob names a text."""
        found = self.start.match(text)
        if found is None:
            return False
        if self.end is None:
            return found.end() == len(text)
        for stretch in self.middle:
            found = stretch.search(text, found.end())
            if found is None:
                return False
        at = len(text) - self.end_length
        return at >= found.end() and self.end.match(text, at) is not None


def matches(glob: str, text: str) -> bool:
    """Whether a glob names a text."""
    return _glob(glob).matches(text)


def is_too_long(glob: str) -> bool:
    """Whether a glob has more characters than a search for it may take."""
    return len(glob) > MAX_LENGTH and _WILD.search(glob) is not None


@lru_cache(1024)
def _glob(glob: str) -> Glob:
    start, *rest = re.split(r"\*+", glob)
    if not rest:
        return Glob(_stretch(start))
    *middle, end = rest
    return Glob(_stretch(start), tuple(map(_stretch, middle)), _stretch(end), len(end))


def _stretch(text: str) -> re.Pattern[str]:
    return re.compile(".".join(map(re.escape, text.split("?"))), re.DOTALL)


class Globs:
    """Many globs, indexed by their beginnings: a text is compared only with those that begin as it does."""

    def __init__(self, globs: Iterable[str]) -> None:
        """Index globs by the part before their first `*` or `?`; each is known by its number from 0."""
        self._exact: dict[str, list[int]] = {}
        self._wild: dict[str, list[tuple[int, str]]] = {}
        for number, glob in enumerate(globs):
            wild = _WILD.search(glob)
            if wild is None:
                self._exact.setdefault(glob, []).append(number)
            else:
                self._wild.setdefault(glob[: wild.start()], []).append((number, glob))
        self._lengths = sorted({len(start) for start in self._wild})

    def naming(self, text: str) -> Iterator[int]:
        """Yield the numbers of the globs that name a text, in no order."""
        yield from self._exact.get(text, ())
        for length in self._lengths:
            if length > len(text):
                return
            yield from (number for number, glob in self._wild.get(text[:length], ()) if matches(glob, text))
