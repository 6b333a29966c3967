"""The time limit of a computation, which the engine keeps between tiles."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.reference import engine
from dmlcheck.reference.limits import work
from dmlcheck.reference.limits.work import Limited, OutOfTime, in_time

TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
DESC = read_desc("ACTIVATION_RELU", {"InputTensor": TENSOR, "OutputTensor": TENSOR}).desc


def test_parts_are_computed_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.0, 12.0, 12.5])  # at the beginning, and before each part
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    seen: list[int] = []
    with Limited(2.0), pytest.raises(OutOfTime, match=r"^2$"):
        any(map(seen.append, in_time(range(3))))
    assert seen == [0, 1]


def test_there_is_no_limit_outside_of_a_block() -> None:
    with Limited(0.0):
        pass
    assert list(in_time(range(3))) == [0, 1, 2]


def test_the_engine_has_no_more_time_than_it_may_take() -> None:
    assert DESC is not None
    inputs = {"InputTensor": np.array([-1, 1], np.float32)}
    with Limited(-1.0), pytest.raises(OutOfTime):
        engine.run(DESC, inputs)
    assert engine.run(DESC, inputs)["OutputTensor"].tolist() == [0, 1]
