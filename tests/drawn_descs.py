"""Random valid descs, of sizes that tests ask for, from NumPy's random numbers; attention's come with their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import random_attention

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing import descs
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import SMALL, Raw, Sizes
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL

Generator = np.random.Generator

LARGE = Sizes((1, 2, 3, 5, 33, 65, 129, 257, 300, 1031), 40_000)
LONG = Sizes((1, 1, 1, 2, 3, 5, 1031, 1100), 12_000)
ATTENTION_OPERATORS = tuple(f"DML_OPERATOR_{name}" for name in random_attention.ATTENTION)


def drawn_with(
    operator: str, generator: Generator, sizes: Sizes = SMALL
) -> tuple[OperatorDesc, dict[str, Any] | None] | None:
    """Return a random valid desc, with its inputs where those are drawn together."""
    if operator in ATTENTION_OPERATORS:
        chance = from_generator(generator)
        form, mask = chance.of(random_attention.FORMS), chance.of(random_attention.MASKS)
        short, dtype = load_spec(operator).short, chance.of((np.float32, np.float16))
        most = 5 if sizes is SMALL else 18 if sizes is LARGE else 5
        made = random_attention.drawn(generator, short, form, mask, dtype, most)
        return random_attention.built(short, made, present=bool(generator.integers(2)))
    desc = drawn(operator, generator, sizes)
    return None if desc is None else (desc, None)


def drawn(operator: str, generator: Generator, sizes: Sizes = SMALL, level: str = NEWEST_LEVEL) -> OperatorDesc | None:
    """Return a random valid desc of an operator, or None where none of the tries came to one."""
    return descs.drawn(operator, from_generator(generator), sizes, level)


def drawn_raw(operator: str, generator: Generator, sizes: Sizes = SMALL, level: str = NEWEST_LEVEL) -> Raw | None:
    """Return a random valid desc in the notation of files."""
    return descs.drawn_fields(operator, from_generator(generator), sizes, level)


def from_generator(generator: Generator) -> Chance:
    """Return choices made by a generator of NumPy's."""
    return Chance(lambda low, high: int(generator.integers(low, high + 1)))
