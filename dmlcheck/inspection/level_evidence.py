"""The evidence for the rows of a feature level: releases of DirectML that were asked, or only the documentation."""

from __future__ import annotations

from dmlcheck.specs.names import PRERELEASES, REPORTED, releases_of

_UNFOUND = "No build of DirectML that reports this level was found."


def level_evidence(level: str) -> str:
    """Return in sentences what the rows of a feature level stand on."""
    releases = releases_of(level)
    if releases and releases[-1] in REPORTED:
        reported = REPORTED[releases[-1]]
        return f"{_UNFOUND} DirectML {releases[-1]} reports {reported}, takes the descs of this level, and was asked."
    if releases:
        return f"DirectML {' and '.join(releases)} has this level, and was asked which descs it accepts."
    asked = [build for build, reported in PRERELEASES.items() if reported == level]
    if asked:
        return f"Of the builds that report this level, only a pre-release was found and asked: {asked[0]}."
    return f"{_UNFOUND} Its rows come from the documentation."
