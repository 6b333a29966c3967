"""Values as text, and the way back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_values import BINARY, INFINITY, LIMITS, WIDTHS, power_of_two, written

from dmlcheck.values.write import values_text


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(sorted(WIDTHS)), st.data())
def test_printed_values_read_back_to_the_same_bits(data_type: str, data: st.DataObject) -> None:
    kind, width = WIDTHS[data_type][0], int(WIDTHS[data_type][1]) * 8
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
    if data_type in BINARY:
        patterns = data.draw(
            st.lists(st.integers(0, 2**width - 1), min_size=math.prod(sizes), max_size=math.prod(sizes))
        )
        values = np.array(patterns, dtype=f"u{width // 8}").view(WIDTHS[data_type]).reshape(sizes)
    else:
        numbers = st.integers(*LIMITS[data_type])
        values = np.array(
            data.draw(st.lists(numbers, min_size=math.prod(sizes), max_size=math.prod(sizes))), WIDTHS[data_type]
        )
        values = values.reshape(sizes)
    again, findings = written("".join(values_text(values, data_type)), data_type, *sizes)
    assert findings == []
    if kind == "f":
        assert np.array_equal(np.isnan(again), np.isnan(values))
        again, values = np.where(np.isnan(again), 0, again), np.where(np.isnan(values), 0, values)
    assert again.tobytes() == values.tobytes()


@pytest.mark.parametrize("width", [2, 4, 8])
def test_printed_edge_values_read_back_to_the_same_bits(width: int) -> None:
    data_type = f"FLOAT{8 * width}"
    precision, least, most = BINARY[data_type]
    numbers = [
        0.0, -0.0, 1.0, -1.0, 0.1, 2.0**least, 2.0 ** (least - precision + 1), -(2.0 ** (least - precision + 1)),
        float(power_of_two(most + 1) - power_of_two(most - precision + 1)), 2.0**precision, 2.0**precision - 1,
        INFINITY, -INFINITY, 1e4, 123456.0 / 1024, 1 / 3, 6e-5, 1 + 2.0 ** (1 - precision),
    ]  # fmt: skip
    values = np.array(numbers, dtype=f"f{width}")
    again, findings = written("".join(values_text(values, data_type)), data_type, len(numbers))
    assert findings == []
    assert again.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("values", "data_type", "text"),
    [
        (np.array([1, 2], np.int32), "INT32", "[1, 2]"),
        (np.array([[1.5, -0.0], [np.inf, np.nan]], np.float32), "FLOAT32", "[[1.5, -0.0], [.inf, .nan]]"),
        (np.array([[[0.1]], [[1e20]]], np.float32), "FLOAT32", "[[[0.1]], [[1.0e+20]]]"),
        (np.array([2**64 - 1], np.uint64), "UINT64", "[18446744073709551615]"),
        (np.array([6e-8, 65504], np.float16), "FLOAT16", "[6.0e-08, 65504]"),
        (np.float64(-np.inf), "FLOAT64", "[-.inf]"),
    ],
)
def test_values_are_printed_as_nested_flow_lists(values: Any, data_type: str, text: str) -> None:
    assert "".join(values_text(np.asarray(values), data_type)) == text


def test_marked_elements_are_printed_as_any() -> None:
    values, marks = np.array([[1, 2], [3, 4]], np.int32), np.array([[False, True], [False, False]])
    assert "".join(values_text(values, "INT32", marks)) == "[[1, any], [3, 4]]"
