"""The site, made once for all its tests."""

from __future__ import annotations

from pathlib import Path

import pytest
import site_pages


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
