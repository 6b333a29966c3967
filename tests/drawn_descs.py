"""Random valid descs with inputs, as tests ask for them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing import descs
from dmlcheck.drawing.chance import Chance, seeded
from dmlcheck.drawing.draft import SMALL, Raw, Sizes
from dmlcheck.drawing.values import drawn_values
from dmlcheck.specs.names import NEWEST_LEVEL

Generator = np.random.Generator
Made = tuple[OperatorDesc, dict[str, Any]]

TINY = Sizes((1, 1, 2, 3, 4), 120)
OF_WINDOWS = Sizes((1, 1, 2, 3, 5, 8), 240)
MODEST = Sizes((1, 2, 3, 4, 5, 6), 600)
LARGE = Sizes((1, 2, 3, 5, 33, 65, 129, 257, 300, 1031), 40_000)
LONG = Sizes((1, 1, 1, 2, 3, 5, 1031, 1100), 12_000)
_MOST = 60  # descs that are drawn for one that is wanted


def draws(
    short: str,
    count: int,
    wishes: Mapping[str, Sequence[Any]] | None = None,
    *,
    wanted: Callable[[OperatorDesc], bool] = lambda _: True,
    sizes: Sizes = SMALL,
    styles: Sequence[str] = ("normal",),
) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones.

    Each wished field has one of its values, None to be left out; other descs that are not wanted are passed over.
    """
    found = 0
    for number in itertools.count():
        assert number < _MOST * count, f"{found} of {number} draws of {short} are wanted"
        chance = seeded(f"{short} {number}")
        chosen = {name: chance.of(values) for name, values in (wishes or {}).items()}
        desc = descs.drawn(f"DML_OPERATOR_{short}", chance, sizes, wishes=chosen)
        if desc is None or not wanted(desc):
            continue
        generator = np.random.Generator(np.random.PCG64(chance.integer(0, 2**63 - 1)))
        inputs = drawn_values(desc, generator, chance.of(styles))
        if inputs is not None:
            yield desc, inputs
            found += 1
        if found == count:
            return


def drawn(operator: str, generator: Generator, sizes: Sizes = SMALL, level: str = NEWEST_LEVEL) -> OperatorDesc | None:
    """Return a random valid desc of an operator, or None where none of the tries came to one."""
    return descs.drawn(operator, from_generator(generator), sizes, level)


def drawn_raw(operator: str, generator: Generator, sizes: Sizes = SMALL, level: str = NEWEST_LEVEL) -> Raw | None:
    """Return a random valid desc in the notation of files."""
    return descs.drawn_fields(operator, from_generator(generator), sizes, level)


def from_generator(generator: Generator) -> Chance:
    """Return choices made by a generator of NumPy's."""

    def integer(low: int, high: int) -> int:
        if high - low < 1 << 62:
            return int(generator.integers(low, high + 1))
        return low + int.from_bytes(generator.bytes(16), "little") % (high - low + 1)

    return Chance(integer)
