"""Tiles of the states of sequences, and the steps along them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import Install, described, install

from dmlcheck.reference import engine
from dmlcheck.reference.kernels.recurrent.gates import Gate
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import Direction, Kernel, Recurrence, State
from dmlcheck.reference.tiling import recurrence
from dmlcheck.reference.tiling.plan import tiles_of

__all__ = ["install"]
Array = np.ndarray[Any, Any]

HIDDEN = State("hidden_init", "recurrence", "output_single")


def doubled(x: Any, h: Any, *, gates: Any) -> list[PartlyUndefined]:
    """Return 2 h + x times the weight: each state shows the order of the steps before it."""
    return [PartlyUndefined(2 * h + gates[0].input * x, np.zeros(h.shape, bool))]


def directions(given: Any) -> list[Direction]:
    return [Direction(is_backward=given["direction"] == "BACKWARD", options={})]


RECURRENCE = Recurrence(lambda weight, *_: [Gate(weight, *[None] * 5)], [HIDDEN], directions)


def inputs(*lengths: int) -> dict[str, Array]:
    """Return two sequences of three steps, 1, 10, 100 and those times 1000."""
    steps = np.array([1, 10, 100], np.float32)
    given = {
        "InputTensor": np.stack([steps, 1000 * steps], 1).reshape(1, 3, 2, 1),
        "WeightTensor": np.ones((1, 1, 1, 1), np.float32),
        "RecurrenceTensor": np.zeros((1, 1, 1, 1), np.float32),
    }
    own = {"SequenceLengthsTensor": np.array(lengths, np.uint32).reshape(1, 1, 1, 2)} if lengths else {}
    return given | own


def run(given: dict[str, Array], direction: str = "FORWARD") -> tuple[Any, Any]:
    """Return the sequence and the last state, None for what is undefined."""
    tensors: Any = {name: (x.dtype.name.upper(), *x.shape) for name, x in given.items()}
    outputs = {"OutputSequenceTensor": ("FLOAT32", 3, 1, 2, 1), "OutputSingleTensor": ("FLOAT32", 1, 1, 2, 1)}
    fields = {"ActivationDescs": [{"Type": "ACTIVATION_IDENTITY"}], "Direction": direction}
    desc = described("RNN", **tensors, **outputs, **fields)
    found = engine.evaluate(desc, given).values()
    sequence, single = (
        np.where(False if each.undefined is None else each.undefined, -1, each.values) for each in found
    )
    return sequence[:, 0, :, 0].tolist(), single[0, 0, :, 0].tolist()


def test_each_state_is_of_the_one_before(install: Install) -> None:
    install("RNN", Kernel(doubled, RECURRENCE))
    assert run(inputs()) == ([[1, 1000], [12, 12000], [124, 124000]], [124, 124000])
    assert run(inputs(), "BACKWARD") == ([[421, 421000], [210, 210000], [100, 100000]], [421, 421000])


def test_steps_begin_with_the_initial_state(install: Install) -> None:
    install("RNN", Kernel(doubled, RECURRENCE))
    first = {"HiddenInitTensor": np.array([5, 0], np.float32).reshape(1, 1, 2, 1)}
    assert run({**inputs(), **first})[1] == [124 + 8 * 5, 124000]


def test_a_sequence_ends_at_its_length_and_is_0_after_it(install: Install) -> None:
    install("RNN", Kernel(doubled, RECURRENCE))
    assert run(inputs(2, 3)) == ([[1, 1000], [12, 12000], [0, 124000]], [12, 124000])
    assert run(inputs(2, 3), "BACKWARD") == ([[21, 421000], [10, 210000], [0, 100000]], [21, 421000])


def test_all_of_a_sequence_without_a_right_length_is_undefined(install: Install) -> None:
    install("RNN", Kernel(doubled, RECURRENCE))
    assert run(inputs(0, 3)) == ([[-1, 1000], [-1, 12000], [-1, 124000]], [-1, 124000])
    assert run(inputs(4, 3))[1] == [-1, 124000]


def test_tiles_have_some_sequences_each_and_results_do_not_depend_on_them(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("RNN", Kernel(doubled, RECURRENCE))
    monkeypatch.setattr(recurrence, "LARGEST", 1)
    monkeypatch.setattr(recurrence, "STEPS", 2)
    assert run(inputs(2, 3)) == ([[1, 1000], [12, 12000], [0, 124000]], [12, 124000])
    given = inputs()
    tensors: Any = {name: (x.dtype.name.upper(), *x.shape) for name, x in given.items()}
    outputs = {"OutputSingleTensor": ("FLOAT32", 1, 1, 2, 1)}
    fields = {"ActivationDescs": [{"Type": "ACTIVATION_IDENTITY"}], "Direction": "FORWARD"}
    found = tiles_of(described("RNN", **tensors, **outputs, **fields), given)
    assert [tile.where["output_single"] for tile in found] == [(0, 0, slice(0, 1)), (0, 0, slice(1, 2))]
