"""Shapes of SVG."""

from __future__ import annotations

from lxml import etree

from dmlcheck.reports.site.pictures.reads import Rectangle, around, arrow, dot, drawing, line, rect, text, text_width


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
