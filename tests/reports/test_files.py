"""Where reports are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dmlcheck.reports.files import PartedFile, ReportFile, is_replaceable


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
    ("name", "error"),
    [("", FileNotFoundError), (".", IsADirectoryError), ("a/b", FileNotFoundError), ("x" * 300, OSError)],
)
def test_a_place_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[OSError]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        ReportFile(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("is_there", [False, True])
def test_a_link_is_refused_and_what_it_leads_to_is_left_alone(tmp_path: Path, *, is_there: bool) -> None:
    (tmp_path / "link").symlink_to("real")
    if is_there:
        (tmp_path / "real").write_text("mine", encoding="utf-8")
    with pytest.raises(OSError, match="is a link; name the file that it leads to"):
        ReportFile(str(tmp_path / "link"))
    assert os.readlink(tmp_path / "link") == "real"
    assert {path.name for path in tmp_path.iterdir()} == ({"link", "real"} if is_there else {"link"})


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_that_comes_later_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    file = ReportFile(str(tmp_path / "r"))
    (tmp_path / "r").symlink_to("mine")
    file.write("new")
    file.close()
    assert (tmp_path / "mine").read_text("utf-8") == "mine"
    assert ((tmp_path / "r").is_symlink(), (tmp_path / "r").read_text("utf-8")) == (False, "new")


def test_what_is_written_so_far_has_a_name_that_nobody_can_guess_and_takes_nobodys_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ReportFile(str(tmp_path / "r")), ReportFile(str(tmp_path / "r"))
    names = [os.path.basename(file.partial) for file in (first, second)]
    assert all(re.fullmatch(r"\.dmlcheck-[0-9a-f]{16}\.partial", name) for name in names)
    assert names[0] != names[1]
    monkeypatch.setattr("os.urandom", lambda _: bytes.fromhex(names[0][10:26]))
    with pytest.raises(FileExistsError):
        ReportFile(str(tmp_path / "r"))
    first.give_up(OSError())
    second.give_up(OSError())


def test_a_process_that_ends_early_leaves_nothing(tmp_path: Path) -> None:
    code = "import sys; from dmlcheck.reports.files import ReportFile; f = ReportFile('r'); f.write('x'); sys.exit(3)"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("text", "expected"), [(None, True), ("", True), ("<a>", True), (" <a>", False)])
def test_a_report_takes_the_place_of_nothing_or_of_one_that_begins_alike(
    tmp_path: Path, text: str | None, *, expected: bool
) -> None:
    if text is not None:
        (tmp_path / "r").write_text(text, encoding="utf-8")
    assert is_replaceable(str(tmp_path / "r"), rb"\A<a>") is expected


def test_parts_are_written_in_the_order_in_which_they_are_taken_back(tmp_path: Path) -> None:
    file = PartedFile(str(tmp_path / "r"))
    first, second = file.put_aside("é" * 3), file.put_aside("second")
    file.write("head ")
    file.take_back(*second)
    file.take_back(*first)
    file.close()
    assert (tmp_path / "r").read_text(encoding="utf-8") == "head secondééé"
    assert file.aside.closed
