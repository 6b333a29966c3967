"""Plain values as YAML's flow style: text is quoted unless every reader of YAML takes it for text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN_KEY = re.compile(r"[^\W\d][\w.-]*")
_PLAIN_TEXT = re.compile(r"[A-Z][A-Z0-9_]*[A-Z0-9]")  # as the names of DirectML are
_UNPRINTABLE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
# Text that some version of YAML, or a case file, reads as something else.
_NOT_TEXT = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"))


def key(name: str) -> str:
    """Return a name as the key of a mapping, plain where it is a word."""
    return name if _PLAIN_KEY.fullmatch(name) and name.lower() not in _NOT_TEXT else quoted(name)


def text(value: str) -> str:
    """Return a text as a value, plain where it is a name of DirectML."""
    return value if _PLAIN_TEXT.fullmatch(value) and value.lower() not in _NOT_TEXT else quoted(value)


def flow(value: Any) -> str:
    """Return mappings, lists, texts, numbers and booleans on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key(name)}: {flow(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return text(value) if isinstance(value, str) else json.dumps(value)


def one_line(value: str) -> str:
    """Return a text on one line, as a comment can have it."""
    return _UNPRINTABLE.sub("?", " ".join(value.split()))


def quoted(value: str) -> str:
    """Return a text in quotes, with escapes for invisible characters, and those that UTF-8 cannot encode."""
    escaped = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return escaped.replace("##[", r"#\u0023[")  # which the log of a GitHub workflow takes for a command
