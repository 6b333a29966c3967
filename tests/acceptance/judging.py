"""Judging outputs of the acceptance cases many times over: as a run does, but the reference computes a case once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.comparison import compare
from dmlcheck.comparison.records import MOST_SYSTEMATIC
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.running import one_case, verdict
from dmlcheck.running.computed import Computed
from dmlcheck.running.results import FAILED, PASSED

Array = np.ndarray[Any, Any]
Outputs = Mapping[str, Array]


class Judgement(NamedTuple):
    """Whether a run fails a case for its outputs, whether `run --strict` does, and how much of the limits is used.

    `share` is the largest share of the tolerance, `likely` that of the likely error, `systematic` that of what the root
    mean square of an output's errors may be.
    """

    fails: bool
    fails_strictly: bool
    share: float
    likely: float
    systematic: float


class Used:
    """How much of the likely errors a comparison finds used: it keeps that only where it is too much."""

    def __init__(self) -> None:
        self.likely: float | None = None
        self.systematic = 0.0
        self.is_within = False

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what comparisons find meanwhile."""
        likely, nearest, systematic = compare._likely, compare._nearest, compare._Tally._systematic

        def by_element(wanted: Array, found: Array, data_type: str, limit: Any, bound: Any) -> Any:
            judged = likely(wanted, found, data_type, limit, bound)
            if not self.is_within:  # not of one of several right results, of which the nearest counts
                share = of_nearest(judged.share, found, data_type, limit, bound)
                counts = share[~bound.undefined & ~np.isnan(share)]
                self.likely = max(self.likely or 0.0, float(counts.max(initial=0.0)))
            return judged

        def of_nearest(*given: Any) -> Any:
            is_within, self.is_within = self.is_within, True
            found = nearest(*given)
            self.is_within = is_within
            return found

        def by_output(tally: Any) -> Any:
            count = tally.elements - tally.undefined
            if count >= compare._FEW and not tally.mismatches:
                self.systematic = max(self.systematic, math.sqrt(tally.squares / count) / MOST_SYSTEMATIC)
            return systematic(tally)

        with (
            mock.patch.object(compare, "_likely", by_element),
            mock.patch.object(compare, "_nearest", of_nearest),
            mock.patch.object(compare._Tally, "_systematic", by_output),
        ):
            yield


class Judge:
    """A case whose outputs are judged again and again."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.prepared = prepare(case)
        if self.prepared.desc is None or self.prepared.findings:
            raise ValueError(case.id)
        self.desc: OperatorDesc = self.prepared.desc
        self.inputs: dict[str, Any] = self.prepared.inputs
        self.computed = engine.evaluate(self.desc, self.inputs)

    @property
    def right(self) -> dict[str, Array]:
        """What is right: the outputs of the reference engine."""
        return {label: output.values for label, output in self.computed.items()}

    def of(self, actual: Outputs) -> Judgement:
        """Judge outputs; no causes are guessed of those that are wrong."""
        used = Used()
        with (
            mock.patch.object(engine, "evaluate", return_value=self.computed),
            mock.patch.object(verdict, "_guesses", return_value=verdict._Guesses()),
            used.noted(),
        ):
            ending = one_case._judged(self.case, self.prepared, Computed(actual), one_case.Run(None))
        share = max(output.max_share or 0.0 for output in ending.outputs.values())
        is_doubtful = ending.outcome != PASSED or bool(ending.findings)
        likely = used.likely if used.likely is not None else share
        return Judgement(ending.outcome == FAILED, is_doubtful, share, likely, used.systematic)

    # ---- the smallest fault that is noticed

    def disturbed(self, exponent: int) -> dict[str, Array]:
        """Return what is right with a relative error of 2^-exponent, up or down at random, of each FLOAT32 element."""
        generator = np.random.default_rng(exponent)

        def off(values: Array) -> Array:
            signs = generator.choice([-1.0, 1.0], values.shape)
            with np.errstate(all="ignore"):
                return (values.astype(np.float64) * (1 + signs * 2.0**-exponent)).astype(np.float32)

        return {label: off(values) if values.dtype == np.float32 else values for label, values in self.right.items()}

    def smallest_noticed(self, *, is_strict: bool) -> int | None:
        """Return the largest exponent of a disturbance that fails, None where not even doubling or deleting does."""
        low, high = -1, MOST_EXPONENT + 1  # fails at low, if at all, and not at high
        while high - low > 1:
            middle = (low + high) // 2
            judged = self.of(self.disturbed(middle))
            if judged.fails_strictly if is_strict else judged.fails:
                low = middle
            else:
                high = middle
        return None if low < 0 else low


MOST_EXPONENT = 23
