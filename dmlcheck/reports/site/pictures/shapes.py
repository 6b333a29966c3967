"""The shapes of a drawing as SVG; colours are classes of the style sheet, so that they follow the theme."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

WIDEST = 352.0  # of a drawing, in pixels: that of a telephone's screen without its margins
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
