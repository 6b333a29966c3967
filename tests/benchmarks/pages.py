"""Measures how soon pages of the site are ready in a headless Chromium: at most one second each.

    python tests/benchmarks/pages.py [NAME.html ...]

The best of some loads counts, as for the other benchmarks; without names, the largest pages are loaded.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser import Browser, Page, chromium
from site_pages import files, write_files

MOST_SECONDS, LOADS, PAGES = 1.0, 5, 6


def seconds(window: Page, address: str) -> float:
    """Return how long the fastest of some loads takes."""
    return min(window.seconds_to_load(address) for _ in range(LOADS))


def main() -> int:
    """Print the time of each page, and return 1 if one is too slow."""
    site = files()
    pages = sorted((name for name in site if name.endswith(".html")), key=lambda name: -len(site[name]))
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        browser = Browser(chromium(), Path(folder))
        with browser.page() as window:
            times = {name: seconds(window, (Path(folder) / name).as_uri()) for name in sys.argv[1:] or pages[:PAGES]}
        browser.close()
    for name, time in times.items():
        print(f"{time:6.3f} s  {name}")  # noqa: T201 - what it is for
    return int(max(times.values()) > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
