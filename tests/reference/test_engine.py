"""The engine: how a kernel gets its desc, what becomes of its pieces, in any number of threads, and of its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from installed import MAX_POOLING, TOP_K, Install, described, floats, install

from dmlcheck.reference import engine
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.pieces import InDoubt, Open
from dmlcheck.reference.rows import Kernel, elementwise, exact
from dmlcheck.reference.tiling.blocks import Blocks
from dmlcheck.reference.tiling.piece import Piece

__all__ = ["install"]
Array = np.ndarray[Any, Any]
INF, NAN = float("inf"), float("nan")


# ---- pieces


def test_operands_are_widened_unless_the_formula_rounds_nothing(install: Install) -> None:
    seen: list[Any] = []

    def note(input: Any) -> Any:
        seen.append(input.dtype)
        return input

    for data_type, wide in (("FLOAT16", "float64"), ("INT8", "int64"), ("UINT32", "uint64")):
        desc = described("ELEMENT_WISE_IDENTITY", InputTensor=(data_type, 2), OutputTensor=(data_type, 2))
        for row in (elementwise(note), exact(note)):
            install("ELEMENT_WISE_IDENTITY", row)
            engine.evaluate(desc, {"InputTensor": np.ones(2, data_type.lower())})
        assert seen[-2:] == [np.dtype(wide), np.dtype(data_type.lower())]


def test_several_outputs_fill_up_by_name_and_keep_what_is_left_open_apart(install: Install) -> None:
    def top_k(input: Any, *, k: int) -> Iterator[Piece]:
        def row(x: Any) -> Any:
            order = np.argsort(-x, kind="stable")[..., :k]
            values = np.take_along_axis(x, order, -1)
            return {"output_value": values, "output_index": Open(order, values == 5)}

        for n in range(len(input)):
            yield Piece({"output_value": n, "output_index": n}, row, (input[n],))

    install("TOP_K", Kernel(top_k))
    desc = described("TOP_K", **TOP_K)
    x = floats(3, 5, 4, 1, 2, 0).reshape(2, 3)
    found = engine.evaluate(desc, {"InputTensor": x})
    assert found["OutputValueTensor"].values.tolist() == [[5, 4], [2, 1]]
    assert found["OutputValueTensor"].undefined is None
    assert found["OutputIndexTensor"].values.tolist() == [[1, 2], [1, 0]]
    assert found["OutputIndexTensor"].values.dtype == np.uint32
    assert found["OutputIndexTensor"].undefined.tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("has_indices", [False, True])
def test_what_a_kernel_says_of_an_output_that_the_desc_leaves_out_is_dropped(
    install: Install, has_indices: bool
) -> None:
    def max_pooling2(input: Any) -> Iterator[Piece]:
        where = dict.fromkeys(("output", "output_indices"), ())
        yield Piece(where, lambda x: {"output": x, "output_indices": np.arange(4)}, (input,))

    install("MAX_POOLING2", Kernel(max_pooling2))
    extra = {"OutputIndicesTensor": ("UINT64", 1, 1, 2, 2)} if has_indices else {}
    x = floats(1, 2, 3, 4).reshape(1, 1, 2, 2)
    found = engine.evaluate(described("MAX_POOLING2", **MAX_POOLING, **extra), {"InputTensor": x})
    assert found["OutputTensor"].values.tolist() == x.tolist()
    assert set(found) == {"OutputTensor", "OutputIndicesTensor"} if has_indices else {"OutputTensor"}


def test_marks_add_up(install: Install) -> None:
    install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: Open(Open(input, input == 1), input == 2)))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 3), OutputTensor=("FLOAT32", 3))
    result = engine.evaluate(desc, {"InputTensor": floats(1, 2, 3)})["OutputTensor"]
    assert result.values.tolist() == [1, 2, 3]
    assert result.undefined.tolist() == [True, True, False]


def test_only_results_whose_error_may_show_are_computed_exactly(install: Install) -> None:
    asked: list[int] = []

    def settle(at: Array) -> Array:
        asked.extend(at.tolist())
        return np.full(at.size, 7.0)

    half = 1 + 2.0**-24  # halfway between two FLOAT32
    values, errors = np.array([1, half, half, half, INF, NAN]), np.array([2.0**-30, 2.0**-60, 2.0**-50, 0, INF, NAN])
    install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: InDoubt(values + 0 * input, errors, settle)))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 6), OutputTensor=("FLOAT32", 6))
    found = engine.evaluate(desc, {"InputTensor": np.zeros(6, np.float32)})["OutputTensor"].values
    assert found.tolist()[:5] == [1, 1, 7, 1, INF]
    assert np.isnan(found[5])
    assert asked == [2]


def test_results_in_blocks_are_rounded_block_by_block(install: Install) -> None:
    def blocks(input: Any) -> Iterator[Piece]:
        cuts = [(slice(k, k + 2),) for k in (0, 2, 4)]
        yield Piece((), lambda x: Open(x * 3, x == 4), (Blocks(input.shape, cuts, input.__getitem__),))

    install("ELEMENT_WISE_IDENTITY", Kernel(blocks))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 5), OutputTensor=("FLOAT32", 5))
    inputs = {"InputTensor": floats(1, 2, 3, 4, 5)}
    result = engine.evaluate(desc, inputs)["OutputTensor"]
    assert result.values.tolist() == [3, 6, 9, 12, 15]
    assert result.undefined.tolist() == [False, False, False, True, False]
    bound = gathered(desc, inputs, {"OutputTensor": np.array([0, 1, 0, 1, 0], bool)})["OutputTensor"]
    assert bound.value.tolist() == [6, 12]
    assert bound.undefined.tolist() == [False, True]


def test_integers_wrap_or_are_left_open_as_the_row_says(install: Install) -> None:
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("INT8", 3), OutputTensor=("INT8", 3))
    wide = described("ELEMENT_WISE_IDENTITY", InputTensor=("INT32", 3), OutputTensor=("INT32", 3))
    for overflow, narrow_open, wide_open in (
        ("", None, None),
        ("narrow", [0, 1, 1], None),
        ("all", [0, 1, 1], [0, 0, 1]),
    ):
        install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: input * 2, overflow=overflow))
        found = engine.evaluate(desc, {"InputTensor": np.array([1, 100, -100], np.int8)})["OutputTensor"]
        assert found.values.tolist() == [2, -56, 56]
        assert (None if found.undefined is None else found.undefined.tolist()) == narrow_open
        found = engine.evaluate(wide, {"InputTensor": np.array([1, 100, 2**30], np.int32)})["OutputTensor"]
        assert found.values.tolist() == [2, 200, -(2**31)]
        assert (None if found.undefined is None else found.undefined.tolist()) == wide_open


# ---- bounds


def test_a_bound_runs_only_the_pieces_that_are_asked_for_and_keeps_their_order(install: Install) -> None:
    ran: list[int] = []

    def rows(input: Any) -> Iterator[Piece]:
        def formula(n: int, x: Any) -> Any:
            ran.append(n)
            return Open(x * 3, x == 7)

        for n in (2, 0, 1):
            yield Piece(n, partial(formula, n), (input[n],))

    install("ELEMENT_WISE_IDENTITY", Kernel(rows))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 3, 3), OutputTensor=("FLOAT32", 3, 3))
    x = floats(0.1, 2, 3, 4, 5, 6, 7, 8, 0.3).reshape(3, 3)
    asked = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]], bool)
    found = gathered(desc, {"InputTensor": x}, {"OutputTensor": np.asfortranarray(asked)})["OutputTensor"]
    assert ran == [2, 0]
    assert found.value.tolist() == [3 * float(value) for value in x[asked]]
    assert found.undefined.tolist() == [False, False, True, False]
    assert (found.radius <= 2.0**-24 * np.abs(found.value)).all()
    assert found.radius.any()


def test_several_outputs_have_bounds_of_their_own(install: Install) -> None:
    def top_k(input: Any) -> Iterator[Piece]:
        def formula(x: Any) -> Any:
            assert isinstance(x, Ball)
            return {"output_value": x[:, :2] / 3, "output_index": np.arange(4).reshape(2, 2)}

        yield Piece({"output_value": (), "output_index": ()}, formula, (input,))

    install("TOP_K", Kernel(top_k))
    x = floats(3, 6, 0, 1, 9, 0).reshape(2, 3)
    masks = {
        "OutputValueTensor": np.array([[0, 1], [1, 0]], bool),
        "OutputIndexTensor": np.array([[0, 0], [0, 1]], bool),
    }
    found = gathered(described("TOP_K", **TOP_K), {"InputTensor": x}, masks)
    assert found["OutputValueTensor"].value.tolist() == [2, 1 / 3]
    assert found["OutputValueTensor"].radius[1] > 0
    assert found["OutputIndexTensor"].value.tolist() == [3]
    assert found["OutputIndexTensor"].radius.tolist() == [0]


@pytest.mark.parametrize(("data_type", "is_tracked"), [("FLOAT16", True), ("FLOAT32", False)])
def test_a_float_attribute_may_be_rounded_where_a_tensor_is_float16(
    install: Install, data_type: str, is_tracked: bool
) -> None:
    seen: list[Any] = []

    def linear(input: Any, *, alpha: Any) -> Any:
        seen.append(alpha)
        return input * alpha

    install("ACTIVATION_LINEAR", elementwise(linear))
    desc = described("ACTIVATION_LINEAR", InputTensor=(data_type, 1), OutputTensor=(data_type, 1), Alpha=0.1, Beta=0)
    inputs = {"InputTensor": np.ones(1, data_type.lower())}
    engine.evaluate(desc, inputs)
    gathered(desc, inputs, {"OutputTensor": np.ones(1, bool)})
    assert isinstance(seen[0], float)
    assert isinstance(seen[1], Ball) == is_tracked
