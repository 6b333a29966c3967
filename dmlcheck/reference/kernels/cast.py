"""CAST."""

from __future__ import annotations

from typing import Any

from dmlcheck.reference.conversions import to_floats
from dmlcheck.reference.data_types import narrowed, truncated
from dmlcheck.reference.rows import Kernel, elementwise
from dmlcheck.values.number_formats import FORMATS


def cast(input: Any, *, input_type: str, output_type: str) -> Any:
    """x in OutputTensor's data type.

    From floats to integers the fraction is dropped. Integers wrap modulo 2^bits. Floats are rounded to the nearest, and
    either neighbour is right; beyond the largest number, infinity and the largest number are right.
    """
    if output_type in FORMATS:
        return to_floats(input, input_type, output_type)
    return truncated(output_type, input) if input_type in FORMATS else narrowed(output_type, input)


KERNELS: dict[str, Kernel] = {
    "CAST": elementwise(cast),
}
