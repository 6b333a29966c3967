"""The evidence for the rows of a feature level."""

from __future__ import annotations

import pytest

from dmlcheck.inspection.level_diff import level_evidence
from dmlcheck.specs.names import LEVELS


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("6_3", "DirectML 1.14.2 has this level, and was asked which descs it accepts."),
        (
            "5_1",
            (
                "No build of DirectML that reports this level was found. "
                "DirectML 1.9.1 reports 5_0, takes the descs of this level, and was asked."
            ),
        ),
        (
            "2_1",
            "Of the builds that report this level, only a pre-release was found and asked: 1.0.200610.",
        ),
        (
            "4_0",
            "No build of DirectML that reports this level was found. Its rows come from the documentation.",
        ),
    ],
)
def test_a_level_says_who_was_asked_about_its_rows(level: str, text: str) -> None:
    assert level_evidence(level) == text


def test_the_levels_that_no_build_reports_are_those_that_were_not_found() -> None:
    unfound = [level for level in LEVELS if level_evidence(level).startswith("No build")]
    assert unfound == ["1_0", "2_0", "4_0", "5_1", "6_0"]
