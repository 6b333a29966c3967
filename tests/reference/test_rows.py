"""The rows of the kernels' tables."""

from __future__ import annotations

import numpy as np

from dmlcheck.reference.rows import (
    ELEMENTS,
    EVERYTHING,
    Groups,
    Kernel,
    along,
    elementwise,
    exact,
    exact_row,
    shared_by,
)


def test_a_row_says_how_its_formula_is_run() -> None:
    row = elementwise(np.sqrt, overflow="narrow")
    assert (row.function, row.tiles, row.rounds_nothing({}), row.overflow) == (np.sqrt, ELEMENTS, False, "narrow")
    row = exact(np.abs, integers=np.negative)
    assert (row.tiles, row.rounds_nothing({}), row.integers) == (ELEMENTS, True, np.negative)
    row = exact_row(np.sort, Groups())
    assert (row.tiles, row.rounds_nothing({})) == (Groups(), True)


def test_what_a_formula_rounds_may_depend_on_what_it_gets() -> None:
    row = Kernel(np.sort, Groups(), lambda given: given["function"] == "MAX")
    assert [row.rounds_nothing({"function": name}) for name in ("MAX", "SUM")] == [True, False]


def test_groups_are_along_the_axes_that_a_field_names_or_the_same_whatever_the_desc() -> None:
    given = {"input": np.zeros((2, 3, 4)), "axes": [2, 0], "scale": np.zeros((1, 3, 1))}
    declared = (Groups(), along(-1), along(1, 2), EVERYTHING, shared_by("scale"))
    assert [tiles.axes(given) for tiles in declared] == [(2, 0), (2,), (1, 2), (0, 1, 2), (0, 2)]
