"""The meaning of scalars in YAML 1.2 and JSON, and the limits of a file."""

from __future__ import annotations

import re
from typing import Any

from dmlcheck.files.document import Overflow, Position, ReadError

MAX_NODES = 1_000_000
MAX_DEPTH = 100
MAX_DIGITS = 4000  # int() refuses more than 4,300; no data type needs more than 20
MAX_DUPLICATES = 100  # of the keys of a file; more of them say nothing new

MISSING: Any = object()

_INTEGER = re.compile(r"[-+]?[0-9]+\Z").match
_RADIX = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)\Z").match
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z").match
_INFINITY = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z").match
_INF = float("inf")
WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}


def plain_scalar(text: str) -> Any:
    """Return the value of a plain scalar in the YAML 1.2 core schema: null, a bool, a number or text.

    A float beyond float64's range comes back as `Overflow`, which keeps its text; a whole number of more than
    MAX_DIGITS digits as MISSING.
    """
    if text in WORDS or text[0] not in _BEFORE_NUMBERS:
        return WORDS.get(text, text)
    if _INTEGER(text):
        return int(text) if len(text) <= MAX_DIGITS else MISSING
    if _FLOAT(text):
        value = float(text)
        return Overflow(text) if value in (_INF, -_INF) else value
    if _INFINITY(text):
        return -_INF if text[0] == "-" else _INF
    if _RADIX(text):
        return int(text, 0) if len(text) <= MAX_DIGITS else MISSING
    return text


_BEFORE_NUMBERS = frozenset("+-.0123456789")


# ---- errors


def too_many_digits(text: str, at: Position) -> ReadError:
    """Return the error of a whole number with too many digits."""
    help = f"a whole number may have {MAX_DIGITS:,}; put it in quotes if it is text"
    return ReadError(f"a number of {len(text):,} digits is not read", at, help)


def too_deep(at: Position) -> ReadError:
    """Return the error of lists and mappings that nest too deep."""
    return ReadError(
        "too many levels of lists and mappings", at, f"lists and mappings may nest at most {MAX_DEPTH} levels deep"
    )


def too_many(name: str, at: Position) -> ReadError:
    """Return the error of a file with too many values."""
    problem = f"{name} has more than {MAX_NODES:,} values, aliases expanded"
    help = "put large tensors into .npy files, or generate them: {fill: 0}"
    return ReadError(problem, at, help, "file-too-large")
