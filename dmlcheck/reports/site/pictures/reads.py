"""A drawing of tensors side by side, with a few output elements and the input elements that each is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reports.site.example import Grid
from dmlcheck.reports.site.pictures.influence import Place
from dmlcheck.reports.site.pictures.shapes import WIDEST, Rectangle, around, arrow, drawing, rect, text, text_width

_HEIGHT, _NARROWEST, _GAP, _BESIDE, _LABEL = 28.0, 34.0, 10.0, 44.0, 18.0
_LOW = 3 * _HEIGHT  # of inputs: below it, outputs lie below them
LETTERS = "ABC"


class Mark(NamedTuple):
    """An output element, the input elements that it is made of, and the calculation in words."""

    output: Place
    sources: tuple[Place, ...]
    words: str


class Picture(NamedTuple):
    """A drawing, and the calculations below it, each after a letter or a name; letters have the colours of marks."""

    svg: str
    caption: str
    lines: tuple[tuple[str, str], ...]
    is_marked: bool = False


class _Laid(NamedTuple):
    """Tensors in their places: the box of each element, its text, and the labels."""

    cells: dict[Place, tuple[Rectangle, str]]
    labels: list[tuple[float, float, str]]
    width: float
    height: float


def reads(grids: Sequence[Grid], marks: Sequence[Mark], used: Callable[[Place], bool], title: str) -> Picture:
    """Return the drawing of an example's tensors; elements that are not `used` are pale."""
    laid, is_beside = _laid_out(grids)
    lettered = list(zip(LETTERS, marks, strict=False))
    boxes = [rect(box, "cell" if used(place) else "cell off") for place, (box, _) in laid.cells.items()]
    ways = [way for letter, mark in lettered for way in _way(laid, mark, letter, is_beside=is_beside)]
    texts = [text(x, y, words, "of") for x, y, words in laid.labels]
    for place, (box, words) in laid.cells.items():
        texts.append(text(box.middle[0], box.middle[1] + 4, words, "mid" if used(place) else "mid pale"))
    outlines = [
        shape
        for at, (letter, mark) in enumerate(lettered)
        for shape in _outlined(
            laid, mark, letter, sum(not set(mark.sources).isdisjoint(one.sources) for one in marks[:at])
        )
    ]
    parts = [*boxes, *ways, *texts, *outlines]
    words = " ".join(f"{letter}: {mark.words}." for letter, mark in lettered)
    svg = drawing(laid.width, laid.height, "reads", title, words, parts)
    return Picture(svg, title, tuple((letter, mark.words) for letter, mark in lettered), is_marked=True)


# ---- where tensors lie


def _laid_out(grids: Sequence[Grid]) -> tuple[_Laid, bool]:
    """Return the tensors in their places, and whether the outputs are to the right of the inputs, or else below."""
    sides = [_rows([grid for grid in grids if grid.role == role]) for role in ("input", "output")]
    given, made = (side for side in sides)
    is_beside = given.height > _LOW and given.width + _BESIDE + made.width <= WIDEST
    if is_beside:
        height = max(given.height, made.height)
        placed = [
            _moved(given, 0, (height - given.height) / 2),
            _moved(made, given.width + _BESIDE, (height - made.height) / 2),
        ]
        size = (given.width + _BESIDE + made.width, height)
    else:
        placed = [given, _moved(made, 0, given.height + (_BESIDE - _LABEL if given.height else 0))]
        size = (max(given.width, made.width), placed[1].height)
    cells = {**placed[0].cells, **placed[1].cells}
    return _Laid(cells, placed[0].labels + placed[1].labels, size[0] + 2, size[1] + 4), is_beside


def _rows(grids: Sequence[Grid]) -> _Laid:
    """Return tensors in rows, as many side by side as there is room for."""
    laid = _Laid({}, [], 0.0, 0.0)
    x = y = below = 0.0
    for grid in grids:
        one = _tensor(grid)
        if x and x + one.width > WIDEST:
            x, y = 0.0, below + _GAP
        moved = _moved(one, x, y)
        below = max(below, y + one.height)
        x += one.width + 2 * _GAP
        laid = _Laid({**laid.cells, **moved.cells}, laid.labels + moved.labels, max(laid.width, x - 2 * _GAP), below)
    return laid


def _tensor(grid: Grid) -> _Laid:
    """Return the elements of a tensor: its matrices side by side, and in further rows where they are many."""
    longest = max(len(cell.text) for matrix in grid.matrices for row in matrix for cell in row)
    width = max(_NARROWEST, longest * 7.4 + 9)
    cells: dict[Place, tuple[Rectangle, str]] = {}
    x, y = 1.0, _LABEL
    places = iter(indices(grid.sizes))
    for matrix in grid.matrices:
        if x > 1 and x + width * len(matrix[0]) > WIDEST:
            x, y = 1.0, y + len(matrix) * _HEIGHT + _GAP
        for at, row in enumerate(matrix):
            for column, cell in enumerate(row):
                box = Rectangle(x + column * width, y + at * _HEIGHT, width, _HEIGHT)
                cells[grid.name, next(places)] = (box, cell.text)
        x += width * len(matrix[0]) + _GAP
    outside = around(box for box, _ in cells.values())
    name = grid.name.replace("Tensor", "") if grid.name != "Tensor" else grid.name
    return _Laid(cells, [(1, _LABEL - 5, name)], max(outside.right, text_width(name)), outside.bottom)


def _moved(laid: _Laid, x: float, y: float) -> _Laid:
    cells = {place: (box._replace(x=box.x + x, y=box.y + y), words) for place, (box, words) in laid.cells.items()}
    return _Laid(cells, [(at + x, up + y, name) for at, up, name in laid.labels], laid.width + x, laid.height + y)


# ---- the marks


def _outlined(laid: _Laid, mark: Mark, letter: str, inside: int) -> Iterator[str]:
    """Yield the outlines of an output element and of its sources, inside the outlines of marks that share elements."""
    kind, by = f"mark {letter.lower()}", 2.0 + 3 * inside
    for _, box in _outlines(laid.cells, mark.sources):
        yield rect(box.inset(by), kind)
    yield rect(laid.cells[mark.output][0].inset(2), kind)


def _way(laid: _Laid, mark: Mark, letter: str, *, is_beside: bool) -> Iterator[str]:
    """Yield the arrow from the first tensor of the sources to the output element, unless other tensors lie between."""
    outlines = _outlines(laid.cells, mark.sources)
    if not outlines:
        return
    out = laid.cells[mark.output][0]
    start = around(box for name, box in outlines if name == outlines[0][0])
    between = [box for (name, _), (box, _) in laid.cells.items() if name not in (outlines[0][0], mark.output[0])]
    shift = (LETTERS.index(letter) - 0.5) * 4
    if is_beside:
        if not any(start.right < box.x < out.x for box in between):
            yield arrow((start.right, start.middle[1] + shift), (out.x + 1, out.middle[1] + shift), letter.lower())
    elif not any(start.bottom < box.y < out.y - _HEIGHT for box in between):
        yield arrow((start.middle[0] + shift, start.bottom), (out.middle[0] + shift, out.y + 1), letter.lower())


def _outlines(cells: Mapping[Place, tuple[Rectangle, str]], places: Sequence[Place]) -> list[tuple[str, Rectangle]]:
    """Return one box around the elements of a tensor where they fill it, else a box around each."""
    found: list[tuple[str, Rectangle]] = []
    for label in dict.fromkeys(name for name, _ in places):
        boxes = [cells[place][0] for place in places if place[0] == label]
        whole = around(boxes)
        is_full = abs(whole.width * whole.height - sum(box.width * box.height for box in boxes)) < 1
        found += [(label, whole)] if is_full else [(label, box) for box in boxes]
    return found


# ---- an example that is drawn


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
