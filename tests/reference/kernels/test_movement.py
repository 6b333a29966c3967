"""Moved elements: every operator against plain loops over places, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_movement import MOVEMENT, bits, built, movements, parts_of, tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.kernels import movement

Array = np.ndarray[Any, Any]
Place = tuple[int, ...]


def as_bits(x: Array) -> list[int]:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(-1).tolist()


# ---- where an element comes from: the name of an input and a place in it, or None for what is filled in

Origin = tuple[str, Place] | None


def in_part(place: Place, axis: int, lengths: list[int]) -> tuple[int, Place]:
    """Return the part that a place of the whole is in, and the place there, by counting."""
    at, part = place[axis], 0
    while at >= lengths[part]:
        at -= lengths[part]
        part += 1
    return part, (*place[:axis], at, *place[axis + 1 :])


def origin_in_join(desc: OperatorDesc, _: str, place: Place) -> Origin:
    axis = desc.values["Axis"]
    part, there = in_part(place, axis, [each.tensor.sizes[axis] for each in desc.parts["InputTensors"]])
    return f"InputTensors[{part}]", there


def origin_in_split(desc: OperatorDesc, label: str, place: Place) -> Origin:
    axis = desc.values["Axis"]
    lengths = {part.label: part.tensor.sizes[axis] for part in desc.parts["OutputTensors"]}
    before = sum(lengths[f"OutputTensors[{number}]"] for number in range(list(lengths).index(label)))
    return "InputTensor", (*place[:axis], before + place[axis], *place[axis + 1 :])


ORIGINS: dict[str, Callable[[OperatorDesc, str, Place], Origin]] = {
    "JOIN": origin_in_join,
    "SPLIT": origin_in_split,
}


@pytest.mark.parametrize("operator", MOVEMENT)
def test_each_element_is_that_of_its_origin_bit_by_bit(operator: str) -> None:
    origin = ORIGINS[operator]
    for desc, inputs in movements(operator):
        given = {
            part.label: inputs[name] if not isinstance(inputs[name], list) else inputs[name][index]
            for name in inputs
            for index, part in enumerate(desc.parts[name])
        }
        for label, found in engine.evaluate(desc, inputs).items():
            assert found.unspecified is None
            wanted = []
            for place in np.ndindex(*found.values.shape):
                come = origin(desc, label, place)
                wanted += [0] if come is None else as_bits(given[come[0]][come[1]])
            assert as_bits(found.values) == wanted, (desc, label)


def test_every_operator_of_the_family_is_compared() -> None:
    assert set(MOVEMENT) == set(ORIGINS) == set(movement.KERNELS)


# ---- JOIN and SPLIT


def test_split_after_join_gives_the_parts_back() -> None:
    generator = np.random.default_rng(13)
    for _ in range(60):
        parts, whole, axis = parts_of(generator)
        arrays = [bits(generator, "FLOAT32", part) for part in parts]
        along = {"Axis": axis}
        tensors = [tensor("FLOAT32", part) for part in parts]
        joined, inputs = built(
            "JOIN",
            {"InputTensors": tensors, "OutputTensor": tensor("FLOAT32", whole), **along},
            {"InputTensors": arrays},
        )
        made = engine.run(joined, inputs)["OutputTensor"]
        desc, inputs = built(
            "SPLIT", {"InputTensor": tensor("FLOAT32", whole), "OutputTensors": tensors, **along}, {"InputTensor": made}
        )
        found = engine.run(desc, inputs)
        assert [as_bits(part) for part in found.values()] == [as_bits(part) for part in arrays]
