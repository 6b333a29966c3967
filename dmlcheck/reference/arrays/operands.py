"""The operands of a formula: as float64, int64 and uint64, as other numbers, or as balls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dmlcheck.reference.arrays.blocks import Blocks, blockwise
from dmlcheck.reference.ball.numbers import Arithmetic, Ball

Numbers = Callable[[Any], Any]


def as_numbers(x: Any, numbers: Numbers | None) -> Any:
    """Return an operand, or each tensor of a list, as float64, int64 or uint64, or as other numbers made of them."""
    if isinstance(x, list):
        return [as_numbers(part, numbers) for part in x]
    wide = widened(x)
    if numbers is None:
        return wide
    return blockwise(numbers, wide) if isinstance(wide, Blocks) else numbers(wide)


def widened(x: Any) -> Any:
    """Return elements as float64, int64 or uint64."""
    if isinstance(x, Blocks):
        return blockwise(widened, x)
    return x.astype(_WIDE[x.dtype.kind], copy=False) if isinstance(x, np.ndarray) else x


_WIDE: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.uint64}


def as_balls(x: Any, arithmetic: Arithmetic, *, is_exact: bool = False) -> Any:
    """Return an operand as balls if it has floats; integers as int64 or uint64, and exact operands as they are."""
    if isinstance(x, list):
        return [as_balls(part, arithmetic, is_exact=is_exact) for part in x]
    if isinstance(x, Blocks):
        return blockwise(partial(as_balls, arithmetic=arithmetic, is_exact=is_exact), x)
    if is_exact or not isinstance(x, np.ndarray):
        return x
    return Ball(x, 0.0, arithmetic) if x.dtype.kind == "f" else widened(x)
