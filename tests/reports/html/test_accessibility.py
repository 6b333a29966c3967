"""The page as axe judges it: light and dark, as wide as a telephone and as a screen, with everything unfolded."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from html_pages import Browser, case, chromium, every_outcome, report, wrong_output

from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.running.results import CaseResult

# Run in the page, or in a frame of it; what is found stands in the page around it.
RUN = """
const show = (text) => { parent.document.getElementById("found").textContent = text; };
for (const folded of document.querySelectorAll("details")) folded.open = true;
axe.run(document, {resultTypes: ["violations"]}).then(
  ({violations}) => show(JSON.stringify(violations.map(({id, nodes}) => [id, nodes.map((node) => node.html)]))),
  (error) => show(String(error)),
);
"""
OUTER = '<!DOCTYPE html><html lang="en"><meta name="color-scheme" content="light dark"><title>frame</title><main>'


@pytest.fixture(scope="session")
def browser() -> str:
    return chromium()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return axe-core's script, which npm fetches, or skip."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("npm")
    if npm is None:
        pytest.skip("no npm here, so axe has not looked at the HTML report; on Debian: apt-get install npm")
    words = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
    try:
        subprocess.run(words, capture_output=True, timeout=120, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm could not fetch axe-core, so axe has not looked at the HTML report")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def full_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page with everything that a page may have."""
    message = Diagnostic("implementation-error", "no device", file="a.yaml", line=3, column=1, help="add one", note="n")
    alike = [CaseResult(case(f"e{number}"), "error", "raised", (message,)) for number in range(3)]
    wrong = CaseResult(case("wrong"), "failed", None, (message,), {"A": wrong_output(), "B": wrong_output()})
    shape = CaseResult(case("shape"), "failed", None, (message,), {"A": OutputResult(1, 1, shape="{1} is no {2}")})
    crashed = CaseResult(case("crashed"), "error", "crashed", (message,), traceback="Traceback:\n  a\n")
    passed = [CaseResult(case(operator=f"DML_OPERATOR_N{number}"), "passed") for number in range(15)]
    results = [*every_outcome(), *alike, wrong, shape, crashed, *passed]
    return report(tmp_path_factory.mktemp("full") / "a.html", results, interrupted=True)


def violations(browser: Browser, page: str, axe: str, *, width: int, is_dark: bool) -> Any:
    """Return what axe finds in a page, without the policy that would keep it out."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    run = f"<script>{axe}</script><script>{RUN}</script></body>"
    found = '<pre id="found" role="note"></pre></main>'
    if width < 500:  # the least that a window may be
        inner = page.replace("</body>", run)
        frame = f'<iframe title="page" width="{width}" height="844" srcdoc="{html.escape(inner)}"></iframe>'
        page = f"{OUTER}{frame}{found}"
    else:
        page = page.replace("</main>", found).replace("</body>", run)
    path = browser.folder / "axe.html"
    path.write_text(page, encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if is_dark else 1}"
    size = f"--window-size={max(width, 500)},844"
    done = browser.run(size, scheme, "--virtual-time-budget=60000", "--dump-dom", path.as_uri())
    text = re.search(r'<pre id="found" role="note">(.*?)</pre>', done.stdout.decode("utf-8"), re.DOTALL)
    assert text, "axe did not end"
    return json.loads(html.unescape(text[1]))


@pytest.mark.slow
@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(browser: str, axe: str, full_page: str, tmp_path: Path, width: int, is_dark: bool) -> None:
    assert violations(Browser(browser, tmp_path), full_page, axe, width=width, is_dark=is_dark) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_what_is_wrong(browser: str, axe: str, full_page: str, tmp_path: Path, width: int) -> None:
    page = full_page.replace("<main>", '<main><a href="#c1"></a><p style="color: #ddd; background: #fff">pale</p>')
    found = violations(Browser(browser, tmp_path), page, axe, width=width, is_dark=False)
    assert {rule for rule, _ in found} == {"color-contrast", "link-name"}
