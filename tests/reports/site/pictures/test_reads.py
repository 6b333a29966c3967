"""Drawings of tensors with the elements that make a few others."""

from __future__ import annotations

from typing import Any, cast

from lxml import etree

from dmlcheck.reports.site.example import Cell, Grid
from dmlcheck.reports.site.pictures.reads import (
    Mark,
    Rectangle,
    Shown,
    around,
    arrow,
    dot,
    drawing,
    indices,
    line,
    reads,
    rect,
    text,
    text_width,
)


def grid(name: str, role: str, height: int, width: int) -> Grid:
    rows = tuple(tuple(Cell(str(10 * y + x), 0) for x in range(width)) for y in range(height))
    return Grid(name, role, "FLOAT32", (height, width), (rows,))


def of(height: int) -> list[Grid]:
    return [grid("InputTensor", "input", height, 3), grid("OutputTensor", "output", 1, 1)]


def kinds(svg: str) -> list[str]:
    return [part.get("class") for part in etree.fromstring(svg)[2:]]


MARK = Mark(("OutputTensor", (0, 0)), (("InputTensor", (0, 0)), ("InputTensor", (0, 1))), "0 + 1")


def test_neighbours_have_one_outline_and_an_arrow_to_their_result() -> None:
    found = reads(
        [grid("InputTensor", "input", 2, 3), grid("OutputTensor", "output", 1, 1)], [MARK], lambda _: True, "T"
    )
    assert kinds(found.svg).count("cell") == 7
    assert kinds(found.svg).count("mark a") == 2  # the pair and the result
    assert kinds(found.svg).count("tip a") == 1
    assert (found.lines, found.is_marked) == ((("A", "0 + 1"),), True)


def test_elements_apart_have_an_outline_each() -> None:
    apart = MARK._replace(sources=(("InputTensor", (0, 0)), ("InputTensor", (1, 2))))
    found = reads(
        [grid("InputTensor", "input", 2, 3), grid("OutputTensor", "output", 1, 1)], [apart], lambda _: True, "T"
    )
    assert kinds(found.svg).count("mark a") == 3


def test_elements_without_use_are_pale() -> None:
    used = {("InputTensor", (0, 0)), ("InputTensor", (0, 1)), ("OutputTensor", (0, 0))}
    found = reads(
        [grid("InputTensor", "input", 2, 3), grid("OutputTensor", "output", 1, 1)], [MARK], used.__contains__, "T"
    )
    assert kinds(found.svg).count("cell off") == kinds(found.svg).count("mid pale") == 4


def test_results_lie_beside_high_inputs_and_below_low_ones() -> None:
    high, low = (reads(of(rows), [MARK], lambda _: True, "T") for rows in (4, 1))
    assert float(etree.fromstring(high.svg).get("width")) > 150 > float(etree.fromstring(low.svg).get("width"))


# ---- an example that is drawn


def test_numbers_stand_at_their_indices() -> None:
    grid = Grid("A", "input", "FLOAT32", (2, 2), (((Cell("1", 0), Cell("2", 0)), (Cell("3", 0), Cell("4", 0))),))
    shown = Shown(cast("Any", None), {}, [grid])
    assert shown.numbers() == {("A", (0, 0)): "1", ("A", (0, 1)): "2", ("A", (1, 0)): "3", ("A", (1, 1)): "4"}
    assert shown.grid("A") is grid
    assert indices(()) == [()]


# ---- shapes of SVG


def test_a_box_around_others_has_their_outer_edges() -> None:
    assert around([Rectangle(1, 2, 3, 4), Rectangle(3, 1, 5, 2)]) == Rectangle(1, 1, 7, 5)
    assert Rectangle(1, 2, 10, 4).inset(1) == Rectangle(2, 3, 8, 2)
    assert (Rectangle(1, 2, 10, 4).middle, Rectangle(1, 2, 10, 4).right, Rectangle(1, 2, 10, 4).bottom) == (
        (6, 4),
        11,
        6,
    )


def test_a_drawing_has_a_title_and_a_description_that_its_role_is_labelled_by() -> None:
    svg = drawing(
        10, 20, "one", "A & B", "<c>", [rect(Rectangle(0, 0, 1, 1), "cell"), text(1, 2, "<", "mid"), dot(1, 2, "a")]
    )
    tree = etree.fromstring(svg)
    assert [(part.tag, part.get("id"), part.text) for part in tree[:2]] == [
        ("title", "one-title", "A & B"),
        ("desc", "one-desc", "<c>"),
    ]
    assert (tree.get("role"), tree.get("aria-labelledby")) == ("img", "one-title one-desc")
    assert tree.get("viewBox") == "0 0 10 20"
    assert [part.tag for part in tree[2:]] == ["rect", "text", "circle"]


def test_an_arrow_ends_at_its_end() -> None:
    assert arrow((0, 0), (10, 0), "a").count("M10 0L") == 1
    assert line((0, 0), (10, 0.04), "a") == '<path d="M0 0L10 0" class="a"/>'
    assert text_width("abc") > 18
