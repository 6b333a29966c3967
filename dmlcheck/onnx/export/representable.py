"""The numbers of a data type, the rounding of other numbers to it, and refusals of what ONNX cannot have."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.shapes import pooled, pooled_like

_PACKED = {"FLOAT16": "<e", "FLOAT32": "<f", "FLOAT64": "<d"}


def is_float(data_type: str) -> bool:
    """Whether a type is a floating-point type."""
    return data_type in _PACKED


def rounded(value: float, data_type: str) -> float:
    """Return a number rounded to a float type; a number beyond its range becomes infinite."""
    packed = _PACKED[data_type]
    try:
        (held,) = struct.unpack(packed, struct.pack(packed, float(value)))
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return float(held)


def as_float32(value: float) -> float:
    """Return the number of a FLOAT field as DirectML reads it."""
    return rounded(value, "FLOAT32")


def fits(value: float, data_type: str) -> bool:
    """Whether a type has a number exactly; NaN counts as had by float types."""
    if is_float(data_type):
        return math.isnan(value) or rounded(value, data_type) == value
    if not math.isfinite(value) or value != int(value):
        return False
    kind, bits = DATA_TYPES[data_type]
    least = -(1 << (bits - 1)) if kind == "int" else 0
    return least <= value < least + (1 << bits)


def as_element(value: float, data_type: str) -> float:
    """Return a number as an element of a tensor's type, without its fraction for integers; Inexpressible outside."""
    if is_float(data_type):
        return rounded(value, data_type)
    whole = math.trunc(value) if math.isfinite(value) else value
    if not fits(whole, data_type):
        raise Inexpressible(f"{value:g} is not a number of {data_type}")
    return whole


def multiplies_exactly(value: float) -> bool:
    """Whether a product with a number is exact, apart from overflow and results below the normal numbers."""
    return value == 0 or (math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5)


# ---- requirements of several operators: Inexpressible for a desc that does not meet one


FLOATS = ("FLOAT16", "FLOAT32", "FLOAT64")
BYTES = ("INT8", "UINT8")
_MOST_INDICES = 2**22  # 32 MiB


def require_type(type: str, x: GraphValue, types: Collection[str]) -> None:
    """Refuse a value of a type that an operator of ONNX does not have."""
    if x.data_type not in types:
        raise Inexpressible(f"ONNX's {type} has no {x.data_type}")


def require_few_indices(count: int) -> None:
    """Refuse more constant indices than a model should hold."""
    if count > _MOST_INDICES:
        raise Inexpressible(f"the model would hold {count:,} indices")


def positive(desc: OperatorDesc, name: str) -> list[int]:
    """Return a field whose numbers ONNX wants to be 1 or more."""
    numbers = list(desc.values[name])
    if not all(number >= 1 for number in numbers):
        raise Inexpressible(f"{name} has a 0")
    return numbers


# ---- attributes of windows


WINDOW_FIELDS = ("WindowSize", "Strides", "StartPadding", "EndPadding", "Dilations")


def window(desc: OperatorDesc) -> dict[str, Any]:
    """Return the attributes of a window; its dilations only if they are not all 1, ceil_mode only where it is on."""
    dilations = positive(desc, "Dilations") if "Dilations" in desc.values else []
    return {
        "kernel_shape": list(desc.values["WindowSize"]),
        "pads": [*desc.values["StartPadding"], *desc.values["EndPadding"]],
        "strides": list(desc.values["Strides"]),
        "dilations": dilations if any(step > 1 for step in dilations) else None,
        "ceil_mode": 1 if _is_rounded_up(desc) else None,
    }


def _is_rounded_up(desc: OperatorDesc) -> bool:
    """Return whether the sizes of a desc are rounded up, all that have a remainder."""
    values = desc.values
    input, output = (values[name].sizes for name in ("InputTensor", "OutputTensor"))
    given = [values[name] for name in WINDOW_FIELDS if name in values]
    down = pooled(input, *given)
    if down is None or output[2:] == down:
        return False
    if output[2:] != pooled_like([size + 1 for size in down], input, *given):
        raise Inexpressible("ONNX rounds the sizes of all dimensions up, or of none")
    return True


def window_attributes(desc: OperatorDesc, kernel: GraphValue) -> dict[str, Any]:
    """Return the attributes of ONNX's convolutions for the fields of a window."""
    return {
        "dilations": positive(desc, "Dilations"),
        "group": desc.values["GroupCount"],
        "kernel_shape": list(kernel.sizes[2:]),
        "pads": [*desc.values["StartPadding"], *desc.values["EndPadding"]],
        "strides": list(desc.values["Strides"]),
    }
