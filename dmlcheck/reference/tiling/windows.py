"""Tiles of the rows `Windows`, `InWindows` and `Neighbours`: results of the elements in windows, or around each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.reference.arrays.blocks import BLOCK, Blocks, ranges, tiles_along
from dmlcheck.reference.arrays.places import Index
from dmlcheck.reference.ball.numbers import Ball
from dmlcheck.reference.functions.neighbours import Everything, Region, has_everything, region
from dmlcheck.reference.functions.phases import lines
from dmlcheck.reference.functions.windows import (
    View,
    Window,
    is_long_run,
    joined,
    most_seen,
    part,
    places_at,
    run_at,
    view,
)
from dmlcheck.reference.rows import Groups, InWindows, Neighbours, PerWindow, Windows
from dmlcheck.reference.tiling.cut import of_groups
from dmlcheck.reference.tiling.request import Request, Tile

# ---- how many elements windows cover


def places_at_once(
    counts: Sequence[int], window: Window, sizes: Sequence[int], *, is_whole: bool = False, is_reduced: bool = False
) -> int:
    """Return how many places, in row-major order, fit into a block; `counts` may have dimensions before the spatial."""
    most = _most(window, sizes, is_whole=is_whole)
    at_once = max(1, BLOCK // max(1, math.prod(most)))
    if is_reduced:
        rest = _rest(counts, window, most)
        while at_once < BLOCK // rest and _takes(2 * at_once, counts, window, most) <= LARGE:
            at_once *= 2
    return at_once


def terms_of(
    counts: Sequence[int], window: Window, sizes: Sequence[int], *, is_whole: bool = False, is_reduced: bool = False
) -> int:
    """Return about how many terms the reductions of all windows have, and a block for each part of them."""
    at_once = places_at_once(counts, window, sizes, is_whole=is_whole, is_reduced=is_reduced)
    most = _most(window, sizes, is_whole=is_whole)
    parts = -(-math.prod(counts) // at_once)
    of_part = at_once * math.prod(most)
    if is_reduced and at_once > 1:
        of_part = min(of_part, 16 * _takes(at_once, counts, window, most) + at_once * _rest(counts, window, most))
    return parts * (of_part + BLOCK)


def _most(window: Window, sizes: Sequence[int], *, is_whole: bool) -> list[int]:
    """Return the most elements that the window covers along each dimension."""
    own = zip(sizes, window.size, window.dilations, strict=True)
    return [size if is_whole else most_seen(total, size, gap) for total, size, gap in own]


def _rest(counts: Sequence[int], window: Window, most: Sequence[int]) -> int:
    """Return how many elements a window covers, without the dimensions that are reduced as long runs."""
    own = counts[len(counts) - len(most) :]
    return math.prod(1 if is_long_run(axis, own, window) else size for axis, size in enumerate(most))


def _takes(at_once: int, counts: Sequence[int], window: Window, most: Sequence[int]) -> int:
    """Return how many elements of the tensor the windows of `at_once` places need in memory."""
    lead = len(counts) - len(most)
    first = next(tiles_along(range(len(counts)), tuple(counts), at_once))
    found = [at.stop - at.start for at in places_at(first, counts)]
    elements: int = math.prod(found[:lead])
    for count, own, size, stride, gap in zip(found[lead:], most, *window[:3], strict=True):
        elements *= min(count * own, (count - 1) * stride + (size - 1) * gap + 1)
    return elements


LARGE = 1 << 20  # elements: 8 megabytes of float64


def of_windows(declared: Windows, request: Request) -> Iterator[Tile]:
    """Yield tiles with the elements that their windows cover."""
    given, outputs = request.given, request.outputs
    x, *others = request.tensors.values()
    sizes = next(iter(outputs.values()))
    window, is_reduced = declared.window(given), declared.is_reduced(given)
    fill = of_channels(declared.fill(given), x.ndim)
    numbers = [of_channels(other, x.ndim) for other in others]
    asks = request.asks_for("places")
    for index, seen, under in views(x, window, sizes, fill, is_reduced=is_reduced):
        more = {"places": ranges(index, sizes)} if asks else {}
        own = (each if np.size(each) <= 1 else each[:, index[1]] for each in numbers)
        formula = partial(request.formula, seen=seen, **more)
        operands = (in_blocks(under, seen) if is_reduced and not request.is_exact else under, *own)
        yield Tile(request.where(dict.fromkeys(outputs, index)), formula, operands, request.is_exact)


def of_channels(x: Any, rank: int) -> Any:
    """Return a tensor of one element, or of one for each channel, in `rank` dimensions; None stays None."""
    return x.reshape(1, x.size, *[1] * (rank - 2)) if isinstance(x, (np.ndarray, Ball)) else x


def views(
    input: Any,
    window: Window,
    sizes: tuple[int, ...],
    fill: Any = 0,
    *,
    is_whole: bool = False,
    is_reduced: bool = False,
) -> Iterator[tuple[Index, View, Any]]:
    """Yield parts of an output of these sizes: the index, the view of the input, and the elements of the view.

    Elements beyond the edges are `fill`: a number, or one for each channel in the input's number of dimensions. Parts
    are so small that the elements of all their windows fit into a block; if these are only reduced, the input's
    elements.
    """
    lead = input.ndim - len(window.size)
    spatial = input.shape[lead:]
    at_once = places_at_once(sizes, window, spatial, is_whole=is_whole, is_reduced=is_reduced)
    for index in tiles_along(range(input.ndim), sizes, at_once):
        seen = view(places_at(index[lead:], sizes[lead:]), window, spatial, is_whole=is_whole)
        own = fill if np.size(fill) == 1 else fill[:, index[1]]
        yield index, seen, part(input[index[:lead]], seen, own)


def in_blocks(x: Any, seen: View) -> Any:
    """Return the elements of a view as Blocks, if they are one large window; else as they are."""
    window = seen.slid
    if x.size <= LARGE or 0 in window.dilations or any(count > 1 for count in seen.counts):
        return x
    under = x[(..., *(slice(None, None, step) for step in window.dilations))]
    spatial = range(under.ndim - len(seen.places), under.ndim)
    return Blocks(under.shape, list(tiles_along(spatial, under.shape, BLOCK)), under.__getitem__)


# ---- neighbours


def of_neighbours(declared: Neighbours, request: Request) -> Iterator[Tile]:
    """Yield tiles with their neighbours; whole groups, if each region contains all elements along the axes."""
    sizes, axes, reach = (next(iter(request.outputs.values())), *declared.of(request.given))
    asks = request.asks_for("inside")
    if has_everything(sizes, axes, reach):
        more = {"inside": True} if asks else {}
        formula = partial(request.formula, region=Everything(axes), **more)
        yield from of_groups(Groups(lambda _: axes), request._replace(formula=formula))
        return
    own = region(sizes, axes, reach)
    window = own.twice.window if declared.is_twice else own.window
    formula = partial(request.formula, region=own)
    for index in _tiles(sizes, axes, window):
        places = places_at(index, sizes)
        operands = tuple(part(x, run_at(places, window)) for x in request.tensors.values())
        yield Tile(index, partial(formula, inside=_inside(sizes, places, own)) if asks else formula, operands)


def _inside(sizes: Sequence[int], places: Sequence[slice], own: Region) -> Any:
    """Return a mask of the elements around some places: true where they are inside the tensor, not beyond its edges."""
    return part(np.broadcast_to(np.True_, tuple(sizes)), run_at(places, own.window))


def _tiles(sizes: tuple[int, ...], axes: Sequence[int], window: Window) -> Iterator[Index]:
    """Yield the indices of tiles: with whole axes, so that no neighbour is read twice, unless these are long."""
    whole = math.prod(sizes[axis] for axis in axes)
    if whole <= BLOCK:
        return tiles_along([axis for axis in range(len(sizes)) if axis not in axes], sizes, max(1, BLOCK // whole))
    return tiles_along(range(len(sizes)), sizes, places_at_once(sizes, window, sizes, is_reduced=True))


# ---- the windows that contain an element


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
