"""Reducing: what is left fails in the same way, and nothing more can go."""

from __future__ import annotations

from typing import Any

import fuzzed
import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.fuzzing.answers import TrialAnswer
from dmlcheck.fuzzing.campaign import failing_of
from dmlcheck.fuzzing.reducing import Failing, Reduced, Taken, cause_of, reduced
from dmlcheck.fuzzing.trials import BenchHere, Trial
from dmlcheck.running.settings import Settings
from dmlcheck.specs.names import NEWEST_LEVEL


def reduce(implementation: Any, desc: OperatorDesc, inputs: dict[str, Any], seconds: float | None = None) -> Reduced:
    here = BenchHere(implementation, Settings())
    trial = Trial.of(desc, inputs, NEWEST_LEVEL)
    start = failing_of(trial, here.answer(trial))
    assert start.answer.is_finding
    found = reduced(here, start, NEWEST_LEVEL, seconds)
    assert found.failing.answer.difference == start.answer.difference
    return found


def gemm(rows: int, columns: int, **more: Any) -> tuple[OperatorDesc, dict[str, Any]]:
    desc = valid(
        "DML_OPERATOR_GEMM",
        **{
            "ATensor": tensor(1, 2, rows, 4),
            "BTensor": {**tensor(1, 2, columns, 4), "Strides": [10 * columns, 5 * columns, 5, 1]},
            "CTensor": tensor(1, 2, rows, columns),
            "OutputTensor": tensor(1, 2, rows, columns),
            "TransA": "NONE",
            "TransB": "TRANSPOSE",
            "Alpha": 0.3,
            "Beta": 2.5,
            "FusedActivation": {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.3},
            **more,
        },
    )
    generator = np.random.default_rng(0)
    names = ("ATensor", "BTensor", "CTensor")
    return desc, {name: generator.normal(size=desc[name].sizes).astype(np.float32) for name in names}


class Recorded(BenchHere):
    """Records each trial without its likely cause, and counts those that fail."""

    def __init__(self, implementation: Any) -> None:
        super().__init__(implementation, Settings())
        self.seen: list[str] = []
        self.failures = 0

    def answer(self, work: Any) -> TrialAnswer:
        found = super().answer(work)
        if not work.is_explained:
            self.seen.append(repr((work.fields, {name: values.tobytes() for name, values in work.inputs.items()})))
            self.failures += found.is_finding
        return found


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 7, 65, 33), (2, 3, 33, 5), (1031,)])
def test_a_large_tensor_becomes_as_small_as_it_can_be_by_few_trials_that_fail_and_none_runs_twice(
    sizes: tuple[int, ...],
) -> None:
    # Each of these failures may be a crash or a time limit, and takes as long.
    here = Recorded(fuzzed.WrongBeyond100())
    tensors = {"InputTensor": tensor(*sizes), "OutputTensor": tensor(*sizes)}
    desc = valid("DML_OPERATOR_ACTIVATION_IDENTITY", **tensors)
    trial = Trial.of(desc, {"InputTensor": np.full(sizes, 0.3, np.float32)}, NEWEST_LEVEL)
    start = failing_of(trial, here.answer(trial))
    here.seen.clear()
    found = reduced(here, start, NEWEST_LEVEL, None)
    assert found.failing.desc["InputTensor"].sizes == (101,)
    assert here.failures <= 13
    assert len(here.seen) == len(set(here.seen))


def test_a_value_that_matters_stays_wherever_it_is() -> None:
    given = np.full((3, 40), 0.7, np.float32)
    given[1, 33] = np.nan
    desc = valid("DML_OPERATOR_ELEMENT_WISE_ABS", InputTensor=tensor(3, 40), OutputTensor=tensor(3, 40))
    found = reduce(fuzzed.DropsNan(), desc, {"InputTensor": given}).failing
    assert isinstance(found, Failing)
    assert found.answer.difference is not None
    assert found.answer.difference.kind == "nan"
    assert np.isnan(found.inputs["InputTensor"]).tolist() == [True]


def test_a_desc_that_is_not_valid_keeps_its_mistake() -> None:
    here = BenchHere(fuzzed.TakesAll(), Settings())
    fields = {"InputTensor": {**tensor(4, 6), "GuaranteedBaseOffsetAlignment": 3}, "OutputTensor": tensor(4, 6)}
    trial = Trial("DML_OPERATOR_ACTIVATION_RELU", fields, {}, NEWEST_LEVEL, ("invalid-alignment",))
    start = failing_of(trial, here.answer(trial))
    found = reduced(here, start, NEWEST_LEVEL, None).failing
    assert isinstance(found, Taken)
    assert found.entry == "invalid-alignment"
    assert found.desc["InputTensor"].sizes == (1,)
    assert found.desc["InputTensor"].alignment == 3


def test_an_interrupt_ends_it_with_the_simplest_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    here = BenchHere(fuzzed.IgnoresTransB(), Settings())
    trial = Trial.of(*gemm(5, 4), NEWEST_LEVEL)
    start = failing_of(trial, here.answer(trial))
    run, count = here.answer, 0

    def interrupted(work: Any) -> TrialAnswer:
        nonlocal count
        count += 1
        if count > 12:
            raise KeyboardInterrupt
        return run(work)

    monkeypatch.setattr(here, "answer", interrupted)
    found = reduced(here, start, NEWEST_LEVEL, None)
    assert (found.is_interrupted, found.is_whole) == (True, False)
    assert start.weight > found.failing.weight


def test_a_cause_that_was_seen_only_before_says_so() -> None:
    none, first, last = (TrialAnswer("failed", cause=cause) for cause in ("", "index 256", "index 2"))
    assert cause_of(first, last) == "index 2"
    assert cause_of(first, none) == "index 256 (before it was reduced)"
    assert cause_of(none, none) == ""
