"""Operators that are meant by a name: misspelt or shortened, or one that ONNX or WebNN has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from dmlcheck.diagnostics.wording import closest
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, OTHER_NAMES, short_operator

_SHORTEST_PREFIX = 3  # letters


class ForeignName(NamedTuple):
    """An operator of ONNX or WebNN as it is spelt there, and DirectML's that compute it, without their prefix."""

    library: str
    name: str
    operators: tuple[str, ...]


def foreign_names(name: str) -> tuple[ForeignName, ...]:
    """Return the operators of ONNX and WebNN with a name: an exact match, or else a match in any case.

    The domain of an ONNX operator may be left out: `FastGelu` for `com.microsoft.FastGelu`.
    """
    found = _by_foreign_name().get(name.casefold(), ())
    exact = tuple(one for one in found if name in (one.name, _bare(one.name)))
    return exact or found


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


@cache
def _by_foreign_name() -> dict[str, tuple[ForeignName, ...]]:
    operators: dict[tuple[str, str], list[str]] = {}
    for operator in operator_names():
        for library, names in load_spec(operator).names.items():
            for name in names:
                operators.setdefault((library, name), []).append(short_operator(operator))
    found: dict[str, list[ForeignName]] = {}
    for (library, name), own in sorted(operators.items()):
        for key in {name.casefold(), _bare(name).casefold()}:
            found.setdefault(key, []).append(ForeignName(library, name, tuple(own)))
    return {key: tuple(each) for key, each in found.items()}


@lru_cache(maxsize=1024)  # a file may spell a name wrong in any number of ways
def closest_operator(name: str) -> str | None:
    """Return the operator that a name most likely means, spelt in full or short as the name was, or None."""
    return next(_meant(name), None)


def nearest_operators(name: str, most: int = 3) -> list[str]:
    """Return the operators that a name may mean, spelt in full or short as the name was, the most likely first."""
    return list(dict.fromkeys(_meant(name)))[:most]


def _meant(name: str) -> Iterator[str]:
    """Yield operators that end like a name (ADD1 is ELEMENT_WISE_ADD1), else begin like it, or are spelt nearly so.

    RELU is ACTIVATION_RELU, not ACTIVATION_LEAKY_RELU. A name of ONNX or WebNN has no prefix of DirectML's.
    """
    if name.upper().startswith(OPERATOR_PREFIX):
        yield from (OPERATOR_PREFIX + short for short in _near(name[len(OPERATOR_PREFIX) :].upper(), ()))
    else:
        yield from _near(name.upper(), foreign_names(name))


def _near(bare: str, foreign: tuple[ForeignName, ...]) -> Iterator[str]:
    known = [*map(short_operator, operator_names()), *OTHER_NAMES]
    ends_so = [operator for operator in known if bare and operator.endswith("_" + bare)]
    if ends_so:
        yield min(ends_so, key=len)
        return
    yield from (operator for one in foreign for operator in one.operators)
    if len(bare) >= _SHORTEST_PREFIX:
        yield from sorted((operator for operator in known if operator.startswith(bare)), key=len)
    close = closest(bare, known)
    if close is not None:
        yield close
