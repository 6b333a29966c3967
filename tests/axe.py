"""Pages as axe judges them, in a headless Chromium: one window for all of them, in which axe stays."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from browser import Page

SMALLEST = 390  # the least width that axe looks at; below it, pages are only measured
# Run once in the window. Another document comes into it by `document.write`, so that axe stays, and stays compiled.
FUNCTIONS = """
  window.put = (text) => new Promise((done) => {
    document.open();
    addEventListener("load", () => {
      for (const folded of document.querySelectorAll("details")) folded.open = true;
      done();
    }, {once: true});
    document.write(text);
    document.close();
  });
  // Of neighbours with the same elements, attributes and places of text, two stay: axe finds the same in the others.
  window.thin = () => {
    const kinds = new Map();
    const kindOf = (element) => {
      const parts = [element.localName, element.className, element.tabIndex, ...element.getAttributeNames()];
      for (const node of element.childNodes) {
        if (node.nodeType === Node.ELEMENT_NODE) parts.push(kindOf(node));
        else parts.push(node.data.trim() !== "");
      }
      const kind = parts.join();
      kinds.set(element, kind);
      return kind;
    };
    kindOf(document.body);
    for (const element of kinds.keys()) {
      if (/^(dl|math)$/.test(element.localName)) continue;
      const numbers = new Map();
      for (const child of [...element.children]) {
        const number = numbers.get(kinds.get(child)) || 0;
        numbers.set(kinds.get(child), number + 1);
        if (number > 1) child.remove();
      }
    }
  };
  const run = async (where, options) => {
    const {violations} = await axe.run(where, {resultTypes: ["violations"], ...options});
    return violations.map(({id, nodes}) => [id, nodes.map((node) => node.html)]);
  };

  // Elements that are shown; at another width, those that were not before are a reason to look at everything again.
  let shown = new Set();
  window.anew = () => {
    const before = shown;
    shown = new Set([...document.querySelectorAll("*")].filter((element) => element.getClientRects().length));
    return [...shown].some((element) => !before.has(element));
  };
  const OF_COLOURS = ["color-contrast", "link-in-text-block"];
  const OF_LAYOUT = ["target-size", "scrollable-region-focusable"];
  const ALL = {"target-size": {enabled: true}};
  for (const rule of OF_COLOURS) ALL[rule] = {enabled: false};
  window.judge = (isAll) => run(document, isAll ? {rules: ALL} : {runOnly: OF_LAYOUT});

  // A contrast depends on a text's size, weight and colour and on those around it: one text of each kind is judged.
  const judged = new Set();
  window.colours = async () => {
    const kinds = new Map(), known = new Map();
    const behind = (element) => {
      if (!element) return "";
      if (!known.has(element)) {
        const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
        const around = /, 0(\\.\\d+)?\\)$/.test(backgroundColor) ? behind(element.parentElement) : "";
        known.set(element, [backgroundColor, backgroundImage, opacity, around].join());
      }
      return known.get(element);
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || !element.getClientRects().length) continue;
      const {color, fontSize, fontWeight, textDecorationLine} = getComputedStyle(element);
      const around = getComputedStyle(element.parentElement).color;
      kinds.set([color, fontSize, fontWeight, textDecorationLine, around, behind(element)].join(), element);
    }
    const include = [...kinds].filter(([kind]) => !judged.has(kind)).map(([, element]) => element);
    for (const kind of kinds.keys()) judged.add(kind);
    return include.length ? run({include}, {runOnly: OF_COLOURS}) : [];
  };
"""


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


class Axe:
    """A window with axe in it; pages are at an address, so that they find their style and script beside it."""

    def __init__(self, window: Page, script: str, address: str) -> None:
        self.window = window
        window.go(address)
        window.run(f"(() => {{ {script}; {FUNCTIONS} }})()")

    def findings(self, name: str, text: str, widths: Sequence[int] = (390, 1280)) -> list[Any]:
        """Return what is wrong with a page, in light and dark at some widths, without the policy that keeps axe out.

        Contrasts apart, the scheme changes nothing, and the width what is shown and where it is.
        """
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        self.window.run(f"put({json.dumps(text)})")
        found = [*self._wider(widths)]
        self.window.run("thin()")
        for width in sorted(set(widths), reverse=True):
            if width >= SMALLEST:
                found += self._judged(width)
        return [[name, *one] for one in found]

    def _wider(self, widths: Sequence[int]) -> Iterator[list[Any]]:
        """Yield the widths that are too small for a page."""
        for width in widths:
            self.window.resize(width)
            inner, needed = self.window.run("[innerWidth, document.documentElement.scrollWidth]")
            assert inner == width
            if needed > width:
                yield [width, "light", "overflow"]

    def _judged(self, width: int) -> Iterator[list[Any]]:
        """Yield what axe finds at a width."""
        window = self.window
        window.resize(width)
        window.colours("light")
        yield from ([width, "light", *found] for found in window.run("judge(anew())"))
        for scheme in ("light", "dark"):
            window.colours(scheme)
            yield from ([width, scheme, *found] for found in window.run("colours()"))
