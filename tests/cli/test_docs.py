"""`dmlcheck docs`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, dmlcheck, json_of, write

from dmlcheck.cases.records import Case
from dmlcheck.reports.site import build
from dmlcheck.reports.site.build import File
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.records import OperatorSpec


@pytest.fixture
def two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a site of one case, which is all that is bundled, have two files."""
    write(str(tmp_path / "cases" / "sum.yaml"), GOOD)
    monkeypatch.setattr("dmlcheck.formats.find.data_folder", lambda name: str(tmp_path / name))

    def site_files(specs: list[OperatorSpec], cases: dict[str, list[Case]]) -> Iterator[File]:
        assert [spec.operator for spec in specs] == list(operator_names())
        assert {name: [case.id for case in own] for name, own in cases.items()} == {
            "DML_OPERATOR_REDUCE": ["cases/sum.yaml::sum"]
        }
        yield File("index.html", "<p>é</p>")
        yield File("style.css", "")

    monkeypatch.setattr(build, "site_files", site_files)


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
