"""The site by the keyboard alone: the way past the top, search, tabs, and where the focus is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browser import Page

pytestmark = pytest.mark.slow

Open = Callable[[str], Page]
# The element that has the focus: what it is, and whether a reader sees it whole, above all others and with an outline.
FOCUS = """(() => {
  const element = document.activeElement, {left, top, right, bottom} = element.getClientRects()[0];
  const {outlineStyle, outlineWidth} = getComputedStyle(element);
  const x = Math.max(left, 0) / 2 + Math.min(right, innerWidth) / 2;
  const seen = [[x, Math.max(top, 1) + 2], [x, Math.min(bottom, innerHeight) - 3]].some(([across, down]) => {
    const above = document.elementFromPoint(across, down);
    return above && (element.contains(above) || above.contains(element));
  });
  return {
    name: element.textContent.trim().slice(0, 40) || element.id || element.localName,
    isSeen: seen && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth,
    hasOutline: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
  };
})()"""
ACTIVE = "document.activeElement.id || document.activeElement.textContent"


@pytest.fixture
def opened(window: Page, site: Path) -> Open:
    def load(name: str) -> Page:
        window.resize(1280)
        window.go((site / name).as_uri())
        return window

    return load


def test_the_first_stop_leads_past_the_top(opened: Open) -> None:
    window = opened("gemm.html")
    window.press("Tab")
    assert window.run("document.activeElement.className") == "skip"
    assert window.run(FOCUS) == {"name": "Skip to content", "isSeen": True, "hasOutline": True}
    window.press("Enter", "Tab")
    assert window.run("location.hash") == "#main"
    assert window.run("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["gemm.html", "level-5_1.html", "messages.html"])
def test_the_focus_is_seen_at_every_stop(opened: Open, name: str, width: int) -> None:
    window = opened(name)
    window.resize(width)
    stops = []
    window.press("Tab")
    while len(stops) < 60 and window.run("document.activeElement !== document.body"):
        stops.append(window.run(FOCUS))
        window.press("Tab")
    assert [stop for stop in stops if not (stop["isSeen"] and stop["hasOutline"])] == []
    assert len(stops) > 20


def test_a_key_leads_to_the_search_and_others_through_its_hits(opened: Open) -> None:
    window = opened("level-5_1.html")
    window.press("/")
    assert (window.run(ACTIVE), window.run("query.value")) == ("query", "")
    window.press(*"conv")
    hits = window.run("[...document.querySelectorAll('#hits a')].map((hit) => hit.textContent)")
    assert len(hits) > 3
    assert window.run("said.textContent") == f"{len(hits)} results"
    for key, there in (
        ("ArrowDown", hits[0]),
        ("ArrowDown", hits[1]),
        ("ArrowUp", hits[0]),
        ("ArrowUp", "query"),
        ("ArrowDown", hits[0]),
        ("Escape", "query"),
    ):
        window.press(key)
        assert window.run(ACTIVE) == there
    window.press("/")
    assert window.run("query.value") == "conv/"
    window.press("Escape")
    assert (window.run("query.value"), window.run("hits.children.length"), window.run(ACTIVE)) == ("", 0, "query")


def test_what_nothing_is_called_leads_to_the_lists(opened: Open) -> None:
    window = opened("level-5_1.html")
    window.press("/", *"zzzzqqqq")
    assert window.run("[...document.querySelectorAll('#hits a')].map((hit) => hit.getAttribute('href'))") == [
        *("index.html", "corrections.html", "corrections.html#deviations"),
        *("levels.html", "levels.html#types", "messages.html"),
    ]
    assert window.run("said.textContent").startswith("Nothing is called so")


def test_the_hits_close_when_the_focus_leaves_them(opened: Open) -> None:
    window = opened("level-5_1.html")
    window.press("/", *"gemm")
    assert window.run("hits.getClientRects().length") == 1
    for _ in range(window.run("hits.children.length") + 1):
        window.press("Tab")
    assert window.run("document.activeElement.closest('.find')") is None
    assert window.run("hits.getClientRects().length") == 0
    window.run("query.focus()")
    assert window.run("hits.getClientRects().length") == 1


@pytest.mark.parametrize(("keys", "page"), [(["Enter"], "gemm.html"), (["ArrowDown", "Enter"], "gemm.html")])
def test_enter_opens_a_hit(opened: Open, keys: list[str], page: str) -> None:
    window = opened("level-5_1.html")
    window.press("/", *"gemm")
    window.browser.events.clear()
    window.press(*keys)
    window.browser.wait(window.session, "Page.loadEventFired")
    assert window.run("location.pathname").endswith(f"/{page}")


def test_tabs_are_one_stop_and_keys_lead_from_one_to_the_next(opened: Open) -> None:
    window = opened("gemm.html")
    names = ["C++", "YAML", "Python", "ONNX"]
    assert window.run("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)") == names
    window.run("document.querySelector('[role=tab]').focus()")
    for key, name in (
        ("ArrowRight", "YAML"),
        ("ArrowRight", "Python"),
        ("ArrowLeft", "YAML"),
        ("End", "ONNX"),
        ("ArrowRight", "C++"),
        ("ArrowLeft", "ONNX"),
        ("Home", "C++"),
    ):
        window.press(key)
        assert window.run("document.activeElement.textContent") == name
        stops = "[...document.querySelectorAll('[role=tab]')].filter((tab) => tab.tabIndex === 0)"
        chosen = "[...document.querySelectorAll('[role=tab][aria-selected=true]')]"
        panels = "[...document.querySelectorAll('[role=tabpanel]')].filter((panel) => !panel.hidden)"
        assert window.run(f"{stops}.map((tab) => tab.textContent)") == [name]
        assert window.run(f"{chosen}.map((tab) => tab.textContent)") == [name]
        assert window.run(f"{panels}.map((panel) => panel.dataset.tab)") == [name]
    window.press("Tab")
    assert window.run("document.activeElement.closest('[role=tabpanel]').dataset.tab") == "C++"
