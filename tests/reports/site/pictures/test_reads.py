"""Drawings of tensors with the elements that make a few others."""

from __future__ import annotations

from lxml import etree

from dmlcheck.reports.site.example import Cell, Grid
from dmlcheck.reports.site.pictures.reads import Mark, reads


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
