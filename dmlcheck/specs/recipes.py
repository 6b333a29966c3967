"""Recipes: answers to questions about an operator, each with a case that shows it, as `specs/about` has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_THREAD = re.compile(r"[\w.-]+/[\w.-]+#[1-9][0-9]*")
_KEYS = ("title", "text", "asked", "desc", "inputs", "outputs")


class Recipe(NamedTuple):
    """An answer to a question that people have: how an operator computes something that its name does not say.

    `asked` are the threads in which people ask it, `owner/repository#number` of GitHub. `desc`, `inputs` and `outputs`
    are a case, whose outputs are worked out by hand.
    """

    title: str
    text: str
    asked: tuple[str, ...]
    desc: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def recipes_of(raw: object) -> tuple[Recipe, ...]:
    """Return the recipes of a file in specs/about; ValueError for one that is not whole."""
    if not isinstance(raw, list):
        raise ValueError(f"recipes must be a list, and is {raw!r}")  # noqa: TRY004 - as for any other error of a file
    return tuple(map(_recipe, raw))


def _recipe(raw: dict[str, Any]) -> Recipe:
    where = f"recipes, {raw.get('title')}"
    if unknown := sorted(raw.keys() - {*_KEYS}):
        raise ValueError(f"{where}: unknown key {unknown[0]}; write one of {', '.join(_KEYS)}")
    for key in ("title", "text"):
        if not isinstance(raw.get(key), str) or not raw[key].strip():
            raise ValueError(f"{where}: {key} must be a text")
    if not raw["text"].endswith("."):
        raise ValueError(f"{where}: text must end with a full stop")
    asked = raw.get("asked") or ()
    if not asked or not all(_THREAD.fullmatch(thread) for thread in asked):
        raise ValueError(f"{where}: asked must name threads as owner/repository#number")
    for key in ("desc", "outputs"):
        if not isinstance(raw.get(key), Mapping) or not raw[key]:
            raise ValueError(f"{where}: {key} must have fields")
    return Recipe(raw["title"], raw["text"], tuple(asked), raw["desc"], raw.get("inputs") or {}, raw["outputs"])


def thread_address(thread: str) -> str:
    """Return the address of a thread of GitHub; an issue's leads to a pull request too."""
    repository, _, number = thread.partition("#")
    return f"https://github.com/{repository}/issues/{number}"
