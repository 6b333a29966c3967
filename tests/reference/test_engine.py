"""The engine: how a kernel gets its desc, what becomes of its tiles, in any number of threads, and of its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from installed import MAX_POOLING, TOP_K, Install, described, floats, install

from dmlcheck.reference import engine
from dmlcheck.reference.arrays.blocks import BLOCK, Blocks
from dmlcheck.reference.arrays.needs import LINES
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.results import Approximate, PartlyUndefined
from dmlcheck.reference.rows import EVERYTHING, Cut, Kernel, along, elementwise, exact

__all__ = ["install"]
Array = np.ndarray[Any, Any]
INF, NAN = float("inf"), float("nan")


def each_along(axis: int) -> Cut:
    """Return tiles of one place along an axis each."""
    return Cut((axis,), depth=lambda _: BLOCK)


# ---- tiles


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


def test_several_outputs_fill_up_by_name_and_keep_what_is_undefined_apart(install: Install) -> None:
    def top_k(input: Any, *, k: int) -> Any:
        assert input.shape == (1, 3)
        order = np.argsort(-input, kind="stable")[..., :k]
        values = np.take_along_axis(input, order, -1)
        return {"output_value": values, "output_index": PartlyUndefined(order, values == 5)}

    install("TOP_K", Kernel(top_k, each_along(0)._replace(needs={"input": LINES})))
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
    def max_pooling2(input: Any) -> Any:
        return {"output": input, "output_indices": np.arange(4).reshape(input.shape)}

    install("MAX_POOLING2", Kernel(max_pooling2, EVERYTHING))
    extra = {"OutputIndicesTensor": ("UINT64", 1, 1, 2, 2)} if has_indices else {}
    x = floats(1, 2, 3, 4).reshape(1, 1, 2, 2)
    found = engine.evaluate(described("MAX_POOLING2", **MAX_POOLING, **extra), {"InputTensor": x})
    assert found["OutputTensor"].values.tolist() == x.tolist()
    assert set(found) == {"OutputTensor", "OutputIndicesTensor"} if has_indices else {"OutputTensor"}


def test_marks_add_up(install: Install) -> None:
    install(
        "ELEMENT_WISE_IDENTITY",
        elementwise(lambda input: PartlyUndefined(PartlyUndefined(input, input == 1), input == 2)),
    )
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
    install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: Approximate(values + 0 * input, errors, settle)))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 6), OutputTensor=("FLOAT32", 6))
    found = engine.evaluate(desc, {"InputTensor": np.zeros(6, np.float32)})["OutputTensor"].values
    assert found.tolist()[:5] == [1, 1, 7, 1, INF]
    assert np.isnan(found[5])
    assert asked == [2]


def test_results_in_blocks_are_rounded_block_by_block(install: Install) -> None:
    def in_blocks(input: Any, *_: Any) -> Any:
        return Blocks(input.shape, [(slice(k, k + 2),) for k in (0, 2, 4)], input.__getitem__)

    def formula(input: Any) -> Any:
        assert isinstance(input, Blocks)
        return PartlyUndefined(input * 3, input == 4)

    install("ELEMENT_WISE_IDENTITY", Kernel(formula, Cut((), {"input": in_blocks})))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 5), OutputTensor=("FLOAT32", 5))
    inputs = {"InputTensor": floats(1, 2, 3, 4, 5)}
    result = engine.evaluate(desc, inputs)["OutputTensor"]
    assert result.values.tolist() == [3, 6, 9, 12, 15]
    assert result.undefined.tolist() == [False, False, False, True, False]
    bound = gathered(desc, inputs, {"OutputTensor": np.array([0, 1, 0, 1, 0], bool)})["OutputTensor"]
    assert bound.value.tolist() == [6, 12]
    assert bound.undefined.tolist() == [False, True]


def test_integers_wrap_or_are_undefined_as_the_row_says(install: Install) -> None:
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("INT8", 3), OutputTensor=("INT8", 3))
    wide = described("ELEMENT_WISE_IDENTITY", InputTensor=("INT32", 3), OutputTensor=("INT32", 3))
    for overflow, narrow_undefined, wide_undefined in (
        ("", None, None),
        ("narrow", [0, 1, 1], None),
        ("all", [0, 1, 1], [0, 0, 1]),
    ):
        install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: input * 2, overflow=overflow))
        found = engine.evaluate(desc, {"InputTensor": np.array([1, 100, -100], np.int8)})["OutputTensor"]
        assert found.values.tolist() == [2, -56, 56]
        assert (None if found.undefined is None else found.undefined.tolist()) == narrow_undefined
        found = engine.evaluate(wide, {"InputTensor": np.array([1, 100, 2**30], np.int32)})["OutputTensor"]
        assert found.values.tolist() == [2, 200, -(2**31)]
        assert (None if found.undefined is None else found.undefined.tolist()) == wide_undefined


# ---- bounds


def test_a_bound_runs_only_the_tiles_that_are_asked_for_and_keeps_their_order(install: Install) -> None:
    ran: list[int] = []

    def column(input: Any, *, places: Any) -> Any:
        ran.extend(places[1])
        return PartlyUndefined(input * 3, input == 7)

    install("ELEMENT_WISE_IDENTITY", Kernel(column, each_along(1)))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 3, 3), OutputTensor=("FLOAT32", 3, 3))
    x = floats(0.1, 2, 3, 4, 5, 6, 7, 8, 0.3).reshape(3, 3)
    asked = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]], bool)
    found = gathered(desc, {"InputTensor": x}, {"OutputTensor": np.asfortranarray(asked)})["OutputTensor"]
    assert ran == [0, 2]
    assert found.value.tolist() == [3 * float(value) for value in x[asked]]
    assert found.undefined.tolist() == [False, False, True, False]
    assert (found.radius <= 2.0**-24 * np.abs(found.value)).all()
    assert found.radius.any()


def test_several_outputs_have_bounds_of_their_own(install: Install) -> None:
    def top_k(input: Any) -> Any:
        assert isinstance(input, Ball)
        return {"output_value": input[:, :2] / 3, "output_index": np.arange(4).reshape(2, 2)}

    install("TOP_K", Kernel(top_k, along(-1)))
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
