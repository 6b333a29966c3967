"""An example that is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reports.site.example import Grid
from dmlcheck.reports.site.pictures.influence import Place


class Shown(NamedTuple):
    """An example that is drawn: its desc, its inputs as arrays and its tensors as grids."""

    desc: OperatorDesc
    inputs: Mapping[str, Any]
    grids: Sequence[Grid]

    def grid(self, name: str) -> Grid:
        """Return a tensor."""
        return next(grid for grid in self.grids if grid.name == name)

    def numbers(self) -> dict[Place, str]:
        """Return all elements as they are printed."""
        return {
            (grid.name, index): cell.text
            for grid in self.grids
            for index, cell in zip(
                indices(grid.sizes), (cell for matrix in grid.matrices for row in matrix for cell in row), strict=True
            )
        }


def indices(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the indices of a tensor's elements, in order."""
    return list(product(*map(range, sizes)))
