"""The bundled cases and the site, made once for all tests of the site."""

from __future__ import annotations

from pathlib import Path

import pytest
import site_pages

from dmlcheck.cases.records import Case


@pytest.fixture(scope="session")
def bundled() -> dict[str, list[Case]]:
    """Return the bundled cases by the full name of their operator."""
    return site_pages.bundled()


@pytest.fixture(scope="session", autouse=True)
def _shared_folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> None:
    """Tell where the workers of a run share the site: beside the folders of each."""
    if hasattr(request.config, "workerinput"):
        site_pages.FOLDER[:] = [tmp_path_factory.getbasetemp().parent]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    site_pages.write_files(folder)
    return folder
