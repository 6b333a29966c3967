"""The bundled cases, read once for all tests of the site."""

from __future__ import annotations

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.formats.find import find_files
from dmlcheck.formats.read import read_file
from dmlcheck.specs.load import data_folder, full_name


@pytest.fixture(scope="session")
def bundled() -> dict[str, list[Case]]:
    """Return the bundled cases by the full name of their operator."""
    cases: dict[str, list[Case]] = {}
    for path in find_files(data_folder("cases")) or []:
        for case in read_file(path, "/".join(path.replace("\\", "/").rsplit("/", 2)[-2:])).cases:
            cases.setdefault(full_name(case.operator) or "", []).append(case)
    return cases
