"""A drawing of tensors side by side, with output elements and the input elements that each is made of; its shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import product
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reports.site.example import Grid
from dmlcheck.reports.site.pictures.influence import Place

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


# ---- shapes as SVG; colours are classes of the style sheet, so that they follow the theme


WIDEST = 352.0  # of a drawing, in pixels: the width of a telephone's screen without its margins
LETTER = 7.2  # of a text of 12 pixels


class Rectangle(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> tuple[float, float]:
        """The centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    def inset(self, by: float) -> Rectangle:
        """Return a rectangle that is smaller by a distance on each side."""
        return Rectangle(self.x + by, self.y + by, self.width - 2 * by, self.height - 2 * by)


def around(boxes: Iterable[Rectangle]) -> Rectangle:
    """Return the rectangle around some."""
    every = list(boxes)
    x, y = min(box.x for box in every), min(box.y for box in every)
    return Rectangle(x, y, max(box.right for box in every) - x, max(box.bottom for box in every) - y)


def text_width(text: str) -> float:
    """Return the width that a text takes, rather too much than too little."""
    return LETTER * len(text)


def rect(box: Rectangle, kind: str) -> str:
    """Return a rectangle of a class."""
    return (
        f'<rect x="{_short(box.x)}" y="{_short(box.y)}" width="{_short(box.width)}" height="{_short(box.height)}"'
        f' class="{kind}"/>'
    )


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Return a text; `kind` names classes: `mid` centres it at x, `end` ends it there."""
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{_short(x)}" y="{_short(y)}"{of_kind}>{escape(words, quote=False)}</text>'


def line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    """Return a line of a class."""
    (x1, y1), (x2, y2) = start, end
    return f'<path d="M{_short(x1)} {_short(y1)}L{_short(x2)} {_short(y2)}" class="{kind}"/>'


def arrow(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    """Return a line with a head at its end."""
    (x1, y1), (x2, y2) = start, end
    angle = math.atan2(y2 - y1, x2 - x1)
    sides = [(x2 - 7 * math.cos(angle + turn), y2 - 7 * math.sin(angle + turn)) for turn in (0.45, -0.45)]
    head = "".join(f"L{_short(x)} {_short(y)}" for x, y in sides)
    neck = (x2 - 5 * math.cos(angle), y2 - 5 * math.sin(angle))
    return line(start, neck, f"way {kind}") + f'<path d="M{_short(x2)} {_short(y2)}{head}Z" class="tip {kind}"/>'


def dot(x: float, y: float, kind: str) -> str:
    """Return a small filled circle."""
    return f'<circle cx="{_short(x)}" cy="{_short(y)}" r="4" class="{kind}"/>'


def drawing(width: float, height: float, name: str, title: str, words: str, parts: Iterable[str]) -> str:
    """Return a whole drawing with its title and description, which `name` makes unique on its page."""
    return (
        f'<svg viewBox="0 0 {_short(width)} {_short(height)}" width="{_short(width)}" height="{_short(height)}"'
        f' role="img" aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(words)}</desc>{"".join(parts)}</svg>'
    )


def _short(number: float) -> str:
    return f"{round(number, 1):g}"
