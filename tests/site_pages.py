"""The pages of the reference site as trees, and the facts of an operator's record by their places."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml
from lxml import html
from shipped import cases_of as shipped_cases_of

from dmlcheck.reports.site.build import site_files
from dmlcheck.specs.load import load_spec, operator_names

# The longest page is an operator's with 74 constraints: each has a wrong desc, and half of the page is these.
MOST_PAGES, MOST_BYTES, MOST_OF_A_PAGE = 310, 8_600_000, 160_000


FOLDER: list[Path] = []  # that the workers of a run share
MOST_SECONDS = 300  # to wait for the worker that builds the site


@cache
def files() -> dict[str, str]:
    """Return every file of the site by its name; of all workers of a run, one builds it."""
    if not FOLDER:
        return _built()
    shared = FOLDER[0] / "site.json"
    try:
        os.close(os.open(FOLDER[0] / "site.lock", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return _from_another(shared)
    unfinished = shared.with_suffix(".part")
    unfinished.write_text(json.dumps(_built()), encoding="utf-8")
    os.replace(unfinished, shared)
    return _read(shared)


def write_files(folder: Path) -> None:
    """Write the site to a folder."""
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _built() -> dict[str, str]:
    cases = {name: list(shipped_cases_of(name)) for name in operator_names()}
    return {file.name: file.text for file in site_files([load_spec(name) for name in operator_names()], cases)}


def _from_another(shared: Path) -> dict[str, str]:
    """Return the files when another worker has them, and build them where it never does."""
    for _ in range(MOST_SECONDS * 10):
        if shared.exists():
            return _read(shared)
        time.sleep(0.1)
    return _built()


def _read(shared: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(shared.read_text(encoding="utf-8"))
    return found


@cache
def trees() -> dict[str, Any]:
    """Return the pages of the site as trees."""
    return {name: html.document_fromstring(text) for name, text in files().items() if name.endswith(".html")}


def facts_of(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield the place and the value of each fact that a page has; `data-of` is the place of what is inside it."""
    for element in tree.iterfind(".//*[@data-fact]"):
        value = element.get("value") if element.tag == "data" else _written(element)
        around = [holder.get("data-of") for holder in element.iterancestors() if holder.get("data-of")]
        yield ".".join([*reversed(around), element.get("data-fact")]), value


def _written(element: Any) -> str:
    """Return the text of an element as a spec has it: code in backticks, and hyphens for minuses."""
    parts = (f"`{text}`" if _is_code(text, element) else text for text in element.xpath(".//text()"))
    return " ".join("".join(parts).replace("\N{MINUS SIGN}", "-").split())


def _is_code(text: Any, fact: Any) -> bool:
    """Whether a text is code inside a fact, and not what follows that."""
    return text.is_text and text.getparent().tag == "code" and text.getparent() is not fact


def cases_of(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the desc, the inputs and the outputs of each recipe that a page has, as a YAML reader reads them."""
    for element in tree.iterfind(".//pre[@data-case]"):
        read = yaml.safe_load(element.text_content())
        yield {"desc": read["desc"], "inputs": read.get("inputs", {}), "outputs": read["outputs"]}


def leaves(record: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place and the value of everything that a record says; a list of words is one value."""
    if isinstance(record, Mapping):
        for key, value in record.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(record, Sequence) and not isinstance(record, str):
        if all(isinstance(part, str | int | float) for part in record) and not path.startswith(LISTS):
            if record:
                yield path, " ".join(map(str, record))
        else:
            for at, part in enumerate(record):
                yield from leaves(part, f"{path}.{key_of(part, at)}")
    elif record not in (None, ""):
        yield path, json.dumps(record) if isinstance(record, bool) else " ".join(str(record).split())


LISTS = ("formula", "equations", "undefined")  # lists of sentences


def key_of(part: Any, at: int) -> str:
    """Return the label of an element of a list, or its number; a difference is called after another API's operator."""
    is_named = isinstance(part, dict) and ("id" in part or "source" not in part)
    return str(next((part[key] for key in ("id", "name", "level") if key in part), at)) if is_named else str(at)


def dead_links() -> Iterator[str]:
    """Yield the links of the site that lead to no page or no place of it."""
    ids = {name: {element.get("id") for element in tree.iterfind(".//*[@id]")} for name, tree in trees().items()}
    for name, tree in trees().items():
        for element in tree.iterfind(".//a[@href]"):
            page, _, anchor = element.get("href").partition("#")
            if page.startswith(("https:", "http:")):
                continue
            if (page or name) not in ids or (anchor and unquote(anchor) not in ids[page or name]):
                yield f"{name}: {element.get('href')}"
