"""One browser for all tests that look at pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe import axe_script
from browser import Browser, Page, chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(chromium(), tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


@pytest.fixture
def window(browser: Browser) -> Iterator[Page]:
    with browser.page() as page:
        yield page


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("npm"))
