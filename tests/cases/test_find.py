"""Which file a case is asked for from, and which files are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from dmlcheck.cases.find import each_once, is_named


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("{}", encoding="utf-8")


def test_a_case_is_called_by_its_name_with_or_without_that_of_its_matrix() -> None:
    assert is_named("k[K=16]", "k")
    assert is_named("k[K=16]", "k[K=16]")
    assert not is_named("kernel", "k")


def test_a_file_is_taken_once_whatever_path_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.yaml", "b.yaml")
    monkeypatch.chdir(tmp_path)
    paths = ["a.yaml", "./a.yaml", str(tmp_path / "b.yaml"), "b.yaml"]
    assert list(each_once(paths)) == ["a.yaml", str(tmp_path / "b.yaml")]
