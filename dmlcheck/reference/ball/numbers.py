"""Ball arithmetic as formulas and the engine use it: balls, conditions, and all operations on them.

A formula runs on float64 arrays for its value, and on balls for the range of an implementation's results: each
operation adds the rounding that an implementation makes in it, and carries the radii of its operands through to its
result. Where an operation jumps within the radius of its operand, the ball reaches the other side of the jump and no
further. An infinite radius says that the result has no limit, as near a pole.
"""

from __future__ import annotations

import numpy as np

from dmlcheck.reference.ball import elementwise, reductions, sums_of_products
from dmlcheck.reference.ball.ball import (
    FUNCTIONS,
    OPERATIONS,
    REDUCTIONS,
    Ball,
    Condition,
    NoBound,
    as_condition,
)
from dmlcheck.reference.ball.elementwise import elementary
from dmlcheck.reference.ball.errors import Arithmetic, Array, summing_error
from dmlcheck.reference.ball.operands import (
    hull,
    kept_in_half,
    of_array,
    radius,
    raw,
    unmoved,
    where,
    with_roundings_of,
)
from dmlcheck.reference.ball.reductions import plus_start, total, total_of_parts, total_of_shared
from dmlcheck.reference.ball.sums_of_products import product, product_of_parts, sum_of_products

__all__ = [
    "Arithmetic",
    "Array",
    "Ball",
    "Condition",
    "NoBound",
    "as_condition",
    "elementary",
    "hull",
    "kept_in_half",
    "of_array",
    "plus_start",
    "product",
    "product_of_parts",
    "radius",
    "raw",
    "sum_of_products",
    "summing_error",
    "total",
    "total_of_parts",
    "total_of_shared",
    "unmoved",
    "where",
    "with_roundings_of",
]

OPERATIONS.update({**elementwise.RULES, **sums_of_products.RULES})
REDUCTIONS.update(reductions.RULES)
FUNCTIONS.update({np.where: where, **elementwise.FUNCTIONS, **sums_of_products.FUNCTIONS})
