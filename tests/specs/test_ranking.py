"""The order of what is found, by examples of each rank; real questions are in reports/site/test_search_answers.py."""

from __future__ import annotations

import pytest

from dmlcheck.specs.ranking import IndexEntry, Search, distance

ENTRIES = (
    IndexEntry("MATRIX", "operator: multiplies rows", names="Dot lib.dot", words="product", labels="C1 C2 E1"),
    IndexEntry("MATRIX_SUM", "operator: adds rows", names="Add", labels="C1"),
    IndexEntry("dense-matrix", "error: too dense"),
    IndexEntry("SUM", "data type"),
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("matrix", ["MATRIX", "MATRIX_SUM", "dense-matrix"]),  # its name, its beginning, a part
        ("DML_OPERATOR_MATRIX", ["MATRIX", "MATRIX_SUM", "dense-matrix"]),
        ("sum", ["SUM", "MATRIX_SUM"]),
        ("dot", ["MATRIX"]),
        ("np.dot", ["MATRIX"]),
        ("add", ["MATRIX_SUM"]),  # a name before a word of a text
        ("product", ["MATRIX"]),
        ("dense", ["dense-matrix"]),
        ("rows", ["MATRIX", "MATRIX_SUM"]),
        ("SUM add", ["MATRIX_SUM", "SUM"]),  # an operator before others
        ("what is the product", ["MATRIX"]),
        ("dot product columns", ["MATRIX"]),  # two words of three
        ("matrxi", ["MATRIX", "MATRIX_SUM", "dense-matrix"]),  # a slip in a name, then in a part
        ("C1", ["MATRIX/C1", "MATRIX_SUM/C1"]),
        ("matrix/e1", ["MATRIX/E1"]),
        ("SUM/C1", []),  # no operator
        ("qqqq", []),
        ("?", []),
    ],
)
def test_what_is_meant_comes_first(asked: str, found: list[str]) -> None:
    assert [one.name for one in Search(ENTRIES).find(asked)] == found


@pytest.mark.parametrize(
    ("a", "b", "letters"),
    [("gemm", "gemm", 0), ("gem", "gemm", 1), ("gmem", "gemm", 1), ("gexm", "gemm", 1), ("mgem", "gemm", 2)],
)
def test_the_distance_is_how_many_letters_are_wrong(a: str, b: str, letters: int) -> None:
    assert distance(a, b, 2) == letters
    assert distance(a, b, letters - 1) > letters - 1
