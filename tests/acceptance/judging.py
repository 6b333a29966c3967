"""Judging outputs of the acceptance cases many times over: as a run does, but the reference computes a case once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.running import one_case, verdict
from dmlcheck.running.computed import Computed
from dmlcheck.running.open_elements import masks_of
from dmlcheck.running.results import FAILED, PASSED

Array = np.ndarray[Any, Any]
Outputs = Mapping[str, Array]


class Judgement(NamedTuple):
    """Whether a run fails a case for its outputs, whether `run --strict` does, and the largest share of the bound."""

    fails: bool
    fails_strictly: bool
    share: float


class Judge:
    """A case whose outputs are judged again and again."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.prepared = prepare(case, case.level)
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
        with (
            mock.patch.object(engine, "evaluate", return_value=self.computed),
            mock.patch.object(verdict, "_guesses", return_value=verdict._Guesses()),
        ):
            ending = one_case._judged(self.case, self.prepared, Computed(actual), one_case.Run(None))
        shares = [output.max_share or 0.0 for output in ending.outputs.values()]
        return Judgement(ending.outcome == FAILED, ending.outcome != PASSED or bool(ending.findings), max(shares))

    def likely_share(self, actual: Outputs) -> float:
        """Return the largest share that the errors have of the likely ones."""
        limit = limit_for(self.desc, None)

        def likely(asked: Any, **_: Any) -> Any:
            return bounds(self.desc, self.inputs, asked, limit.accumulate, is_likely=True)

        expected = {part.label: (part.tensor, self.right[part.label]) for part in self.desc.tensors("output_tensor")}
        with np.errstate(all="ignore"):
            compared = compare(expected, actual, limit, likely, masks_of(self.computed))
        return max(found.result.max_share or 0.0 for found in compared.values())

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
