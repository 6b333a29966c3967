"""The search: which of some entries is meant by what someone typed.

The site's search is the same rule in JavaScript, in `reports/site/templates/search.js`: a change of one is a change of
the other. `tests/reports/site/test_search_answers.py` asks both the same questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

# Words of a question that do not say what it is about.
EMPTY_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        "and are can does for from get how meaning mean means not the that this what use when where which why with",
    )
)
_SHORTEST = 3  # letters of a word that counts
_LABEL = re.compile(r"(?:([a-z0-9_]+)[/ ])?([ce][0-9]{1,3})")


class IndexEntry(NamedTuple):
    """Something to find: its name, a line about it, names that others give it, other words that find it.

    An operator has the ids of its constraints and errata as `labels`: `C1 C2 E1`.
    """

    name: str
    text: str = ""
    names: str = ""
    words: str = ""
    labels: str = ""


class Found(NamedTuple):
    """An answer: a name, the place of its entry, its rank (0 is the best), and the id that was asked for or nothing."""

    name: str
    at: int
    rank: float
    label: str = ""


class _Query(NamedTuple):
    """The text without the words that say nothing; its letters and digits; its tokens; its words that count."""

    text: str
    key: str
    tokens: tuple[str, ...]
    words: tuple[str, ...]


class _Prepared(NamedTuple):
    """An entry as it is compared: letters and digits of its names, the words of its name, all words and texts."""

    name: str
    key: str
    names: tuple[str, ...]
    parts: tuple[str, ...]
    words: frozenset[str]
    text: str
    labels: tuple[str, ...]


class Search:
    """The search among some entries."""

    def __init__(self, entries: Iterable[IndexEntry]) -> None:
        self.entries = [_prepared(entry) for entry in entries]

    def find(self, asked: str) -> list[Found]:
        """Return the likely meanings, the best first: entries with the name or the words, or else with a similar name.

        A name of another library may begin with a module: `np.matmul`.
        """
        queries = dict.fromkeys(map(_query, (asked, asked.rpartition(".")[2])))
        found = self._labelled(asked)
        for rank in (_rank, _slips):
            for query in queries:
                found = found or self._ranked(query, rank)
        return found

    def _ranked(self, query: _Query, rank: Callable[[_Prepared, _Query], float | None]) -> list[Found]:
        if not query.key:
            return []
        ranks = ((at, entry, rank(entry, query)) for at, entry in enumerate(self.entries))
        found = [Found(entry.name, at, points) for at, entry, points in ranks if points is not None]
        return sorted(found, key=lambda one: (one.rank, len(one.name), one.at))

    def _labelled(self, asked: str) -> list[Found]:
        """Return the constraints and errata with an id: `GEMM/C8` is one, `C37` one of each operator that has it."""
        typed = _LABEL.fullmatch(_bare(asked))
        if typed is None:
            return []
        label = typed[2].upper()
        return [
            Found(f"{entry.name}/{label}", at, 0, label)
            for at, entry in enumerate(self.entries)
            if label in entry.labels and typed[1] in (None, entry.name.lower())
        ]


def _prepared(entry: IndexEntry) -> _Prepared:
    return _Prepared(
        name=entry.name,
        key=_key(_bare(entry.name)),
        names=tuple(map(_key, entry.names.split(" "))),
        parts=_words(entry.name),
        words=frozenset(_words(f"{entry.name} {entry.names} {entry.words}")),
        text=f"{entry.name} {entry.text} {entry.names} {entry.words}".lower(),
        labels=tuple(entry.labels.split(" ")),
    )


def _query(asked: str) -> _Query:
    text = _bare(asked)
    words = _words(text)
    kept = tuple(word for word in words if word not in EMPTY_WORDS)
    if kept and kept != words:
        text = " ".join(kept)
    return _Query(text, _key(text), tuple(filter(None, map(_key, text.split()))), kept or words)


def _bare(asked: str) -> str:
    return re.sub("^dml_(operator_)?", "", asked.strip().lower())


def _key(text: str) -> str:
    return re.sub("[^a-z0-9]+", "", text.lower())


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split("[^a-z0-9]+", text.lower()) if len(word) >= _SHORTEST)


def _rank(entry: _Prepared, query: _Query) -> float | None:
    """Return how well an entry has what is asked for, 0 the best; None if it has not."""
    key = query.key
    ranks = (
        (0, entry.key == key),
        (1, key in entry.names and key in entry.key),
        (2, key in entry.names),
        (3, len(query.tokens) > 1 and entry.labels[0] != "" and entry.key in query.tokens),
        (4, entry.key.startswith(key)),
        (5, len(key) >= _SHORTEST and key in entry.key),
        (6, any(name.startswith(key) for name in entry.names)),
    )
    found = next((points for points, holds in ranks if holds), None)
    return _rank_by_words(entry, query) if found is None else found


def _rank_by_words(entry: _Prepared, query: _Query) -> float | None:
    """Return the rank of an entry that has some of several words, or one word somewhere."""
    if len(query.words) > 1:
        share = sum(_has(entry, word) for word in query.words) / len(query.words)
        is_named = any(name in query.tokens for name in entry.names)
        return 9 - share - 0.25 * is_named if share >= 0.5 else None
    if query.key in entry.words:
        return 7
    if len(query.key) > _SHORTEST and any(query.key in name for name in entry.names):
        return 8
    return 9 if len(query.text) >= _SHORTEST and query.text in entry.text else None


def _has(entry: _Prepared, word: str) -> bool:
    """Whether an entry has a word, or one that is spelt nearly so."""
    return word in entry.text or (len(word) > 4 and any(distance(word, own, 1) <= 1 for own in entry.words))


def _slips(entry: _Prepared, query: _Query) -> float | None:
    """Return how many letters of a name are wrong, and half a one more for a part of a name; None for too many."""
    most = 2 if len(query.key) > 5 else 1 if len(query.key) > 3 else 0
    slips = min(distance(query.key, name, most) for name in (entry.key, *entry.names))
    in_parts = min((distance(query.key, part, most) + 0.5 for part in entry.parts), default=slips)
    return min(slips, in_parts) if min(slips, in_parts) < most + 1 else None


def distance(a: str, b: str, most: int) -> int:
    """Return how many letters are wrong, missing, too many or swapped with the next; of more than `most`, any number.

    The rows are the dynamic programme for the distance of Damerau and Levenshtein.
    """
    if abs(len(a) - len(b)) > most or len({*a} - {*b}) > most:
        return most + 1
    before: Sequence[int] = ()
    above: Sequence[int] = range(len(b) + 1)
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other)))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                row[j] = min(row[j], before[j - 2] + 1)
        if min(row) > most:
            return most + 1
        before, above = above, row
    return above[len(b)]
