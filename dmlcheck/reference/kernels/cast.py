"""CAST."""

from __future__ import annotations

from typing import Any

from dmlcheck.reference.conversions import to_floats
from dmlcheck.reference.pieces import Kernel, elementwise, narrowed, truncated
from dmlcheck.values.number_formats import FORMATS


def cast(input: Any, *, input_type: str, output_type: str) -> Any:
    """x in the type of OutputTensor: floats without their fraction, integers modulo 2^bits, and the nearest float.

    Of a number between two floats either is right, of one beyond all of them infinity and the largest. Left open are
    floats that an integer type does not hold, and integers that an 8-bit or 16-bit one does not.
    """
    if output_type in FORMATS:
        return to_floats(input, input_type, output_type)
    return truncated(output_type, input) if input_type in FORMATS else narrowed(output_type, input)


KERNELS: dict[str, Kernel] = {
    "CAST": elementwise(cast),
}
