"""What the acceptance suite measures of an operator: the shares of right ways, and which faults are noticed."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import torch
from acceptance import drawn
from acceptance.faults import of_operator
from acceptance.judging import Judge, Judgement
from acceptance.ways import WAYS, computed
from planted import equal


class Noticed(NamedTuple):
    """In how many cases of an operator a fault matters, and in how many a run notices it, and one with --strict."""

    fault: str
    operator: str
    matters: int = 0
    fails: int = 0
    fails_strictly: int = 0


class Refused(NamedTuple):
    """A right way that fails a case, or only with --strict, by its number."""

    case: str
    way: int
    judged: Judgement


SHARES = ("share", "likely", "systematic")


class Measured(NamedTuple):
    """What is measured of an operator.

    `share`, `likely` and `systematic` are the largest shares that right ways use, as a Judgement has them. `smallest`
    and `smallest_strictly` are the exponents of the smallest relative fault that a case notices, None for no floats or
    none at all.
    """

    operator: str
    cases: int
    ways: int
    share: float
    likely: float
    systematic: float
    smallest: int | None
    smallest_strictly: int | None
    refused: tuple[Refused, ...]
    noticed: tuple[Noticed, ...]


def measured(short: str, seed: int = 0) -> Measured:
    """Measure an operator, on the cases of a seed."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    judges = [Judge(case) for case in drawn.cases(short, seed)]
    passed = []
    refused: list[Refused] = []
    for judge in judges:
        for number, way in enumerate(WAYS[short]):
            judged = judge.of(computed(way, judge.desc, judge.inputs))
            if judged.fails_strictly:
                refused.append(Refused(judge.case.id, number, judged))
            else:
                passed.append(judged)
    never_strictly = {found.case for found in refused if found.way == 0}
    strict = [judge for judge in judges if judge.case.id not in never_strictly]
    noticed = [tally(fault, short, judges, never_strictly) for fault in of_operator(short)]
    return Measured(
        short,
        len(judges),
        len(WAYS[short]),
        *(max((getattr(judged, name) for judged in passed), default=0.0) for name in SHARES),
        smallest(judges, is_strict=False),
        smallest(strict, is_strict=True),
        tuple(refused),
        tuple(each for each in noticed if each.matters),
    )


def smallest(judges: list[Judge], *, is_strict: bool) -> int | None:
    """Return the exponent of the smallest relative fault that any of some cases notices."""
    found = (judge.smallest_noticed(is_strict=is_strict) for judge in judges)
    return max((each for each in found if each is not None), default=None)


def tally(fault: Any, short: str, judges: list[Judge], never_strictly: Collection[str] = ()) -> Noticed:
    """Count the cases that notice a fault; --strict does not count in those in which it refuses what is right."""
    count = Noticed(fault.name, short)
    for judge in judges:
        with np.errstate(all="ignore"):
            found = fault.act(judge.desc, judge.inputs)
        if found is None or all(equal(found[label], values).all() for label, values in judge.right.items()):
            continue
        one = judge.of(found)
        count = count._replace(
            matters=count.matters + 1,
            fails=count.fails + one.fails,
            fails_strictly=count.fails_strictly
            + (one.fails or (one.fails_strictly and judge.case.id not in never_strictly)),
        )
    return count
