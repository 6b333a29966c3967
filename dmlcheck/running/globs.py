"""Globs on ids: `*` stands for any text, `?` for one character, and nothing else for anything but itself.

A match never goes back: each stretch between two stars is taken where it is first found, which finds a match wherever
there is one. So the time grows with the length of the text for any glob.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
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
    """Many globs, indexed by their beginnings or ends: a text is compared only with those that begin or end as it does.

    A glob is known by its number.
    """

    def __init__(self, globs: Mapping[int, str]) -> None:
        """Index globs by the longer of the parts before their first and after their last `*` or `?`."""
        self._exact: dict[str, list[int]] = {}
        self._starts: dict[str, list[tuple[int, str]]] = {}
        self._ends: dict[str, list[tuple[int, str]]] = {}
        for number, glob in globs.items():
            start, *others = _WILD.split(glob)
            if not others:
                self._exact.setdefault(glob, []).append(number)
            elif len(others[-1]) > len(start):
                self._ends.setdefault(others[-1], []).append((number, glob))
            else:
                self._starts.setdefault(start, []).append((number, glob))
        self._start_lengths = sorted(set(map(len, self._starts)))
        self._end_lengths = sorted(set(map(len, self._ends)))

    def naming(self, text: str) -> Iterator[int]:
        """Yield the numbers of the globs that name a text, in no order."""
        yield from self._exact.get(text, ())
        for number, glob in self._alike(text):
            if matches(glob, text):
                yield number

    def _alike(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the globs that begin or end as a text does."""
        most = len(text)
        for length in takewhile(most.__ge__, self._start_lengths):
            yield from self._starts.get(text[:length], ())
        for length in takewhile(most.__ge__, self._end_lengths):
            yield from self._ends.get(text[-length:], ())
