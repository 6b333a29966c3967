"""Undefined results in parts: the condition, the reason and the outcomes, and the choice of the reference engine.

A spec has each in one text: `<condition>: <reason>. <outcomes>; the reference <choice>.`
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A colon after one word is a heading (`LINEAR: a result ...`), and a part of the condition.
_AFTER_CONDITION = re.compile(r"(?<= )(?P<last>[^ ]+)(?:: |\. |; (?=read literally))")
_OF_REFERENCE = re.compile(r"(?:^|; |(?<=\. ))(?=[Tt]he reference )")
_AFTER_SENTENCE = re.compile(r"(?<=[a-z0-9)])\.(?: |$)")


class Undefined(NamedTuple):
    """The condition under which a result is undefined, the reasons and outcomes, and the choice of the reference."""

    condition: str
    outcomes: tuple[str, ...]
    reference: str


def undefined(text: str) -> Undefined:
    """Return the parts of an undefined result's text, in sentences."""
    found = _AFTER_CONDITION.search(text)
    condition, rest = (text[: found.end("last")], text[found.end() :]) if found else (text, "")
    outcomes, *of_reference = _OF_REFERENCE.split(rest, maxsplit=1)
    sentences = filter(None, _AFTER_SENTENCE.split(outcomes.rstrip(" .") + "." if outcomes else ""))
    return Undefined(_sentence(condition), tuple(map(_sentence, sentences)), _sentence("".join(of_reference)))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""
