"""The whole site: its files, their links and sizes, and whether it is the same each time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import axe_script, violations
from html_pages import Browser, chromium
from lxml import html

from dmlcheck.specs.load import operator_names

MOST_PAGES, MOST_BYTES, MOST_OF_A_PAGE = 300, 8_000_000, 100_000
SAMPLE = ["index.html", "reduce.html", "multihead_attention1.html", "element_wise_is_nan.html", "split.html"]


def page_names(site: dict[str, str]) -> list[str]:
    return [name for name in site if name.endswith(".html")]


def test_there_is_a_page_for_every_operator_and_one_that_lists_them(site: dict[str, str]) -> None:
    pages = {operator.removeprefix("DML_OPERATOR_").lower() + ".html" for operator in operator_names()}
    assert set(site) == {"style.css", "script.js", "search.js", "index.html"} | pages


def test_the_site_is_small(site: dict[str, str]) -> None:
    assert len(page_names(site)) <= MOST_PAGES
    assert sum(len(text.encode()) for text in site.values()) <= MOST_BYTES
    assert [name for name in page_names(site) if len(site[name].encode()) > MOST_OF_A_PAGE] == []


def test_no_link_is_dead_no_id_is_there_twice_and_nothing_is_fetched_from_elsewhere(site: dict[str, str]) -> None:
    ids: dict[str, set[str]] = {}
    links: list[tuple[str, str]] = []
    for name in page_names(site):
        tree = html.document_fromstring(site[name])
        found = tree.xpath("//@id")
        assert len(found) == len(set(found)), name
        ids[name] = set(found)
        links += [(name, link) for link in tree.xpath("//a/@href")]
        assert tree.xpath("//link[@rel='stylesheet']/@href | //script/@src | //img/@src") == [
            "style.css",
            "search.js",
            "script.js",
        ]
    assert list(dead(links, ids)) == []


def dead(links: list[tuple[str, str]], ids: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield the links that lead nowhere in the site; those that leave it must be of https."""
    for page, link in links:
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        if (file or page) not in ids or (anchor and anchor not in ids[file or page]):
            yield page, link


def test_a_dead_link_would_be_found() -> None:
    links = [("a.html", "#x"), ("a.html", "#y"), ("a.html", "b.html"), ("a.html", "http://x"), ("a.html", "https://x")]
    assert list(dead(links, {"a.html": {"x"}})) == [links[1], links[2], links[3]]


def test_no_place_is_left_unfilled(site: dict[str, str]) -> None:
    assert [name for name in page_names(site) if re.search(r"\{%|>None<|Undefined\(", site[name])] == []


@pytest.mark.slow
def test_the_site_is_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    made = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        words = [sys.executable, "-m", "dmlcheck", "docs", "-o", str(folder)]
        subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("npm"))


def whole(site: dict[str, str], name: str) -> str:
    """Return a page with its style and its scripts in itself."""
    page = site[name].replace('<link rel="stylesheet" href="style.css">', f"<style>{site['style.css']}</style>")
    for script in ("search.js", "script.js"):
        page = page.replace(f'<script src="{script}"></script>', f"<script>{site[script]}</script>")
    return page


@pytest.mark.slow
@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", SAMPLE)
def test_axe_finds_nothing(
    site: dict[str, str], axe: str, tmp_path: Path, name: str, width: int, is_dark: bool
) -> None:
    browser = Browser(chromium(), tmp_path)
    assert violations(browser, whole(site, name), axe, width=width, is_dark=is_dark) == []
