"""Expected values, in which an element may be `any`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.values.expected import read_expected
from dmlcheck.values.literals import Source


def read(raw: Any, data_type: str = "FLOAT32", *sizes: int, **layout: Any) -> tuple[Any, Any, list[Finding]]:
    """Return the values, the mask of `any`, and what is wrong."""
    tensor = TensorDesc(data_type, sizes or (2, 2), **layout)
    (values, mask), findings = collected(read_expected("T", tensor, raw, ("outputs", "T"), Source()))
    return values, mask, findings


@pytest.mark.parametrize("raw", [[1, 2, 3, 4], [[1, 2], [3, 4]], {"fill": 0}, [[1, "nan"], ["0x1p+1", 4]]])
def test_without_any_there_is_no_mask(raw: Any) -> None:
    values, mask, findings = read(raw)
    assert (values.shape, mask, findings) == ((2, 2), None, [])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([1, "any", 3, 4], [[False, True], [False, False]]),
        ([[1, 2], ["any", 4.5]], [[False, False], [True, False]]),
        ([[1, "Any"], ["nan", " any "]], [[False, True], [False, True]]),
        ({"fill": "any"}, [[True, True], [True, True]]),
        ({"bits": [[0, 0x3F800000], ["any", 0]]}, [[False, False], [True, False]]),
        ({"buffer": [1, 2, "any", 4]}, [[False, False], [True, False]]),
    ],
)
def test_elements_that_are_any_are_in_the_mask(raw: Any, expected: Any) -> None:
    values, mask, findings = read(raw)
    assert (mask.tolist(), findings) == (expected, [])
    assert values.dtype == np.float32


def test_other_elements_keep_their_values() -> None:
    assert read([[1, 2], ["any", 4.5]])[0][[0, 0, 1], [0, 1, 1]].tolist() == [1, 2, 4.5]
    assert read({"bits": [0x3F800000, "any", 0x40000000, 0]})[0][1].tolist() == [2, 0]


@pytest.mark.parametrize("data_type", ["FLOAT16", "INT4", "UINT64", "INT8"])
def test_any_stands_in_every_data_type(data_type: str) -> None:
    assert read(["any", 1], data_type, 2)[1].tolist() == [True, False]
    assert read({"bits": ["any", 1]}, data_type, 2)[1].tolist() == [True, False]


def test_a_buffer_is_marked_through_its_strides() -> None:
    _, mask, findings = read({"buffer": ["any", 1, 2, 3]}, "FLOAT32", 2, 2, strides=(1, 2))
    assert (mask.tolist(), findings) == ([[True, False], [False, False]], [])
    assert read({"buffer": [0, "any", 2, 3]}, "FLOAT32", 2, 2, strides=(1, 2))[1].tolist() == [
        [False, False],
        [True, False],
    ]


@pytest.mark.parametrize(
    ("raw", "rule", "place"),
    [
        (["any", 1, 2], "element-count", "outputs.T"),
        ([["any", 1], [2, "x"]], "wrong-type", "outputs.T[1][1]"),
        (["any", 1, 2, {}], "wrong-type", "outputs.T[3]"),
        ({"bits": ["any", -1, 0, 0]}, "value-not-representable", "outputs.T.bits[1]"),
        ({"sequence": {"start": "any"}}, "wrong-type", "outputs.T.sequence.start"),
        ("any", "wrong-type", "outputs.T"),
    ],
)
def test_what_is_wrong_beside_any_is_told_at_its_place(raw: Any, rule: str, place: str) -> None:
    values, mask, findings = read(raw)
    assert (values, mask) == (None, None)
    assert [(found.rule, pointer(found.path)) for found in findings] == [(rule, place)]


def test_a_bare_any_is_told_how_to_say_it() -> None:
    ((found,)) = read("any")[2]
    assert found.help == "write {fill: any}"
