"""The settings of a run: DirectML's own library says its level and its version, unless the run does."""

from __future__ import annotations

from dmlcheck.implementations.protocol import About
from dmlcheck.running.settings import Settings

LIBRARY = About("1.13.1", "none", "6_2")


def test_the_level_and_the_version_of_a_run_come_before_those_of_the_library() -> None:
    asked = Settings("4_1", directml_version="1.8.0", is_strict=True)
    assert asked.of_library(LIBRARY) == asked
