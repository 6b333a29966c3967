"""An example that is drawn."""

from __future__ import annotations

from typing import Any, cast

from dmlcheck.reports.site.example import Cell, Grid
from dmlcheck.reports.site.pictures.reads import Shown, indices


def test_numbers_stand_at_their_indices() -> None:
    grid = Grid("A", "input", "FLOAT32", (2, 2), (((Cell("1", 0), Cell("2", 0)), (Cell("3", 0), Cell("4", 0))),))
    shown = Shown(cast("Any", None), {}, [grid])
    assert shown.numbers() == {("A", (0, 0)): "1", ("A", (0, 1)): "2", ("A", (1, 0)): "3", ("A", (1, 1)): "4"}
    assert shown.grid("A") is grid
    assert indices(()) == [()]
