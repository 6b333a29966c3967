"""Moved elements: every operator against plain loops over places, bit by bit."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from drawn_descs import MODEST, draws
from made_descs import Made, built, tensor

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.arrays.blocks import BLOCK_AS_IS
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.kernels import movement
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.values import memory
from dmlcheck.values.number_formats import NUMPY_TYPES

Array = np.ndarray[Any, Any]
Place = tuple[int, ...]


MOVEMENT = (*movement.KERNELS,)
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


# ---- where an element comes from: the name of an input and a place in it, or None for what is filled in

Origin = tuple[str, Place] | None


def in_part(place: Place, axis: int, lengths: list[int]) -> tuple[int, Place]:
    """Return the part that a place of the whole is in, and the place there, by counting."""
    at, part = place[axis], 0
    while at >= lengths[part]:
        at -= lengths[part]
        part += 1
    return part, (*place[:axis], at, *place[axis + 1 :])


def in_parts(desc: OperatorDesc, _: str, place: Place) -> Origin:
    axis = desc.values["Axis"]
    part, there = in_part(place, axis, [each.tensor.sizes[axis] for each in desc.parts["InputTensors"]])
    return f"InputTensors[{part}]", there


def in_whole(desc: OperatorDesc, label: str, place: Place) -> Origin:
    axis = desc.values["Axis"]
    lengths = {part.label: part.tensor.sizes[axis] for part in desc.parts["OutputTensors"]}
    before = sum(lengths[f"OutputTensors[{number}]"] for number in range(list(lengths).index(label)))
    return "InputTensor", (*place[:axis], before + place[axis], *place[axis + 1 :])


def strided(size: int, offset: int, reach: int, stride: int, count: int) -> list[int]:
    """Return the places that a window takes elements from: cut out of a list, turned round, and every so many of it."""
    seen = list(range(size))[offset : offset + reach]
    return (seen if stride > 0 else seen[::-1])[:: abs(stride)][:count]


def in_slice(desc: OperatorDesc, _: str, place: Place) -> Origin:
    fields = zip(place, *(desc.values[name] for name in ("Offsets", "Strides")), strict=True)
    return "InputTensor", tuple(offset + sum([stride] * at) for at, offset, stride in fields)


def window_of(desc: OperatorDesc, whole: str, part: str) -> list[list[int]]:
    fields = (desc.values[f"InputWindow{name}"] for name in ("Offsets", "Sizes", "Strides"))
    sizes, counts = (desc.parts[name][0].tensor.sizes for name in (whole, part))
    return [strided(*window) for window in zip(sizes, *fields, counts, strict=True)]


def in_window(desc: OperatorDesc, _: str, place: Place) -> Origin:
    taken = window_of(desc, "InputTensor", "OutputTensor")
    return "InputTensor", tuple(of[at] for of, at in zip(taken, place, strict=True))


def in_gradient(desc: OperatorDesc, _: str, place: Place) -> Origin:
    taken = window_of(desc, "OutputGradientTensor", "InputGradientTensor")
    if any(at not in of for of, at in zip(taken, place, strict=True)):
        return None
    return "InputGradientTensor", tuple(of.index(at) for of, at in zip(taken, place, strict=True))


def in_smaller(desc: OperatorDesc, _: str, place: Place) -> Origin:
    mode, starts = desc.values["PaddingMode"], desc.values["StartPadding"]
    sizes = desc.parts["InputTensor"][0].tensor.sizes
    found = [padded(mode, at - start, size) for at, start, size in zip(place, starts, sizes, strict=True)]
    return None if None in found else ("InputTensor", tuple(at for at in found if at is not None))


def padded(mode: str, at: int, size: int) -> int | None:
    """Return the place that is seen at one that may be outside: the nearest, or one of a list that goes on and on."""
    if mode == "CONSTANT":
        return at if 0 <= at < size else None
    if mode == "EDGE":
        return min(range(size), key=lambda place: abs(place - at))
    back = {"WRAP": [], "SYMMETRIC": [*range(size)][::-1], "REFLECTION": [*range(size)][-2:0:-1]}[mode]
    period = [*range(size), *back]
    return period[at % len(period)]


def in_copy(desc: OperatorDesc, _: str, place: Place) -> Origin:
    sizes, repeats = desc.parts["InputTensor"][0].tensor.sizes, desc.values["Repeats"]
    return "InputTensor", tuple(
        ([*range(size)] * count)[at] for size, count, at in zip(sizes, repeats, place, strict=True)
    )


def channel(desc: OperatorDesc, channels: int, c: int, row: int, column: int) -> int:
    """Return the number of a channel by counting all of them in the order of the desc."""
    block = range(desc.values["BlockSize"])
    if desc.values.get("Order") == "COLUMN_ROW_DEPTH":
        every = [(d, i, j) for d in range(channels) for i in block for j in block]
    else:
        every = [(d, i, j) for i in block for j in block for d in range(channels)]
    return every.index((c, row, column))


def in_channels(desc: OperatorDesc, _: str, place: Place) -> Origin:
    (n, c, y, x), size = place, desc.values["BlockSize"]
    channels = desc.parts["OutputTensor"][0].tensor.sizes[1]
    return "InputTensor", (n, channel(desc, channels, c, y % size, x % size), y // size, x // size)


def in_space(desc: OperatorDesc, _: str, place: Place) -> Origin:
    (n, k, y, x), size = place, desc.values["BlockSize"]
    channels = desc.parts["InputTensor"][0].tensor.sizes[1]
    for c, row, column in itertools.product(range(channels), range(size), range(size)):
        if channel(desc, channels, c, row, column) == k:
            return "InputTensor", (n, c, y * size + row, x * size + column)
    raise AssertionError


ORIGINS: dict[str, Callable[[OperatorDesc, str, Place], Origin]] = {
    "DEPTH_TO_SPACE": in_channels,
    "DEPTH_TO_SPACE1": in_channels,
    "JOIN": in_parts,
    "PADDING": in_smaller,
    "PADDING1": in_smaller,
    "SLICE": in_slice,
    "SLICE1": in_window,
    "SLICE_GRAD": in_gradient,
    "SPACE_TO_DEPTH": in_space,
    "SPACE_TO_DEPTH1": in_space,
    "SPLIT": in_whole,
    "TILE": in_copy,
}


def in_line(desc: OperatorDesc, lengths: Array, place: Place) -> Origin:
    """Return where an element of a line comes from whose first elements are reversed: by its length, as a list is.

    A line is continued by its last element.
    """
    axis = desc.values["Axis"]
    line = list(range(desc.parts["InputTensor"][0].tensor.sizes[axis]))
    length = int(lengths[(*place[:axis], 0, *place[axis + 1 :])]) % 2**32
    line += [line[-1]] * min(length - len(line), len(line))
    line[:length] = line[: min(length, len(line))][::-1] if length < 2 * len(line) else [line[-1]] * len(line)
    return "InputTensor", (*place[:axis], line[place[axis]], *place[axis + 1 :])


def is_undefined(desc: OperatorDesc, place: Place) -> bool:
    """Say whether an element is undefined: one that a stride of 0 repeats, or the reflection of a single element."""
    if desc.spec.short == "SLICE":
        return any(at > 0 and stride == 0 for at, stride in zip(place, desc.values["Strides"], strict=True))
    if desc.values.get("PaddingMode") != "REFLECTION":
        return False
    sizes = desc.parts["InputTensor"][0].tensor.sizes
    return any(
        size == 1 and at != start for size, at, start in zip(sizes, place, desc.values["StartPadding"], strict=True)
    )


def fill(desc: OperatorDesc, x: Array) -> int:
    """Return the bits of what is where no element comes from."""
    return as_bits(np.array([desc.values.get("PaddingValue", 0)]).astype(x.dtype))[0]


def expected(desc: OperatorDesc, inputs: dict[str, Any], label: str, sizes: Place) -> list[int | None]:
    """Return the bits of an output, None where it is undefined."""
    arrays = {name: given if isinstance(given, list) else [given] for name, given in inputs.items()}
    bits_of = {
        part.label: as_bits(array)
        for name, given in arrays.items()
        for part, array in zip(desc.parts[name], given, strict=True)
    }
    shapes = {part.label: part.tensor.sizes for name in arrays for part in desc.parts[name]}
    found: list[int | None] = []
    lengths = inputs.get("SequenceLengthsTensor")
    for place in np.ndindex(*sizes):
        origin = ORIGINS[desc.spec.short](desc, label, place) if lengths is None else in_line(desc, lengths, place)
        if is_undefined(desc, place):
            found.append(None)
        elif origin is None:
            found.append(fill(desc, next(iter(arrays.values()))[0]))
        else:
            name, there = origin
            found.append(bits_of[name][int(np.ravel_multi_index(there, shapes[name]))])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("operator", MOVEMENT)
def test_each_element_is_that_of_its_origin_bit_by_bit(operator: str) -> None:
    types = set()
    for desc, inputs in movements(operator, 60):
        types.add(desc.tensors()[0].tensor.data_type)
        for label, (values, undefined, _) in engine.evaluate(desc, inputs).items():
            is_open = undefined is not None and "SequenceLengthsTensor" not in inputs  # those are measured
            marks = undefined if is_open else np.zeros(values.shape, bool)
            found = [None if mark else x for x, mark in zip(as_bits(values), marks.reshape(-1).tolist(), strict=True)]
            assert found == expected(desc, inputs, label, values.shape), (desc, label)
    assert len(types) > 9


def test_every_operator_of_the_family_is_compared() -> None:
    assert set(MOVEMENT) == {*ORIGINS, "REVERSE_SUBSEQUENCES"}


@pytest.mark.slow
@pytest.mark.parametrize("operator", MOVEMENT)
def test_an_element_that_is_next_to_the_right_one_is_refused(operator: str) -> None:
    seen = 0
    for desc, inputs in movements(operator, 20):
        for label, (values, undefined, _) in engine.evaluate(desc, inputs).items():
            tensor_desc = next(part.tensor for part in desc.tensors() if part.label == label)
            changed = values.copy()
            judged = np.ones(values.shape, bool) if undefined is None else ~undefined
            judged &= np.isfinite(values)
            with np.errstate(invalid="ignore"):  # of signalling NaN
                after = np.nextafter(values, -values) if values.dtype.kind == "f" else values ^ 1
            changed[judged] = after[judged]
            judged &= changed != values  # 0 is next to 0
            limit = limit_for(desc, None, Precision("FLOAT16"))
            bounds_of = partial(bounds, desc, inputs, precision=limit.precision)
            found, _ = compare({label: (tensor_desc, values)}, {label: changed}, limit, bounds_of)[label]
            assert found.mismatches == judged.sum()
            seen += found.mismatches
    assert seen > 20


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
