"""Paths of the folders that a file may name others in."""

from __future__ import annotations

from pathlib import Path

from dmlcheck.files.paths import is_inside


def test_a_path_is_inside_of_a_folder_that_its_path_begins_with(tmp_path: Path) -> None:
    folder = str(tmp_path / "a")
    assert is_inside(folder, folder)
    assert is_inside(str(tmp_path / "a" / "b" / "c"), folder)
    assert not is_inside(str(tmp_path), folder)


def test_a_name_that_begins_alike_is_outside(tmp_path: Path) -> None:
    assert not is_inside(str(tmp_path / "ab"), str(tmp_path / "a"))


def test_a_path_that_has_nothing_in_common_with_a_folder_is_outside(tmp_path: Path) -> None:
    """On Windows these are the paths of another drive."""
    assert not is_inside("elsewhere", str(tmp_path))
