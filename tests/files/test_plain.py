"""Plain files: what is opened and what is refused, without ever waiting for a writer."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from dmlcheck.files.plain import NotPlain, TooLarge, is_inside, open_plain, read_plain, reason

HAS_PIPES = hasattr(os, "mkfifo")


@pytest.mark.parametrize(("most", "whole"), [(3, True), (2, False)])
def test_a_file_is_read_up_to_a_size(tmp_path: Path, most: int, whole: bool) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    if whole:
        assert read_plain(str(tmp_path / "f"), most) == b"abc"
        return
    with pytest.raises(TooLarge, match=r"^has 3 bytes; dmlcheck reads up to 2 of such a file$"):
        read_plain(str(tmp_path / "f"), most)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc")
def test_a_file_that_says_it_is_empty_is_read_no_further_than_another() -> None:
    assert os.stat("/proc/self/status").st_size == 0
    with pytest.raises(TooLarge, match="has 11 bytes"):
        read_plain("/proc/self/status", 10)


@pytest.mark.skipif(not HAS_PIPES, reason="there are no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(NotPlain, match="is a pipe, a device or a socket, not a file"):
            open_plain(str(tmp_path / name))


@pytest.mark.skipif(not HAS_PIPES, reason="there are no named pipes")
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").touch()
    before = os.stat(tmp_path / "f")
    (tmp_path / "f").unlink()
    os.mkfifo(tmp_path / "f")
    monkeypatch.setattr(os, "stat", lambda *_: before)
    with pytest.raises(NotPlain):
        open_plain(str(tmp_path / "f"))


@pytest.mark.skipif(sys.platform == "win32", reason="devices have other names there")
def test_a_device_or_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotPlain):
        open_plain("/dev/zero")
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        with pytest.raises(NotPlain):
            open_plain("s")


@pytest.mark.parametrize(
    ("path", "words"),
    [("missing", "no such file or folder"), (".", "is a folder"), ("a\0b", "has a character that no path")],
)
def test_a_reason_is_the_same_on_every_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((OSError, ValueError)) as refused:
        open_plain(path)
    assert isinstance(refused.value, (OSError, ValueError))
    assert reason(refused.value).startswith(words)


# ---- paths of the folders that a file may name others in


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
