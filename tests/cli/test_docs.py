"""`dmlcheck docs`."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, json_of

from dmlcheck.reports.site import build
from dmlcheck.reports.site.build import File


@pytest.fixture
def two_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [File("index.html", "<p>é</p>"), File("style.css", "")]
    monkeypatch.setattr(build, "site_files", lambda *_: iter(files))


@pytest.mark.usefixtures("two_files")
def test_the_files_and_a_manifest_are_written(tmp_path: Path) -> None:
    done = dmlcheck("docs", "-o", str(tmp_path / "site"))
    assert done.exit_code == 0
    assert (tmp_path / "site/index.html").read_bytes() == "<p>é</p>".encode()
    assert json_of(tmp_path / "site/manifest.json")["files"] == [
        "index.html",
        "style.css",
        "manifest.json",
    ]
    assert done.output.startswith("1 page in ")


@pytest.mark.usefixtures("two_files")
def test_an_earlier_site_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    dmlcheck("docs", "-o", str(folder))
    (folder / "own.txt").write_text("kept")
    assert dmlcheck("docs", "-o", str(folder)).exit_code == 0
    assert (folder / "own.txt").read_text() == "kept"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.txt").write_text("a")
    done = dmlcheck("docs", "-o", str(tmp_path / "other"))
    assert done.exit_code == 2
    assert "is not empty" in done.output


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "jinja2":
            raise ModuleNotFoundError(name, name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    done = dmlcheck("docs", "-o", str(tmp_path / "site"))
    assert done.exit_code == 2
    assert 'docs needs jinja2: run python -m pip install "dmlcheck[docs]"' in done.output
    assert not (tmp_path / "site").exists()
