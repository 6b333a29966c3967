"""Requirements of several operators of ONNX: each function raises Inexpressible for a desc that does not meet it."""

from __future__ import annotations

from collections.abc import Collection

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.records import GraphValue, Inexpressible

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
