"""Pages as axe judges them, in a headless Chromium."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
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


# Run in a page around frames: each page in a frame of its own, which takes each width.
EACH = """
addEventListener("load", async () => {
  const found = [];
  for (const [name, text] of Object.entries(PAGES)) {
    const frame = document.createElement("iframe");
    frame.title = "page";
    frame.width = WIDTHS[0];
    frame.height = 844;
    const loaded = new Promise((done) => { frame.onload = done; });
    frame.srcdoc = text;
    document.querySelector("main").append(frame);
    await loaded;
    const inner = frame.contentDocument;
    for (const folded of inner.querySelectorAll("details")) folded.open = true;
    const script = inner.createElement("script");
    script.textContent = AXE;
    inner.head.append(script);
    for (const width of WIDTHS) {
      frame.width = width;
      await new Promise((done) => setTimeout(done, 50));
      if (frame.contentWindow.innerWidth !== width) found.push([name, width, "not resized"]);
      if (inner.documentElement.scrollWidth > width) found.push([name, width, "overflow"]);
      if (width < SMALLEST) continue;
      const {violations} = await frame.contentWindow.axe.run(inner, OPTIONS);
      for (const {id, nodes} of violations) found.push([name, width, id, nodes.map((node) => node.html)]);
    }
    frame.remove();
  }
  document.querySelector("#found").textContent = JSON.stringify([found, Object.keys(PAGES).length]);
});
"""
SMALLEST = 390  # the least width that axe looks at; below it, pages are only measured


def findings(
    browser: Browser, folder: Path, pages: Mapping[str, str], axe: str, widths: Sequence[int], *, is_dark: bool
) -> Any:
    """Return what axe finds in many pages at some widths, in one browser, and the number of pages.

    In the dark, contrasts alone are judged: nothing else depends on colours.
    """
    options = {"resultTypes": ["violations"], **({"runOnly": ["color-contrast"]} if is_dark else {})}
    names = {"PAGES": pages, "WIDTHS": widths, "AXE": axe, "OPTIONS": options, "SMALLEST": SMALLEST}
    given = "".join(f"const {name} = {_in_script(value)};\n" for name, value in names.items())
    path = folder / f"every-{is_dark}.html"
    path.write_text(f'{OUTER}<pre id="found"></pre></main><script>{given}{EACH}</script>', encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if is_dark else 1}"
    words = ("--window-size=1400,900", scheme, "--virtual-time-budget=600000", "--dump-dom", path.as_uri())
    dumped = browser.run(*words, seconds=600).stdout.decode("utf-8")
    text = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.DOTALL)
    assert text, "axe did not end"
    return json.loads(html.unescape(text[1]))


def _in_script(value: Any) -> str:
    return json.dumps(value).replace("</", "<\\/").replace("<!--", "<\\!--")
