"""The form of a case: its keys, and the type of each one's value."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import cut, describe, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.specs.names import LEVELS, nearest_level, parse_level
from dmlcheck.specs.records import Tolerance

MOST_TEXT = 1000  # characters of a source or a reason: every report of a case that fails has them


def is_text(value: Any) -> bool:
    """Whether a value is a text with something in it."""
    return type(value) is str and value != ""


def _is_mapping(value: Any) -> bool:
    return type(value) is dict


def _is_texts(value: Any) -> bool:
    return type(value) is list and all(type(element) is str for element in value)


def _is_matrix(value: Any) -> bool:
    return type(value) is dict and all(type(values) is list and values for values in value.values())


_A_TOLERANCE = "exact, or a mapping with ulp, absolute or relative"
_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (is_text, "text that is not empty"),
    "operator": (is_text, "the name of an operator"),
    "feature_level": (lambda value: parse_level(value) is not None, f"one of {' '.join(LEVELS)}"),
    "desc": (_is_mapping, "a mapping of fields to values"),
    "inputs": (_is_mapping, "a mapping of tensors to values"),
    "outputs": (_is_mapping, "a mapping of tensors to values"),
    "invalid": (_is_texts, "a list of rules or constraints"),
    "source": (is_text, "text that is not empty"),
    "tags": (_is_texts, "a list of text"),
    "tolerance": (lambda value: value == "exact" or next(_tolerance_findings(value), None) is None, _A_TOLERANCE),
    "matrix": (_is_matrix, "a mapping of variables to lists of one value or more"),
    "note": (is_text, "text that is not empty"),
}
CASE_KEYS = tuple(_FORMS)


def is_variable(value: Any) -> bool:
    """Whether a value is text with a variable of a matrix in it."""
    return isinstance(value, str) and "${" in value


def has_form(key: str, value: Any) -> bool:
    """Whether a value is allowed at a key of a case; null is allowed everywhere, and means that the key is omitted."""
    return value is None or (key in _FORMS and _FORMS[key][0](value))


def form_findings(case: Mapping[str, Any], *, templated: bool = False) -> Iterator[Finding]:
    """Yield the findings about the types of a case's values; `templated` allows text with variables."""
    for key in CASE_KEYS:
        value = case.get(key)
        if not has_form(key, value) and not (templated and key != "matrix" and is_variable(value)):
            if key == "tolerance":
                yield from _tolerance_findings(value, templated=templated)
            elif type(value) is list and key in ("invalid", "tags"):
                for index, element in enumerate(value):
                    if type(element) is not str:
                        yield wrong_type((key, index), f"{key}[{index}]", element, "text")
            elif type(value) is dict and key == "matrix":
                for name, values in value.items():
                    if type(values) is not list or not values:
                        yield wrong_type((key, name), f"matrix.{name}", values, "a list of one value or more")
            else:
                nearest = nearest_level(value) if key == "feature_level" else None
                shown = f"0x{value:X}" if nearest and type(value) is int and value > 99 else describe(value)
                params = {"what": key, "found": shown, "expected": _FORMS[key][1]}
                yield Finding("wrong-type", (key,), params, f"the nearest is {nearest}" if nearest else None)


# ---- tolerances

_LIMITS = ("absolute", "relative", "ulp")


def _tolerance_findings(value: Any, *, templated: bool = False) -> Iterator[Finding]:
    if value == "exact":
        return
    if not isinstance(value, dict) or not value:
        yield wrong_type(("tolerance",), "tolerance", value, _A_TOLERANCE)
        return
    if value.keys() == {"reason"}:
        params = {"what": "tolerance", "found": "a reason and no limit", "expected": _A_TOLERANCE}
        yield Finding("wrong-type", ("tolerance",), params)
    if not is_text(value.get("reason", "none")):
        yield wrong_type(("tolerance", "reason"), "tolerance.reason", value["reason"], "text that is not empty")
    for finding in unknown_keys(value, (*_LIMITS, "reason"), "a tolerance"):
        yield finding._replace(path=("tolerance", *finding.path))
    for key in _LIMITS:
        limit = value.get(key, 0)
        if not _is_limit(limit) and not (templated and is_variable(limit)):
            yield wrong_type(("tolerance", key), f"tolerance.{key}", limit, "a finite number of at least 0")


def _is_limit(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value <= sys.float_info.max


def tolerance_of(value: Any) -> Tolerance:
    """Return a well-formed tolerance as a record."""
    if value == "exact":
        return Tolerance(exact=True, source="the case")
    limits = {key: value[key] for key in value if key != "reason"}
    return Tolerance(source="the case", reason=cut(value.get("reason", ""), MOST_TEXT), **limits)


# ---- what is wrong


def unknown_keys(value: Mapping[str, Any], known: Collection[str], where: str) -> Iterator[Finding]:
    """Yield the keys of a mapping that are not known."""
    for key, help in unknown_names(value, known):
        yield Finding("unknown-key", (key,), {"where": where, "key": key}, help, at_key=True)


def missing_key(key: str, where: str) -> Finding:
    """Return the finding about a missing key."""
    return Finding("missing-key", (key,), {"where": where, "key": key})


def wrong_type(path: Path, what: str, value: Any, expected: str, help: str | None = None) -> Finding:
    """Return the finding about a value of another type."""
    return Finding("wrong-type", path, {"what": what, "found": describe(value), "expected": expected}, help)


def too_many(path: Path, file: str, problem: str) -> Finding:
    """Return the finding about a file that makes too many cases."""
    return Finding("file-too-large", path, {"path": file, "problem": problem}, "split the file, or shorten the matrix")
