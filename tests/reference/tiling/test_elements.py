"""Tiles of results of which each is of the elements at its place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from installed import described
from shipped import cases_of

from dmlcheck.cases.prepare import Prepared, prepare
from dmlcheck.reference import engine
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.rows import ELEMENTS
from dmlcheck.reference.tiling import elements
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.specs.load import operator_names


def adding(*sizes: int) -> tuple[Any, dict[str, Any]]:
    """Return a sum of a tensor and one that has its second dimension once for all."""
    tensors: dict[str, Any] = dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), ("FLOAT32", *sizes))
    a = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    return described("ELEMENT_WISE_ADD", **tensors), {"ATensor": a, "BTensor": a[:, :1]}


def test_runs_of_elements_have_the_same_places_of_all_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "BLOCK", 4)
    desc, inputs = adding(2, 6)
    tiles = list(tiles_of(desc, inputs))
    assert [tile.where for tile in tiles] == [(row, slice(start, start + 4)) for row in range(2) for start in (0, 4)]
    assert [x.tolist() for x in tiles[3].operands] == [[10, 11], [6]]


def test_what_is_moved_only_makes_tiles_of_as_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "BLOCK", 4)
    tensor = ("FLOAT32", 16)
    desc = described("ELEMENT_WISE_ABS", InputTensor=tensor, OutputTensor=tensor)
    tiles = list(tiles_of(desc, {"InputTensor": np.ones(16, np.float32)}))
    assert [tile.is_exact for tile in tiles] == [True, True]


@pytest.mark.parametrize(
    "is_asked", [lambda places: places >= 0, lambda places: places % 2 == 0, lambda places: places == 5]
)
def test_bounds_are_the_same_whether_or_not_elements_repeat(is_asked: Any) -> None:
    desc, inputs = adding(3, 4)
    asked = {"OutputTensor": is_asked(np.arange(12).reshape(3, 4))}
    whole = {**inputs, "BTensor": np.repeat(inputs["BTensor"], 4, axis=1)}
    ((_, at, found),) = bounds(desc, inputs, asked)
    ((_, places, expected),) = bounds(desc, whole, asked)
    assert at.tolist() == places.tolist() == np.flatnonzero(asked["OutputTensor"]).tolist()
    assert (found.value.tolist(), found.radius.tolist()) == (expected.value.tolist(), expected.radius.tolist())


def test_where_all_tensors_repeat_their_elements_the_result_is_whole() -> None:
    desc, inputs = adding(2, 3)
    same = {name: np.broadcast_to(x[:, :1], (2, 3)) for name, x in inputs.items()}
    assert engine.evaluate(desc, same)["OutputTensor"].values.tolist() == [[0, 0, 0], [6, 6, 6]]


def small_cases(operator: str) -> Iterator[Prepared]:
    for case in cases_of(operator):
        if not (case.is_negative or case.is_plain_desc):
            prepared = prepare(case)
            if prepared.desc is not None and not prepared.findings and len(prepared.inputs) > 1:
                yield prepared


@pytest.mark.slow
@pytest.mark.parametrize("operator", [name for name in operator_names() if row(name).kernel.tiles is ELEMENTS])
def test_every_operator_takes_elements_that_repeat(operator: str) -> None:
    for desc, inputs in ((one.desc, one.inputs) for one in islice(small_cases(operator), 2)):
        assert desc is not None
        for name, x in inputs.items():
            repeated = {**inputs, name: np.broadcast_to(x[..., :1], x.shape)}
            whole = {**inputs, name: np.array(repeated[name])}
            found, expected = (engine.evaluate(desc, desc.by_field(given)) for given in (repeated, whole))
            for label, output in expected.items():
                np.testing.assert_array_equal(found[label].values, output.values)
