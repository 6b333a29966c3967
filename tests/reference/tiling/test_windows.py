"""Tiles of what windows see: every place once, with what the window sees there, and no more than needed."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from installed import Install, described, install
from seen_windows import WINDOWS, seen

from dmlcheck.reference import engine
from dmlcheck.reference.arrays.blocks import Blocks
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.functions.neighbours import region
from dmlcheck.reference.functions.windows import Window, over, windows
from dmlcheck.reference.results import PartlyUndefined
from dmlcheck.reference.rows import InWindows, Kernel, Neighbours, PerWindow
from dmlcheck.reference.tiling import windows as of_windows
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.reference.tiling.windows import in_blocks, of_channels, once, places_at_once, terms_of, views

__all__ = ["install"]


def test_beyond_the_edges_is_a_number_of_each_channel() -> None:
    x, fill = np.arange(6).reshape(1, 2, 3), np.array([7, 9]).reshape(1, 2, 1)
    found = {
        str(index[1]): under.tolist() for index, _, under in views(x, Window((2,), (2,), (1,), (1,)), (1, 2, 2), fill)
    }
    assert found == {str(slice(None)): [[[7, 0, 1, 2], [9, 3, 4, 5]]]}


@pytest.mark.parametrize("block", [1, 4, 30, 1 << 16])
def test_every_place_is_in_one_part_of_an_output_with_what_the_window_sees_there(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_windows, "BLOCK", block)
    for sizes, window, counts in WINDOWS:
        if 0 in window.size:
            continue
        x = np.random.default_rng(1).normal(size=(2, 3, *sizes))
        whole = [slice(0, count) for count in counts]
        right = seen(x, whole, window, 0)
        found = np.full((2, 3, *counts), np.nan)
        for index, own, under in views(x, window, (2, 3, *counts), is_whole=True):
            assert np.isnan(found[index]).all()
            assert windows(under, own).tolist() == right[index].tolist()
            found[index] = over(np.maximum, under, own)
        assert found.tolist() == right.reshape(*found.shape, -1).max(axis=-1).tolist()


def test_long_runs_take_no_longer_than_short_ones() -> None:
    """70,000 places that see up to 70,000 elements each: 5e9 terms one by one."""
    x, window = np.ones((1, 70_000)), region((1, 70_000), (1,), (34_999, 34_999)).window
    counts = [
        count for _, own, under in views(x, window, x.shape, is_reduced=True) for count in over(np.add, under, own)[0]
    ]
    assert counts[:3] + counts[-1:] == [35_000, 35_001, 35_002, 35_000]
    assert len(list(views(x, window, x.shape, is_reduced=True))) < 5


def test_one_place_that_sees_much_comes_in_blocks() -> None:
    x, window = np.broadcast_to(np.float32(1), (1, 3 << 20)), Window((3 << 20,), (1,), (1,), (0,))
    ((_, own, under),) = views(x, window, (1, 1), is_reduced=True)
    assert isinstance(in_blocks(under, own), Blocks)
    assert over(np.add, in_blocks(under, own), own).tolist() == [[3 << 20]]


def test_numbers_of_channels_lie_beside_a_tensor() -> None:
    assert of_channels(np.arange(3), 4).shape == (1, 3, 1, 1)
    assert of_channels(None, 4) is None
    assert of_channels(0, 4) == 0


def test_numbers_of_each_channel_may_have_errors() -> None:
    x = Ball(np.array([1.0, 2.0]), np.array([0.5, 0.0]))
    made = of_channels(x, 3)
    assert made.shape == (1, 2, 1)
    assert made.radius.reshape(-1).tolist() == [0.5, 0.0]


# ---- how much windows see
BLOCK = 1000


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks have 1,000 elements, and parts of tensors 2,000."""
    monkeypatch.setattr(of_windows, "BLOCK", BLOCK)
    monkeypatch.setattr(of_windows, "LARGE", 2 * BLOCK)


def line(size: int, stride: int = 1, dilation: int = 1, padding: int = 0) -> Window:
    return Window((size,), (stride,), (dilation,), (padding,))


@pytest.mark.usefixtures("small_blocks")
def test_places_that_see_elements_of_their_own_fill_a_block() -> None:
    assert places_at_once((500,), line(10), (509,)) == 100
    assert places_at_once((500,), line(10), (509,), is_whole=True) == 100
    assert places_at_once((2, 3), line(5000), (9000,)) == 1


@pytest.mark.usefixtures("small_blocks")
def test_what_is_beyond_the_edges_takes_nothing_unless_the_window_is_whole() -> None:
    far = line(10, dilation=300)
    assert places_at_once((5000,), far, (450,)) == 500
    assert places_at_once((5000,), far, (450,), is_whole=True) == 100


@pytest.mark.usefixtures("small_blocks")
def test_places_of_long_runs_share_what_is_reduced() -> None:
    """900 places that see 100 elements each are 999 elements; each is a run, which is one term."""
    assert places_at_once((900,), line(100), (999,), is_reduced=True) == 1280
    assert places_at_once((900,), line(20), (919,), is_reduced=True) == 50


@pytest.mark.usefixtures("small_blocks")
def test_terms_are_counted_by_blocks() -> None:
    assert terms_of((500,), line(10), (509,)) == 5 * (100 * 10 + BLOCK)
    assert terms_of((900,), line(100), (999,), is_reduced=True) == 16 * 999 + 1280 + BLOCK


# ---- results of the windows that an element is in
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


@pytest.mark.slow
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


# ---- regions around an element
Array = np.ndarray[Any, Any]
TENSOR_SIZES = (2, 7, 3)
TENSOR = (np.random.default_rng(1).permutation(42) + 1).astype(np.float32).reshape(TENSOR_SIZES)


@pytest.fixture(params=[1, 8, 21, 65_536])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cut into tiles of so many elements."""
    monkeypatch.setattr(of_windows, "BLOCK", request.param)
    return int(request.param)


def found(install: Install, formula: Any, declared: Neighbours) -> engine.ComputedOutput:
    install("ACTIVATION_RELU", Kernel(formula, declared))
    desc = described("ACTIVATION_RELU", InputTensor=("FLOAT32", *TENSOR_SIZES), OutputTensor=("FLOAT32", *TENSOR_SIZES))
    return engine.evaluate(desc, {"InputTensor": TENSOR})["OutputTensor"]


def shifted(by: int) -> Array:
    """Return the elements so many places further along the second axis, 0 beyond the edge."""
    moved = np.zeros_like(TENSOR)
    for at in range(TENSOR_SIZES[1]):
        if 0 <= at + by < TENSOR_SIZES[1]:
            moved[:, at] = TENSOR[:, at + by]
    return moved


@pytest.mark.usefixtures("block")
def test_each_result_has_what_is_around_its_element(install: Install) -> None:
    def total(input: Any, *, region: Any) -> Any:
        return region.sums(input) * 100 + region.inner(input)

    computed = found(install, total, Neighbours(lambda _: ((1,), (1, 2))))
    assert (computed.values == (shifted(-1) + TENSOR + shifted(1) + shifted(2)) * 100 + TENSOR).all()


@pytest.mark.usefixtures("block")
def test_each_result_may_have_what_is_around_that_as_well(install: Install) -> None:
    def spread(input: Any, *, region: Any, inside: Any) -> Any:
        sums = np.where(inside, region.sums(input) + 1, 0)
        return PartlyUndefined(region.sums(sums), region.any(sums == 0))

    computed = found(install, spread, Neighbours(lambda _: ((1,), (0, 1)), is_twice=True))
    after = np.ones_like(TENSOR)
    after[:, -1] = 0
    assert (computed.values == TENSOR + shifted(1) + 1 + (shifted(1) + shifted(2) + 1) * after).all()
    assert computed.undefined is not None
    assert (computed.undefined == (after == 0)).all()


def test_regions_that_have_everything_are_groups(install: Install) -> None:
    def mean(input: Any, *, region: Any, inside: Any) -> Any:
        assert inside is True
        return region.inner(input) - region.sums(input)

    computed = found(install, mean, Neighbours(lambda _: ((1,), (6, 7)), is_twice=True))
    assert (computed.values == TENSOR - TENSOR.sum(axis=1, keepdims=True)).all()
