"""Paths of the folders that a file may name others in."""

from __future__ import annotations

import os


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, all links followed, lies in a folder tree."""
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # different drives
        return False
