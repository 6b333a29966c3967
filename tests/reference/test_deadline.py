"""The time limit of a computation, which the engine keeps between tiles."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.reference import engine
from dmlcheck.reference.deadline import OutOfTime, in_time, limited

TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
DESC = read_desc("ACTIVATION_RELU", {"InputTensor": TENSOR, "OutputTensor": TENSOR}).desc


def test_parts_are_computed_until_the_time_is_over() -> None:
    seen = []
    with limited(0.01), pytest.raises(OutOfTime, match=r"^0\.01$"):  # noqa: PT012 - the parts before count
        for part in in_time(range(3)):
            seen.append(part)
            time.sleep(0.02 * part)
    assert seen == [0, 1]


def test_there_is_no_limit_outside_of_a_block_nor_without_seconds() -> None:
    with limited(0.0):
        pass
    with limited(None):
        assert list(in_time(range(3))) == [0, 1, 2]


def test_the_engine_has_no_more_time_than_it_may_take() -> None:
    assert DESC is not None
    inputs = {"InputTensor": np.array([-1, 1], np.float32)}
    with limited(-1.0), pytest.raises(OutOfTime):
        engine.run(DESC, inputs)
    assert engine.run(DESC, inputs)["OutputTensor"].tolist() == [0, 1]
