"""Pages as axe judges them, in a headless Chromium."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from html_pages import Browser

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


def axe_script(folder: Path) -> str:
    """Return axe-core's script, which npm fetches into a folder, or skip."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here, so axe has not looked at the pages; on Debian: apt-get install npm")
    words = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
    try:
        subprocess.run(words, capture_output=True, timeout=120, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm could not fetch axe-core, so axe has not looked at the pages")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


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
