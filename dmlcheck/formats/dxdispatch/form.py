"""Findings about the form of a model's parts, and the name of a model's file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe, did_you_mean
from dmlcheck.files.document import Path

MODEL = "model.json"  # in an exported folder


def wrong_type(path: Path, what: str, value: Any, expected: str, help: str | None = None) -> Finding:
    """Return the finding about a value of another type than its place requires."""
    return Finding("wrong-type", path, {"what": what, "found": describe(value), "expected": expected}, help=help)


def missing_key(path: Path, where: str, key: str) -> Finding:
    """Return the finding about a missing key."""
    return Finding("missing-key", path, {"where": where, "key": key})


def is_count(value: Any, most: int) -> bool:
    """Whether a value is a whole number from 0 to `most`."""
    return type(value) is int and 0 <= value <= most


def count_findings(raw: Mapping[str, Any], key: str, path: Path, most: int, *, least: int = 0) -> Iterator[Finding]:
    """Yield the finding about an optional whole number, if it is wrong."""
    value = raw.get(key, least)
    if not is_count(value, most) or value < least:
        yield wrong_type((*path, key), key, value, f"a whole number from {least} to {most:,}")


def file_path_findings(value: Any, path: Path) -> Iterator[Finding]:
    """Yield the finding about the path of a file, whether or not the file exists."""
    if not isinstance(value, str) or not value or "\0" in value:
        yield wrong_type(path, str(path[-1]), value, "the path of a file")


def name_findings(section: str, name: str, names: Mapping[str, Any] | None, path: Path) -> Iterator[Finding]:
    """Yield the finding about a name that a section does not have; None stands for an unreadable section."""
    if names is not None and name not in names:
        yield Finding("unknown-key", path, {"where": section, "key": name}, help=did_you_mean(name, names))
