"""CAST."""

from __future__ import annotations

from typing import Any

from dmlcheck.reference.functions.conversions import as_directml_converts
from dmlcheck.reference.rows import Kernel, Spread, elementwise


def cast(input: Any, *, input_type: str, output_type: str) -> Any:
    """x in OutputTensor's data type.

    From floats to integers the fraction is dropped. Integers wrap modulo 2^bits. Floats are rounded to the nearest, and
    either neighbour is right; beyond the largest number, infinity and the largest number are right.
    """
    return as_directml_converts(input, input_type, output_type)


KERNELS: dict[str, Kernel] = {
    "CAST": elementwise(cast, spread=Spread(of_floats=True)),
}
