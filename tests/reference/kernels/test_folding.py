"""FOLD and UNFOLD against loops over their definition, as transposes of each other, and the bounds of sums."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from bounds_of import gathered
from drawn_descs import MODEST, draws
from made_descs import Made, built, tensor

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.tiling import cut

Array = np.ndarray[Any, Any]
Place = tuple[int, ...]
NAMES = ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding")


def pairs(desc: OperatorDesc) -> dict[Place, list[Place]]:
    """Return for each place of the tensor the places of the columns that are the same element, by loops."""
    is_fold = desc.spec.short == "FOLD"
    batch, channels, *sizes = desc.parts["OutputTensor" if is_fold else "InputTensor"][0].tensor.sizes
    fields = [desc.values[name] for name in NAMES]
    starts = [range(-low, size + high) for size, low, high in zip(sizes, *fields[3:], strict=True)]
    along = []  # for each dimension and each place of the window: where its elements are
    for window, stride, gap, reach in zip(*fields[:3], starts, strict=True):
        along.append([reach[at::gap][:window] for at in range(0, len(reach), stride) if len(reach[at::gap]) >= window])
    elements = [*itertools.product(*(range(window) for window in fields[0]))]
    found: dict[Place, list[Place]] = {}
    for n, c in itertools.product(range(batch), range(channels)):
        for block, place in enumerate(itertools.product(*along)):
            for row, element in enumerate(elements):
                at = tuple(of[each] for of, each in zip(place, element, strict=True))
                found.setdefault((n, c, *at), []).append((n, c * len(elements) + row, block))
    return found


def folded(desc: OperatorDesc, x: Array) -> dict[Place, list[Any]]:
    """Return the terms of each sum as Python numbers."""
    sizes = desc.parts["OutputTensor"][0].tensor.sizes
    of = pairs(desc)
    return {at: [x[column].item() for column in of.get(at, [])] for at in np.ndindex(*sizes)}


class Shape(NamedTuple):
    """The sizes of a tensor, those of the tensor with a column for each place of the window, and the window."""

    whole: Place
    columns: Place
    window: dict[str, Any]


@cache
def shapes() -> tuple[Shape, ...]:
    """Return the windows of draws, over 1 to 6 dimensions."""
    found = []
    for desc, _ in draws("UNFOLD", 60, sizes=MODEST):
        window = {name: list(desc.values[name]) for name in NAMES}
        found.append(Shape(desc["InputTensor"].sizes, desc["OutputTensor"].sizes, window))
    assert len({len(of.whole) for of in found}) > 3
    assert any(max(of.window["Dilations"]) > 1 for of in found)
    return tuple(found)


def made(generator: np.random.Generator, operator: str, data_type: str, of: Shape) -> Made:
    """Return a desc, with inputs of random bits to move, or ordinary numbers to add."""
    given, result = (of.whole, of.columns) if operator == "UNFOLD" else (of.columns, of.whole)
    fields = {"InputTensor": tensor(data_type, given), "OutputTensor": tensor(data_type, result), **of.window}
    if data_type.startswith("FLOAT") and operator == "FOLD":
        x = generator.normal(size=given).astype(data_type.lower())
    else:
        dtype = np.dtype(data_type.lower())
        x = generator.integers(0, 1 << 8 * dtype.itemsize, given, f"u{dtype.itemsize}").view(dtype)
    return built(operator, fields, {"InputTensor": x})


def some(operator: str, data_type: str, seed: int, count: int) -> list[Made]:
    generator = np.random.default_rng(seed)
    return [made(generator, operator, data_type, of) for of in shapes()[seed : seed + count]]


@pytest.mark.slow
def test_small_tiles_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(8)
    for of in shapes()[:15]:
        for operator in ("UNFOLD", "FOLD"):
            desc, inputs = made(generator, operator, "FLOAT32", of)
            x = {"InputTensor": np.arange(inputs["InputTensor"].size, dtype=np.float32).reshape(of_input(desc))}
            right = engine.run(desc, x)["OutputTensor"]
            with monkeypatch.context() as patch:
                patch.setattr(cut, "BLOCK", int(generator.integers(1, 3)))  # of which a tile may have 16
                assert np.array_equal(engine.run(desc, x)["OutputTensor"], right)


def of_input(desc: OperatorDesc) -> tuple[int, ...]:
    sizes: tuple[int, ...] = desc.parts["InputTensor"][0].tensor.sizes
    return sizes


@pytest.mark.parametrize(("data_type", "accumulate"), [("FLOAT32", "FLOAT32"), ("FLOAT16", "FLOAT16")])
def test_sums_in_any_order_are_within_the_bound_and_a_lost_term_is_not(data_type: str, accumulate: str) -> None:
    generator, dtype = np.random.default_rng(9), np.dtype(data_type.lower())
    for desc, inputs in some("FOLD", data_type, 9, 15):
        sizes = desc.parts["OutputTensor"][0].tensor.sizes
        found = gathered(desc, inputs, {"OutputTensor": np.ones(sizes, bool)}, accumulate)["OutputTensor"]
        sums = folded(desc, inputs["InputTensor"])
        for value, radius, terms in zip(found.value, found.radius, sums.values(), strict=True):
            reach = radius + float(np.spacing(dtype.type(abs(value))))
            some_order = generator.permutation(np.array(terms, dtype))
            assert abs(float(np.add.accumulate(some_order)[-1] if terms else 0) - value) <= reach
            if terms and min(map(abs, terms)) > 0.1 and data_type == "FLOAT32":
                assert abs(math.fsum(terms[1:]) - value) > reach


def test_the_bound_counts_the_windows_that_have_an_element() -> None:
    fields = {"WindowSizes": [4], "Strides": [2], "Dilations": [1], "StartPadding": [0], "EndPadding": [0]}
    of = Shape((1, 1, 8), (1, 4, 3), fields)
    desc, inputs = made(np.random.default_rng(0), "FOLD", "FLOAT32", of)
    ones = {"InputTensor": np.ones_like(inputs["InputTensor"])}
    found = gathered(desc, ones, {"OutputTensor": np.ones((1, 1, 8), bool)})["OutputTensor"]
    assert found.value.tolist() == [1, 1, 2, 2, 2, 2, 1, 1]
    assert found.radius.max() <= 2 * 2.0**-24 * 2
