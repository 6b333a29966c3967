"""The tiles that a row of a kernel's table declares."""

from __future__ import annotations

from typing import Any

import numpy as np
from installed import TOP_K, Install, described, install

from dmlcheck.reference.ball.numbers import Arithmetic
from dmlcheck.reference.rows import Groups, Kernel
from dmlcheck.reference.tiling.plan import tiles_of

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
