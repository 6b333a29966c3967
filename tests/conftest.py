"""What all tests share."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_operator import SPECS

from dmlcheck.specs import load

SNAPSHOTS = Path(__file__).parent / "snapshots"

# What tests print is the same in a GitHub workflow, and stays out of its summary.
for _name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
    os.environ.pop(_name, None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write what is printed instead of comparing it")
    parser.addoption(
        "--fuzz-seconds", type=float, default=4.0, help="how long to make files and command lines for, in all"
    )
    parser.addoption(
        "--all-cases", action="store_true", help="use all bundled cases and recorded answers, not samples of them"
    )
    parser.addoption("--fuzz-seed", type=int, default=0, help="the first seed of what is made")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Let each process begin with tests that stand together: what they share is then made once."""
    if config.getoption("numprocesses", None) and config.getoption("dist") == "no":
        config.option.dist = "worksteal"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def importable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder whose modules can be imported, also by the processes of a run."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    return folder


@pytest.fixture(scope="module")
def made_operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let a module have the operators made for tests among the others."""
    folder = tmp_path_factory.mktemp("specs")
    shutil.copytree(load.data_folder("specs"), folder, dirs_exist_ok=True)
    for spec in SPECS:
        name = spec["operator"].removeprefix("DML_OPERATOR_").lower()
        (folder / f"{name}.yaml").write_text(json.dumps(spec), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "data_folder", {"specs": str(folder)}.__getitem__)
        _forget_specs()
        yield
    _forget_specs()


def _forget_specs() -> None:
    for function in (load.load_spec, load.full_name, load.operator_names):
        function.cache_clear()
