"""The tiles that a row of a kernel's table declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from installed import TOP_K, Install, described, install

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.kernels.convolution import CONVOLVED
from dmlcheck.reference.rows import ELEMENTS, Groups, InWindows, Kernel, Neighbours, PerWindow, Tiles, Windows
from dmlcheck.reference.tiling.plan import amount_of, may_be_much, tiles_of

__all__ = ["install"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_groups_have_the_axes_that_the_row_gives_of_any_field_and_places_in_all_outputs(install: Install) -> None:
    def top_k(input: Any, *, axes: tuple[int, ...], k: int) -> dict[str, Any]:
        return {"output_value": (input.tolist(), axes, k)}

    install("TOP_K", Kernel(top_k, Groups(lambda given: (given["axis"],)), is_exact=True))
    (tile,) = tiles_of(described("TOP_K", **TOP_K), {"InputTensor": X})
    assert tile.where == {"output_value": (), "output_index": ()}
    assert tile.formula(*tile.operands) == {"output_value": (X.tolist(), (1,), 2)}


def test_a_formula_has_the_attributes_of_its_own_desc_whichever_came_before() -> None:
    tensor = ("FLOAT32", 2)
    zero, minus_zero, two = (
        described("ACTIVATION_LINEAR", InputTensor=tensor, OutputTensor=tensor, Alpha=alpha, Beta=0.0)
        for alpha in (0.0, -0.0, 2.0)
    )
    found = [next(tiles_of(desc, {"InputTensor": X[0, :2]})).formula for desc in (zero, minus_zero, two, two, zero)]
    assert [str(formula.keywords["alpha"]) for formula in found] == ["0.0", "-0.0", "2.0", "2.0", "0.0"]


def test_a_formula_has_balls_for_an_arithmetic_alone() -> None:
    tensor = ("FLOAT32", 2)
    desc = described("ACTIVATION_LINEAR", InputTensor=tensor, OutputTensor=tensor, Alpha=0.1, Beta=0.0)
    half = Arithmetic(attributes="FLOAT16")  # it may round 0.1
    asked = (None, half, half._replace(is_likely=True), None)
    found = [next(tiles_of(desc, {"InputTensor": X[0, :2]}, one)).formula.keywords["alpha"] for one in asked]
    assert [getattr(alpha, "arithmetic", None) for alpha in found] == list(asked)


# ---- how much there is to compute, counted by hand
BLOCK = 1 << 16  # terms that a part takes at least


def desc(*sizes: int) -> TensorDesc:
    return TensorDesc("FLOAT32", sizes)


def amount(tiles: Tiles, given: Mapping[str, Any]) -> int:
    found = amount_of(tiles, given)
    assert found is not None
    return found.amount


def test_only_windows_products_and_neighbours_may_be_much_more_than_the_elements() -> None:
    assert not may_be_much(ELEMENTS)
    assert amount_of(ELEMENTS, {}) is None
    assert may_be_much(CONVOLVED)
    assert may_be_much(lambda _: ELEMENTS)


def test_products_are_those_of_each_output_element_with_the_filter_of_its_channel() -> None:
    """1 * 4 * 5 * 5 outputs of 2 groups, each of 3 channels by 2 by 2."""
    given = {"input": np.zeros((1, 6, 6, 6)), "filter": np.zeros((4, 3, 2, 2)), "output": desc(1, 4, 5, 5)}
    more = {"strides": [1, 1], "dilations": [1, 1], "start_padding": [0, 0], "group_count": 2}
    assert amount(CONVOLVED, given | more) == 100 * 12


def test_a_transposed_convolution_has_the_products_of_each_input_element_and_a_pass_for_each_phase() -> None:
    """1 * 6 * 3 * 3 inputs of 2 groups, each with 4 output channels by 2 by 2; 2 * 3 phases."""
    given = {"input": np.zeros((1, 6, 3, 3)), "filter": np.zeros((6, 4, 2, 2)), "output": desc(1, 8, 6, 9)}
    more = {"strides": [2, 3], "dilations": [1, 1], "start_padding": [0, 0], "group_count": 2, "direction": "BACKWARD"}
    assert amount(CONVOLVED, given | more) == 54 * 16 + 6 * 2**22


def test_windows_take_a_block_and_their_elements() -> None:
    """8 windows of 3 elements: one part, of the 21,845 places whose elements fit into a block."""
    each = Windows(lambda _: Window((3,), (1,), (1,), (0,)), is_reduced=lambda _: False)
    assert amount(each, {"input": np.zeros((1, 1, 10)), "output": desc(1, 1, 8)}) == 21_845 * 3 + BLOCK


def test_windows_that_contain_an_element_are_at_most_its_window_long() -> None:
    """8 elements in up to 3 windows; the 6 windows of 3 elements are one part."""
    window = Window((3,), (1,), (1,), (0,))
    given = {"input_gradient": np.zeros((1, 1, 6)), "output_gradient": desc(1, 1, 8)}
    assert amount(InWindows(window), given) == 24
    assert amount(InWindows(window, {"input": PerWindow(np.asarray, window)}), given) == 24 + 21_845 * 3 + BLOCK


def test_a_gradient_of_neighbours_takes_two_sums_over_the_neighbours_on_both_sides() -> None:
    given = {"input": np.zeros((1, 1, 40, 40))}
    both = amount(Neighbours(lambda _: ((3,), (3, 3))), given)
    assert amount(Neighbours(lambda _: ((3,), (1, 2)), is_twice=True), given) == 2 * both
    assert amount(Neighbours(lambda _: ((3,), (1, 2))), given) == 16_384 * 4 + BLOCK


def test_a_region_of_everything_is_summed_once() -> None:
    given = {"input": np.zeros((2, 5, 3, 1))}
    assert amount(Neighbours(lambda _: ((1,), (4, 4))), given) == 30
