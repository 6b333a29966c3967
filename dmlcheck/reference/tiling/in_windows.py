"""Tiles of the row `InWindows`: each result depends on the windows that contain its element."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, ranges, tiles_along
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.functions.phases import lines
from dmlcheck.reference.functions.windows import View, Window, joined, part, places_at
from dmlcheck.reference.rows import InWindows, PerWindow
from dmlcheck.reference.tiling.request import Request, Tile
from dmlcheck.reference.tiling.windows import LARGE, views

Sizes = tuple[int, ...]
Made = Mapping[str, Callable[[], Any]]


def of_in_windows(declared: InWindows, request: Request) -> Iterator[Tile]:
    """Yield tiles with the elements of all windows that contain an element of the tile."""
    ((label, sizes),) = request.outputs.items()
    window, first, options = declared
    given = {name: x for name, x in request.tensors.items() if name not in first}
    counts = next(iter(given.values())).shape[2:]
    for index in _parts(sizes, counts) if first else [(slice(0, sizes[0]), slice(0, sizes[1]))]:
        made = {name: once(partial(_made, of, request.tensors[name][index], counts)) for name, of in first.items()}
        own = {name: x[index] for name, x in given.items()}
        for results in parts_of_results(window, counts, (*(at.stop - at.start for at in index), *sizes[2:])):
            where = results.within(index)
            own_places = {"places": ranges(where, sizes)} if request.asks_for("places") else {}
            formula = partial(request.formula, seen=results.seen, **options, **own_places)
            operands = tuple(part(x[results.lead], results.seen) for x in own.values())
            yield Tile(request.where({label: where}), partial(_called, formula, made, results, tuple(own)), operands)


def _parts(sizes: Sizes, counts: Sizes) -> Iterator[Index]:
    """Yield parts of batches and channels with a limited number of windows and elements."""
    planes = LARGE // max(math.prod(sizes[2:]), math.prod(counts))
    for index in tiles_along((0, 1), sizes, planes):
        yield tuple(places_at(index[:2], sizes[:2]))


def _called(
    formula: Callable[..., Any], made: Made, results: PartOfResults, names: tuple[str, ...], *operands: Any
) -> Any:
    """Call a formula with operands by name, and with the parts of the arrays that were made for each window."""
    for name, find in made.items():
        found = find()
        formula = partial(formula, **{name: found._make(part(x[results.lead], results.seen) for x in found)})
    return formula(**dict(zip(names, operands, strict=True)))


def _made(of: PerWindow, x: Any, counts: Sizes) -> Any:
    """Return the results of a formula for each window over a tensor, as a named tuple of arrays."""
    sizes = (*x.shape[:2], *counts)
    found: Any = None
    for index, seen, under in views(x, of.window, sizes, of.fill):
        tile = of.formula(under, seen=seen)
        if found is None:
            found = tile._make(np.empty(sizes, field.dtype) for field in tile)
        for whole, field in zip(found, tile, strict=True):
            whole[index] = field
    return found


def once(function: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that computes its result once, at its first call, whichever thread calls it."""
    lock = Lock()
    kept: list[Any] = []

    def result() -> Any:
        with lock:
            if not kept:
                kept.append(function())
        return kept[0]

    return result


class PartOfResults(NamedTuple):
    """A part of some batches and channels of the results, and the view of the windows that contain its elements."""

    where: Index
    seen: View

    @property
    def lead(self) -> Index:
        """The index of its batches and channels."""
        return self.where[:2]

    def within(self, index: Index) -> Index:
        """Return the index in all results; `index` has the batches and channels that `where` counts from."""
        lead = (slice(own.start + at.start, own.start + at.stop) for own, at in zip(index, self.lead, strict=True))
        return (*lead, *self.where[2:])


def parts_of_results(window: Window, counts: Sizes, sizes: Sizes) -> Iterator[PartOfResults]:
    """Yield the parts of results of these sizes; `counts` are the numbers of places of the windows.

    Parts are so small that the elements of their windows fit into a block.
    """
    for each in product(*(list(lines(*own)) for own in zip(sizes[2:], counts, *window, strict=True))):
        found = (*sizes[:2], *(line.size for line in each))
        for index in tiles_along(range(len(found)), found, max(1, BLOCK // math.prod(line.most for line in each))):
            lead, places = places_at(index[:2], sizes[:2]), places_at(index[2:], found[2:])
            where = (line.where(at) for line, at in zip(each, places, strict=True))
            yield PartOfResults((*lead, *where), joined([line.seen(at) for line, at in zip(each, places, strict=True)]))
