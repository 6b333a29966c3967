"""The folders of `export` and `import`."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from dmlcheck.cli import main
from dmlcheck.cli.folder import written
from dmlcheck.folders.export_folder import Folder, MissingRequirement, Occupied


def test_what_the_work_returns_is_passed_on() -> None:
    with click.Context(main):
        assert written("new", "onnx", lambda: 3) == 3


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Occupied("it holds something else"), "-o: it holds something else"),
        (MissingRequirement("onnx is not installed"), "onnx is not installed"),
        (PermissionError(13, "Permission denied", "new/a"), "-o: new/a cannot be written: Permission denied"),
        (OSError(28, "No space left on device"), "-o: new cannot be written: No space left on device"),
    ],
)
def test_a_folder_that_cannot_be_written_is_wrong_usage(problem: Exception, words: str) -> None:
    def work() -> None:
        raise problem

    with click.Context(main), pytest.raises(click.UsageError) as refused:
        written("new", "onnx", work)
    assert refused.value.message == words


def test_that_an_earlier_export_is_replaced_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Folder("old", "onnx") as old:
        old.finish([])
    with click.Context(main):
        written("old", "onnx", lambda: None)
    assert capsys.readouterr().out.startswith("old has an earlier one: its files are replaced")
    assert (folder / "old").is_dir()
