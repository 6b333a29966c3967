"""Where reports are written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dmlcheck.reports.files import PartedFile, ReportFile


def test_a_report_takes_its_place_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("older", encoding="utf-8")
    file = ReportFile(str(path))
    file.write("new\n")
    assert path.read_text(encoding="utf-8") == "older"
    file.close()
    assert (path.read_bytes(), file.problem) == (b"new\n", None)
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_is_given_up_leaves_nothing_but_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("older", encoding="utf-8")
    file = ReportFile(str(path))
    file.write("new\n")
    file.give_up(OSError(28, "No space left on device"))
    file.write("more")
    file.close()
    assert file.problem == f"{path}: No space left on device"
    assert path.read_text(encoding="utf-8") == "older"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "error"), [("", FileNotFoundError), (".", IsADirectoryError), ("a/b", FileNotFoundError)]
)
def test_a_place_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[OSError]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        ReportFile(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_what_a_link_leads_to_is_replaced_and_not_the_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    file = ReportFile(str(tmp_path / "link"))
    file.write("new")
    file.close()
    assert os.readlink(tmp_path / "link") == str(tmp_path / "real")
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"


def test_parts_are_written_in_the_order_in_which_they_are_taken_back(tmp_path: Path) -> None:
    file = PartedFile(str(tmp_path / "r"))
    first, second = file.put_aside("é" * 3), file.put_aside("second")
    file.write("head ")
    file.take_back(*second)
    file.take_back(*first)
    file.close()
    assert (tmp_path / "r").read_text(encoding="utf-8") == "head secondééé"
    assert file.aside.closed
