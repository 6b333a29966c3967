"""How matrix products are cut into tiles: every element once, none too large, and the same results."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import numpy as np
import pytest

from dmlcheck.reference.arrays.blocks import Blocks, as_balls
from dmlcheck.reference.ball.numbers import Arithmetic, Ball
from dmlcheck.reference.functions.products import dot
from dmlcheck.reference.tiling import products

Array = np.ndarray[Any, Any]

SIZES = [((1, 1), 1), ((5, 7), 3), ((2, 3, 5, 7), 11), ((9, 1, 4), 2), ((3, 4, 1, 40), 30), ((30, 40), 50)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into small parts."""
    monkeypatch.setattr(products, "LARGEST", 60)
    monkeypatch.setattr(products, "LONG", 16)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("sizes", "length"), SIZES)
def test_boxes_have_every_element_once_and_are_not_large(sizes: tuple[int, ...], length: int) -> None:
    count = np.zeros(sizes, int)
    for index in products.boxes(sizes, length):
        part = count[index]
        part += 1
        *batch, rows, columns = part.shape
        assert math.prod(batch) * max(rows * length, columns * length, rows * columns) <= 60
    assert (count == 1).all()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("whole", [(0,), (1,), (-1,), (2, 3), (0, -1), (3, 2, 1, 0)])
def test_boxes_are_whole_where_they_have_to_be(whole: tuple[int, ...]) -> None:
    sizes, count = (3, 4, 5, 6), np.zeros((3, 4, 5, 6), int)
    for index in products.boxes(sizes, 7, whole):
        part = count[index]
        part += 1
        assert all(part.shape[axis] == sizes[axis] for axis in whole)
    assert (count == 1).all()


def test_small_products_are_one_tile() -> None:
    assert len(list(products.boxes((8, 16, 64, 64), 32))) == 1
    assert len(list(products.boxes((1024, 1024), 1024))) == 1


def factors(*batch: int, m: int = 6, k: int = 50, n: int = 7) -> tuple[Array, Array]:
    generator = np.random.default_rng(k)
    return tuple(generator.integers(-9, 9, shape).astype(np.float32) for shape in ((*batch, m, k), (*batch, k, n)))


def computed(a: Array, b: Array, *more: Array | None, arithmetic: Arithmetic | None = None) -> Any:
    """Return the product of two factors plus what is given, from its tiles."""
    sizes = (*a.shape[:-1], b.shape[-1])
    found = [np.empty(sizes), np.empty(sizes)]
    tensors = {"a": a, "b": b, **{f"c{number}": x for number, x in enumerate(more)}}
    for tile in products.products(lambda a, b, *c: sum((x for x in c if x is not None), dot(a, b)), tensors):
        operands = tile.operands if arithmetic is None else [as_balls(x, arithmetic) for x in tile.operands]
        part = tile.formula(*operands)
        found[0][tile.where] = part.value if isinstance(part, Ball) else part
        found[1][tile.where] = part.radius if isinstance(part, Ball) else 0
    return found


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("k", [1, 5, 16, 17, 50, 200])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_the_tiles_are_parts_of_the_product(batch: tuple[int, ...], k: int) -> None:
    a, b = factors(*batch, k=k)
    column = np.arange(6.0).reshape([1] * len(batch) + [6, 1])
    row = np.arange(7.0).reshape([1] * len(batch) + [1, 7]) * 10
    assert (computed(a, b, column, None, row)[0] == a @ b + column + row).all()


def test_a_product_in_blocks_has_the_bound_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = factors(2, k=300)
    for is_likely in (False, True):
        arithmetic = Arithmetic(is_likely=is_likely)
        whole = computed(a, b, arithmetic=arithmetic)
        monkeypatch.setattr(products, "LONG", 16)
        monkeypatch.setattr(products, "LARGEST", 60)
        cut = computed(a, b, arithmetic=arithmetic)
        monkeypatch.undo()
        assert cut[0] == pytest.approx(whole[0])
        # Which terms are equal is seen in a sample of them.
        assert cut[1] == pytest.approx(whole[1], rel=0.3 if is_likely else None)
        assert (whole[1] > 0).all()


def test_long_factors_come_in_blocks() -> None:
    a, b = factors(k=products.LONG + 1)
    (tile,) = products.products(dot, {"a": a, "b": b})
    assert [isinstance(x, Blocks) for x in tile.operands] == [True, True]
    (tile,) = products.products(dot, {"a": a[:, 1:], "b": b[1:]})
    assert [isinstance(x, Blocks) for x in tile.operands] == [False, False]


def test_tensors_are_let_go_with_the_last_tile() -> None:
    a, b = np.ones((3, 4), np.float32), np.ones((4, 2), np.float32)
    held = [weakref.ref(x) for x in (a, b)]
    gc.disable()
    try:
        assert len(list(products.products(dot, {"a": a, "b": b}))) == 1
        del a, b
        assert [x() for x in held] == [None, None]
    finally:
        gc.enable()
