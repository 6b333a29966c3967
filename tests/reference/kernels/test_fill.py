"""Constants, sequences and diagonals against plain Python, what is undefined, and the bounds of what is rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound

Array = np.ndarray[Any, Any]

NAN, INF = float("nan"), float("inf")


def built(operator: str, data_type: str, sizes: list[int], **fields: Any) -> OperatorDesc:
    """Return the desc of an operator with one output, whose scalars have its type."""
    output = {"OutputTensor": {"DataType": data_type, "Sizes": sizes}}
    kind = {} if operator == "DIAGONAL_MATRIX" else {"ValueDataType": data_type}
    return valid(operator, output | kind | fields)


def computed(operator: str, data_type: str, sizes: list[int], input: Array | None = None, **fields: Any) -> list[Any]:
    """Return the results in row-major order, None where they are undefined."""
    found = engine.evaluate(built(operator, data_type, sizes, **fields), given(input))["OutputTensor"]
    assert found.values.dtype == np.dtype(data_type.lower())
    marks = [False] * found.values.size if found.undefined is None else found.undefined.reshape(-1).tolist()
    return [None if mark else value for value, mark in zip(found.values.reshape(-1).tolist(), marks, strict=True)]


def given(input: Array | None) -> dict[str, Array]:
    return {} if input is None else {"InputTensor": input}


def bound(operator: str, data_type: str, sizes: list[int], *args: Any, **fields: Any) -> Bound:
    """Return the bound of all results."""
    desc = built(operator, data_type, sizes, **fields)
    return gathered(desc, {}, {"OutputTensor": np.ones(sizes, bool)}, *args)["OutputTensor"]


# ---- FILL_VALUE_SEQUENCE


def test_what_depends_on_the_order_of_a_sequence_is_the_sum_or_the_product() -> None:
    def sequence(start: float, delta: float) -> str:
        return str(computed("FILL_VALUE_SEQUENCE", "FLOAT32", [3], ValueStart=start, ValueDelta=delta))

    assert sequence(1, INF) == "[nan, inf, inf]"
    assert sequence(INF, -INF) == "[nan, nan, nan]"
    assert sequence(1, NAN) == "[nan, nan, nan]"
    assert sequence(NAN, 1) == "[nan, nan, nan]"
    assert sequence(INF, 1) == "[inf, inf, inf]"
    assert sequence(-INF, float(np.float32(3e38))) == "[-inf, -inf, nan]"  # as DirectML 1.13.1 and 1.15.4 give it
    assert sequence(float(np.float32(2e38)), float(np.float32(3e38))) == "[1.9999999360571385e+38, inf, inf]"
    first, step = float(np.float32(-3e38)), float(np.float32(2e38))
    assert sequence(first, step).endswith(", inf]")  # measured, as above; the sum is finite


@pytest.mark.parametrize(("data_type", "accumulate"), [("FLOAT32", "FLOAT32"), ("FLOAT16", "FLOAT16")])
@pytest.mark.parametrize(("start", "delta"), [(0, 0.1), (5, -0.3), (-1000, 0.7), (1e-3, 1e-3)])
def test_running_sums_and_products_are_within_the_bound(
    data_type: str, accumulate: str, start: float, delta: float
) -> None:
    dtype = np.dtype(data_type.lower())
    first, step = dtype.type(start), dtype.type(delta)
    fields = {"ValueStart": float(first), "ValueDelta": float(step)}
    count = 300
    allowed = bound("FILL_VALUE_SEQUENCE", data_type, [count], accumulate, **fields)
    running = np.add.accumulate(np.array([first] + [step] * (count - 1), dtype), dtype=dtype)
    products = first + np.arange(count).astype(dtype) * step
    reach = allowed.radius + np.spacing(np.abs(allowed.value).astype(dtype)).astype(np.float64)
    for found in (running, products):
        assert (np.abs(found.astype(np.float64) - allowed.value) <= reach).all()
    if data_type == "FLOAT32":
        assert not (abs(float(step)) <= reach)[:20].any()  # one step too many or too few


def test_the_bound_of_a_sequence_grows_with_the_additions() -> None:
    found = bound("FILL_VALUE_SEQUENCE", "FLOAT32", [5], ValueStart=1, ValueDelta=1)
    assert found.radius.tolist() == [0] + [(i + 1) * 2.0**-24 * (1 + i) for i in range(1, 5)]


# ---- DIAGONAL_MATRIX


def test_float64_has_the_value_as_float32_and_float16_either_neighbour() -> None:
    assert computed("DIAGONAL_MATRIX", "FLOAT64", [1, 1], Offset=0, Value=0.1) == [float(np.float32(0.1))]
    exact = bound("DIAGONAL_MATRIX", "FLOAT32", [1, 2], Offset=0, Value=0.1)
    assert exact.radius.tolist() == [0, 0]
    assert not exact.is_rounded
    found = bound("DIAGONAL_MATRIX", "FLOAT16", [1, 2], Offset=0, Value=2049.5)
    assert [side.value.tolist() for side in (found, *found.others)] == [[2050, 0], [2048, 0]]
    found = bound("DIAGONAL_MATRIX", "FLOAT16", [1, 2], Offset=0, Value=1e6)
    assert [side.value.tolist() for side in (found, *found.others)] == [[INF, 0], [65504, 0]]
    assert bound("DIAGONAL_MATRIX", "FLOAT16", [1, 2], Offset=0, Value=0.5).others == ()
