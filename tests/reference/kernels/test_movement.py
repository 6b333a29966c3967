"""Moved elements: every operator against plain loops over places, bit by bit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from drawn_descs import MODEST, draws
from made_descs import Made, built, tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.arrays.blocks import BLOCK_AS_IS
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.values import memory
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]
WHOLE = {"PaddingValue": (0.0, 3.0, 7.0)}  # numbers that every type has


def movements(operator: str, count: int = 100) -> Iterator[Made]:
    """Yield descs of an operator with inputs of random bits, and lengths from 0 to more than there is."""
    wishes = WHOLE if operator == "PADDING" else None
    for desc, inputs in draws(operator, count, wishes, sizes=MODEST, styles=("bits",)):
        yield desc, with_lengths(desc, inputs) if "SequenceLengthsTensor" in inputs else inputs


def with_lengths(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return inputs with half of the lengths 0, short, or beyond the end."""
    given = inputs["SequenceLengthsTensor"]
    generator, whole = np.random.default_rng(given.size), desc["InputTensor"].sizes[desc.values["Axis"]]
    ends = np.array([0, 1, 2, whole + 1, np.iinfo(given.dtype).max], given.dtype)
    changed = generator.choice(ends, given.shape)
    return {**inputs, "SequenceLengthsTensor": np.where(generator.random(given.shape) < 0.5, given, changed)}


def as_bits(x: Array) -> list[int]:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(-1).tolist()


# ---- JOIN and SPLIT


def test_split_after_join_gives_the_parts_back() -> None:
    seen = set()
    for joined, inputs in movements("JOIN", 60):
        made, parts = engine.run(joined, inputs)["OutputTensor"], [part.tensor for part in joined.parts["InputTensors"]]
        tensors = [tensor(part.data_type, part.sizes) for part in parts]
        fields = {"InputTensor": tensor(parts[0].data_type, made.shape), "OutputTensors": tensors}
        found = engine.run(*built("SPLIT", {**fields, "Axis": joined.values["Axis"]}, {"InputTensor": made}))
        assert [as_bits(part) for part in found.values()] == [as_bits(part) for part in inputs["InputTensors"]]
        seen.add((len(parts), len({part.sizes for part in parts}) > 1))
    assert {*seen} >= {(1, False), (2, True), (3, True), (4, True)}


# ---- SLICE1 and SLICE_GRAD


def test_a_stride_may_be_as_large_as_releases_take_where_one_element_is_taken() -> None:
    fields = {"Offsets": [1], "Sizes": [1], "Strides": [2**31 - 1]}
    tensors = {"InputTensor": tensor("FLOAT64", (2,)), "OutputTensor": tensor("FLOAT64", (1,))}
    desc, inputs = built("SLICE", tensors | fields, {"InputTensor": np.array([3.0, 4.0])})
    assert engine.run(desc, inputs)["OutputTensor"].tolist() == [4]


# ---- PADDING


def surrounded(value: float, data_type: str, operator: str = "PADDING", mode: str = "CONSTANT") -> Made:
    """Return one element of 7 with one of padding at each side."""
    fields = {"PaddingMode": mode, "PaddingValue": value, "StartPadding": [1], "EndPadding": [1]}
    if operator == "PADDING1":
        fields["PaddingValueDataType"] = data_type
    tensors = {"InputTensor": tensor(data_type, (1,)), "OutputTensor": tensor(data_type, (3,))}
    return built(operator, tensors | fields, {"InputTensor": np.array([7], NUMPY_TYPES[data_type])})


@pytest.mark.parametrize(
    ("value", "data_type"),
    [(256, "UINT8"), (-1, "UINT8"), (-129, "INT8"), (2.0**63, "INT64"), (2.0**64, "UINT64"), (np.nan, "INT32")],
)
def test_a_value_that_an_integer_cannot_hold_is_undefined(value: float, data_type: str) -> None:
    (found,) = engine.evaluate(*surrounded(value, data_type)).values()
    assert found.undefined is not None
    assert found.undefined.tolist() == [True, False, True]


def right_values(value: float, data_type: str, operator: str = "PADDING") -> set[float]:
    """Return the numbers that the bound of the padding has."""
    desc, inputs = surrounded(value, data_type, operator)
    mask = np.array([True, False, False])
    ((_, at, bound),) = bounds(desc, inputs, {"OutputTensor": mask}, Precision("FLOAT16"))
    assert at.tolist() == [0]
    assert not bound.is_rounded
    assert not bound.radius.any()
    return {float(way.value[0]) for way in (bound, *bound.others)}


def test_float16_may_have_the_nearest_value_or_the_next_toward_0() -> None:
    assert right_values(1 + 2**-11 + 2**-20, "FLOAT16") == {1 + 2**-10, 1}
    assert right_values(-1 - 2**-11 - 2**-20, "FLOAT16") == {-1 - 2**-10, -1}
    assert right_values(1 + 2**-12, "FLOAT16") == {1}
    assert right_values(0.25, "FLOAT16") == {0.25}
    assert right_values(65536, "FLOAT16") == {np.inf, 65504}
    assert right_values(np.inf, "FLOAT16") == {np.inf}


def test_other_types_have_one_right_value_however_an_implementation_accumulates() -> None:
    assert right_values(0.1, "FLOAT32") == {float(np.float32(0.1))}
    assert right_values(10.6, "INT32") == {10}
    assert right_values(0.1, "FLOAT32", "PADDING1") == {float(np.float32(0.1))}


# ---- REVERSE_SUBSEQUENCES


def test_lines_reversed_twice_are_as_they_were() -> None:
    for desc, drawn in movements("REVERSE_SUBSEQUENCES", 40):
        size = desc.values["InputTensor"].sizes[desc.values["Axis"]]
        lengths = np.minimum(drawn["SequenceLengthsTensor"], size).astype(drawn["SequenceLengthsTensor"].dtype)
        inputs = {**drawn, "SequenceLengthsTensor": lengths}
        once = engine.run(desc, inputs)["OutputTensor"]
        twice = engine.run(desc, {**inputs, "InputTensor": once})["OutputTensor"]
        assert as_bits(twice) == as_bits(inputs["InputTensor"])


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1])
def test_long_lines_are_reversed_in_tiles(axis: int) -> None:
    sizes = (600_000, 2) if axis == 0 else (2, 600_000)
    x = np.arange(1_200_000, dtype=np.uint32).reshape(sizes)
    lengths = np.array([450_000, 600_000], np.uint32).reshape(2 if axis else 1, -1)
    fields = {"InputTensor": tensor("UINT32", sizes), "OutputTensor": tensor("UINT32", sizes), "Axis": axis}
    fields["SequenceLengthsTensor"] = tensor("UINT32", lengths.shape)
    desc, inputs = built("REVERSE_SUBSEQUENCES", fields, {"InputTensor": x, "SequenceLengthsTensor": lengths})
    assert len(list(tiles_of(desc, inputs))) > 1
    found = engine.run(desc, inputs)["OutputTensor"]
    first, second = (found, x) if axis else (found.T, x.T)
    assert np.array_equal(first[0], np.concatenate([second[0, 449_999::-1], second[0, 450_000:]]))
    assert np.array_equal(first[1], second[1, ::-1])


# ---- tiles


def test_large_tensors_come_in_tiles_and_are_the_same() -> None:
    x = np.arange(3 * BLOCK_AS_IS, dtype=np.int32)
    tensors = {"InputTensor": tensor("INT32", x.shape), "OutputTensor": tensor("INT32", (2 * x.size,))}
    desc, inputs = built("TILE", {**tensors, "Repeats": [2]}, {"InputTensor": x})
    assert len(list(tiles_of(desc, inputs))) == 6
    assert np.array_equal(engine.run(desc, inputs)["OutputTensor"], np.concatenate([x, x]))
    tensors["OutputTensor"] = tensor("INT32", (3 * x.size - 2,))
    fields = {"PaddingMode": "REFLECTION", "PaddingValue": 0, "StartPadding": [x.size - 1], "EndPadding": [x.size - 1]}
    desc, inputs = built("PADDING", tensors | fields, {"InputTensor": x})
    assert len(list(tiles_of(desc, inputs))) == 9
    assert np.array_equal(engine.run(desc, inputs)["OutputTensor"], np.concatenate([x[:0:-1], x, x[-2::-1]]))


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECTION", "WRAP"])
def test_padding_takes_little_memory_beside_its_tensors(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "cores", lambda: 1)  # each thread has a tile
    x = np.zeros(1 << 20, np.int8)
    fields = {"PaddingMode": mode, "PaddingValue": 1, "StartPadding": [x.size - 1], "EndPadding": [x.size - 1]}
    tensors = {"InputTensor": tensor("INT8", x.shape), "OutputTensor": tensor("INT8", (3 * x.size - 2,))}
    desc, inputs = built("PADDING", tensors | fields, {"InputTensor": x})
    tracemalloc.start()
    engine.run(desc, inputs)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5 * x.size + 64 * BLOCK_AS_IS  # index arrays as long as the padding would take 16 times as much as x
