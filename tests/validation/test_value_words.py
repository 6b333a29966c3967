"""The constraint words about the values of tensors."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_operator import OF_VALUES, desc, tensor

import dmlcheck
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.validation import value_words

pytestmark = pytest.mark.usefixtures("made_operators")


def places(word: str, args: Any, inputs: dict[str, Any], **fields: Any) -> list[str]:
    found = list(value_words.WORDS[word](desc(**fields), args, inputs))
    assert {finding.rule for finding in found} <= {"value-out-of-range"}
    return [pointer(finding.path) for finding in found]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1, -1, 2.5], []), ([1, 0, -0.0], ["inputs.A[1]", "inputs.A[2]"]), ([np.nan, np.inf, 1e-45], [])],
)
def test_no_element_is_0(values: list[float], expected: list[str]) -> None:
    array = np.array(values, dtype=np.float32)
    assert places("elements_not_zero", ["A", "B"], {"A": array}) == expected


def test_elements_of_every_part_are_checked() -> None:
    parts = [np.array([1, 0]), None, np.array([0])]
    found = places("elements_not_zero", ["Parts"], {"Parts": parts}, Parts=[tensor(2), tensor(1), tensor(1)])
    assert found == ["inputs.Parts[0][1]", "inputs.Parts[2][0]"]


def test_elements_are_those_of_a_list() -> None:
    array = np.array([[0, 1], [2, 1]], dtype=np.uint8)
    assert places("elements_one_of", {"A": [0, 1]}, {"A": array}) == ["inputs.A[1][0]"]


def test_elements_are_looked_up_in_a_list_in_no_more_than_their_own_memory() -> None:
    array = np.ones(1 << 18, dtype=np.int32)
    array[7] = 2
    places("elements_one_of", {"A": [0, 1]}, {"A": array[:1]})  # loads what it needs
    tracemalloc.start()
    try:
        assert places("elements_one_of", {"A": [0, 1]}, {"A": array}) == ["inputs.A[7]"]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < array.nbytes


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0, 3], []), ([4, -1], ["inputs.B[0]", "inputs.B[1]"]), ([2, 2**40], ["inputs.B[1]"])],
)
def test_elements_are_within_bounds(values: list[int], expected: list[str]) -> None:
    array = np.array(values, dtype=np.int64)
    assert places("elements_between", {"B": [0, "A.Sizes[0] - 1"]}, {"B": array}, B=tensor(2)) == expected


def test_a_nan_is_within_no_bounds() -> None:
    assert places("elements_between", {"A": [0, 1]}, {"A": np.array([np.nan, 0.5])}) == ["inputs.A[0]"]


CLAIM = {"indices": "B", "axis": "Axis", "of": "A"}


@pytest.fixture(params=[1, 2, None])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at so many indices at a time."""
    if request.param is not None:
        monkeypatch.setattr(value_words, "_BLOCK", request.param)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize(
    ("axis", "values", "expected"),
    [
        (1, [[0, 1, 2], [2, 2, 0]], ["inputs.B[1][1]"]),
        (1, [[0, -6, 1], [5, -1, 4]], ["inputs.B[0][1]", "inputs.B[1][1]"]),
        (0, [[0, 1, 2], [0, 2, 3]], ["inputs.B[1][0]"]),
        (0, [[0, 1, 2], [1, 2, 3]], []),
        (1, [[6, 6, 0], [-7, -7, 5]], []),  # outside, where no element is
    ],
)
def test_indices_along_an_axis_are_distinct(axis: int, values: list[list[int]], expected: list[str]) -> None:
    array = np.array(values, dtype=np.int32)
    assert places("distinct_indices", CLAIM, {"B": array}, B=tensor(2, 3), Axis=axis) == expected


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0, 1], [1, 0], [0, 2]], []),
        ([[0, 1], [1, 0], [0, 1]], ["inputs.B[2][0]"]),
        ([[3, 5], [-1, -1], [0, 0]], ["inputs.B[1][0]"]),
        ([[0, 6], [1, 0], [0, 6]], []),  # outside, where no element is
    ],
)
def test_tuples_of_indices_are_distinct(values: list[list[int]], expected: list[str]) -> None:
    claim = {"indices": "B", "dimensions": "Axis", "of": "A"}
    array = np.array(values, dtype=np.int64)
    assert places("distinct_tuples", claim, {"B": array}, B=tensor(3, 2), Axis=2) == expected


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_indices_are_distinct_in_every_line_of_their_own(axis: int) -> None:
    """Along each axis all lines have the indices 0, 2, 1, which one wrong element repeats in its line alone."""
    array = np.moveaxis(np.broadcast_to(np.array([0, 2, 1], np.int32), (3, 3, 3)), -1, axis).copy()
    tensors: dict[str, Any] = {"A": tensor(3, 3, 3), "B": tensor(3, 3, 3), "Axis": axis}
    assert places("distinct_indices", CLAIM, {"B": array}, **tensors) == []
    place = [1, 2, 0]
    place[axis] = 2
    array[tuple(place)] = -1
    assert places("distinct_indices", CLAIM, {"B": array}, **tensors) == ["inputs.B" + "".join(f"[{i}]" for i in place)]


def test_unsigned_indices_do_not_count_from_the_end() -> None:
    array = np.array([[5, 2**64 - 1, 0], [2**64 - 1, 0, 0]], dtype=np.uint64)
    assert places("distinct_indices", CLAIM, {"B": array}, B=tensor(2, 3), Axis=1) == ["inputs.B[1][2]"]


def test_columns_are_in_order() -> None:
    array = np.array([[0, 1, 2, 3, 4, 5], [0, 1, 2, 1, 1, 5], [0, 1, np.nan, 3, 4, 5]])
    found = places("columns_in_order", {"A": [[1, 3], [2, 4]]}, {"A": array})
    assert found == ["inputs.A[1][4]", "inputs.A[2][4]"]


def test_only_the_first_wrong_elements_are_reported() -> None:
    assert len(places("elements_not_zero", ["A"], {"A": np.zeros((4, 6))})) == 10


def test_a_case_with_wrong_values_is_an_error_and_a_negative_case_may_be_about_them(tmp_path: Path) -> None:
    desc_text = (
        "{A: {DataType: UINT8, Sizes: [2]}, B: {DataType: UINT8, Sizes: [2]}, Out: {DataType: UINT8, Sizes: [2]}}"
    )
    file = tmp_path / "case.yaml"
    head = f"operator: {OF_VALUES}\ndesc: {desc_text}\ninputs: {{A: [1, 2], B: [3, 0]}}\n"
    file.write_text(head + "invalid: [OF_VALUES_FOR_TESTS/C1]\n", encoding="utf-8")
    (result,) = dmlcheck.run_cases(dmlcheck.load_cases(file))
    assert result.outcome == "passed"
    file.write_text(head.replace("3, 0", "3, 4") + "invalid: [OF_VALUES_FOR_TESTS/C1]\n", encoding="utf-8")
    (result,) = dmlcheck.run_cases(dmlcheck.load_cases(file))
    assert result.outcome == "failed"
