"""Tiles of results of which each is of the windows that its element is in."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from installed import Install, described, install

from dmlcheck.reference import engine
from dmlcheck.reference.functions.windows import Window, over
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import InWindows, Kernel, PerWindow
from dmlcheck.reference.tiling import windows as of_windows
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.reference.tiling.windows import once

__all__ = ["install"]

WINDOW = Window((2, 3), (2, 1), (1, 2), (1, 2))
SIZES, PLACES = (2, 3, 5, 6), (2, 3, 3, 6)
FIELDS: dict[str, Any] = {
    "InputTensor": ("FLOAT32", *SIZES),
    "InputGradientTensor": ("FLOAT32", *PLACES),
    "OutputGradientTensor": ("FLOAT32", *SIZES),
    "Strides": [2, 1],
    "WindowSize": [2, 3],
    "StartPadding": [1, 2],
    "EndPadding": [1, 2],
    "Dilations": [1, 2],
}
GENERATOR = np.random.default_rng(1)
X = GENERATOR.integers(1, 9, SIZES).astype(np.float32)
DY = GENERATOR.integers(1, 9, PLACES).astype(np.float32)
INPUTS = {"InputTensor": X, "InputGradientTensor": DY}


class Total(NamedTuple):
    """The sum of what a window sees."""

    sums: Any


def total(input: Any, *, seen: Any) -> Total:
    return Total(over(np.add, input, seen))


def given_back(input: Total, input_gradient: Any, *, seen: Any, places: Any) -> Any:
    rows = np.asarray(places[2])[:, None]
    return PartlyUndefined(
        over(np.add, input.sums * input_gradient, seen), np.broadcast_to(rows == 1, [*map(len, places)])
    )


def right() -> Any:
    """Return what each window gives, one after the other."""
    found = np.zeros(SIZES)
    for o, p in itertools.product(*map(range, PLACES[2:])):
        elements = [
            (o * 2 + w - 1, p + v * 2 - 2) for w, v in itertools.product(range(2), range(3))
        ]  # fmt: skip
        inside = [(y, x) for y, x in elements if 0 <= y < SIZES[2] and 0 <= x < SIZES[3]]
        sums = sum(X[:, :, y, x] for y, x in inside)
        for y, x in inside:
            found[:, :, y, x] += sums * DY[:, :, o, p]
    return found


@pytest.mark.parametrize(("block", "large"), [(1, 1), (7, 40), (1 << 16, 1 << 20)])
def test_each_result_has_the_windows_of_its_element_and_what_was_made_of_them(
    block: int, large: int, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_windows, "BLOCK", block)
    monkeypatch.setattr(of_windows, "LARGE", large)
    install("MAX_POOLING_GRAD", Kernel(given_back, InWindows(WINDOW, {"input": PerWindow(total, WINDOW)})))
    desc = described("MAX_POOLING_GRAD", **FIELDS)
    found = engine.evaluate(desc, INPUTS)["OutputGradientTensor"]
    assert (found.values == right()).all()
    assert found.undefined is not None
    assert (found.undefined == (np.arange(5) == 1)[:, None]).all()
    covered = np.zeros(SIZES, int)
    for tile in tiles_of(desc, INPUTS):
        covered[tile.where] += 1
    assert (covered == 1).all()


def test_what_is_made_of_windows_is_made_when_it_is_asked_for_and_once() -> None:
    asked: list[int] = []

    def make() -> int:
        asked.append(1)
        return 7

    kept = once(make)
    assert asked == []
    assert (kept(), kept(), asked) == (7, 7, [1])
