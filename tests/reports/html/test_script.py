"""The page in a browser: its filters, its links, and that it asks for nothing."""

from __future__ import annotations

import http.server
import re
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page


def dom_of(window: Page, url: str) -> str:
    """Return the page's elements once its script has run."""
    window.go(url)
    return str(window.run("document.documentElement.outerHTML"))


def top_left(picture: bytes) -> tuple[int, int, int]:
    """Return the colour of the first pixel of a PNG."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    packed, at = b"", 8
    while at < len(picture):
        length, kind = struct.unpack(">I4s", picture[at : at + 8])
        packed += picture[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    # Whatever the filter of the first row, its first pixel stands as it is.
    red, green, blue = zlib.decompress(packed)[1:4]
    return red, green, blue


def visible(dom: str) -> list[str]:
    """Return how the cases ended that are told in full and are not hidden."""
    found = re.findall(r'<details([^>]*)class="case (\w+)"([^>]*)>', dom)
    return [outcome for before, outcome, after in found if "hidden" not in before + after]


def listed(dom: str) -> list[str]:
    """Return how the groups of rows ended that are not hidden."""
    found = re.findall(r'<div class="group"([^>]*)>', dom)
    return [re.findall(r'data-outcome="(\w+)"', group)[0] for group in found if "hidden" not in group]


@pytest.mark.slow
def test_a_browser_shows_everything_at_first(window: Page, page_file: Path) -> None:
    dom = dom_of(window, page_file.as_uri())
    assert window.said() == []
    assert '<html lang="en" class="js">' in dom
    assert sorted(visible(dom)) == ["error"] * 2 + ["failed"] * 5 + ["xfailed", "xpassed"]
    assert listed(dom) == ["skipped", "passed", "checked"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fragment", "cases", "rows"),
    [
        ("outcome=failed", ["failed"] * 5, []),
        ("outcome=error,passed", ["error"] * 2, ["passed"]),
        ("operator=GEMM", ["xpassed", "xfailed"], []),
        ("outcome=xfailed&operator=REDUCE", [], []),
        ("text=OFF+by+92", ["failed"], []),
        ("outcome=checked", [], ["checked"]),
        ("text=rightly", [], ["checked"]),
        ("text=case.yaml::nothing-to", [], ["skipped"]),
        ("operator=NOSUCH", ["failed"] * 5 + ["error"] * 2 + ["xpassed", "xfailed"], ["skipped", "passed", "checked"]),
    ],
)
def test_the_filters_work(window: Page, page_file: Path, fragment: str, cases: list[str], rows: list[str]) -> None:
    dom = dom_of(window, f"{page_file.as_uri()}#{fragment}")
    assert window.said() == []
    assert sorted(visible(dom)) == sorted(cases)
    assert listed(dom) == rows


@pytest.mark.slow
def test_a_link_to_a_case_unfolds_it(window: Page, page_file: Path) -> None:
    dom = dom_of(window, f"{page_file.as_uri()}#c11")
    assert window.said() == []
    assert re.search(r'<details id="c11" class="case xfailed"[^>]* open=""', dom)
    assert re.search(r'<details id="xfailed" class="part" open=""', dom)


@pytest.mark.slow
def test_the_page_is_dark_where_the_reader_wants_it_dark(window: Page, page_file: Path) -> None:
    window.go(page_file.as_uri())
    for scheme, colour in (("light", (0xFF, 0xFF, 0xFF)), ("dark", (0x12, 0x14, 0x17))):
        window.colours(scheme)
        assert top_left(window.picture()) == colour


@pytest.fixture
def server(page: str) -> Iterator[tuple[str, list[str]]]:
    """Serve the page, and the page with an image from elsewhere; yield the address and what was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            text = page.replace("<main>", '<main><img src="/image.png" alt="">') if "image" in self.path else page
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}", asked
        serving.shutdown()
        thread.join()


@pytest.mark.slow
def test_a_browser_is_made_to_ask_for_nothing(window: Page, server: tuple[str, list[str]]) -> None:
    address, asked = server
    window.go(f"{address}/report.html#outcome=failed")
    assert (asked, window.said()) == (["/report.html"], [])


@pytest.mark.slow
def test_the_policy_keeps_the_page_from_asking(window: Page, server: tuple[str, list[str]]) -> None:
    address, asked = server
    window.go(f"{address}/with-image.html")
    said = window.said()
    assert asked == ["/with-image.html"]
    assert len(said) == 1
    assert "Content Security Policy" in said[0]
