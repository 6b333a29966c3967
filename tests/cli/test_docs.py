"""`dmlcheck docs`."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck

pytest.importorskip("jinja2")
pytest.importorskip("latex2mathml")


def test_the_site_is_written_to_a_folder_and_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    done = dmlcheck("docs", "-o", str(folder))
    assert done.exit_code == 0
    assert done.stdout == f"178 pages written to {folder}: open {folder}/index.html\n"
    assert (folder / "gemm.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    (folder / "gemm.html").write_text("changed", encoding="utf-8")
    (folder / "mine.txt").write_text("kept", encoding="utf-8")
    assert dmlcheck("docs", "-o", str(folder)).exit_code == 0
    assert (folder / "gemm.html").read_text(encoding="utf-8") != "changed"
    assert (folder / "mine.txt").read_text(encoding="utf-8") == "kept"


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept", encoding="utf-8")
    done = dmlcheck("docs", "-o", str(tmp_path))
    assert done.exit_code == 2
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "dmlcheck.reports.site.build":
            raise ImportError("No module named 'jinja2'", name="jinja2")
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    done = dmlcheck("docs", "-o", str(tmp_path / "site"))
    assert done.exit_code == 2
    assert "docs needs the extra `docs`: jinja2 is not installed" in done.stderr
