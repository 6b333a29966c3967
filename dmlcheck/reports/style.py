"""The style that the report of a run and the site share: one file, before what each of them adds."""

from __future__ import annotations

import os


def styled(own: str) -> str:
    """Return the shared style and what one of the two adds to it."""
    with open(os.path.join(os.path.dirname(__file__), "style.css"), encoding="utf-8") as file:
        return file.read() + own
