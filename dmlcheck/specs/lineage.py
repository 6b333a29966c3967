"""The versions of an operator, and the changes of each."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.specs.about import has_about, load_about
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import OperatorSpec

_DIGITS = "0123456789"


class Version(NamedTuple):
    """A version of an operator, its changes in words, and the fields that it added and removed."""

    operator: str
    introduced: str
    text: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def older_operator(spec: OperatorSpec) -> str | None:
    """Return the full name of the version before an operator, or of the operator that it supersedes, or None.

    RESAMPLE2 comes after RESAMPLE1, and ARGMAX after REDUCE.
    """
    before = [name for name in _versions(spec.operator) if len(name) <= len(spec.operator) and name < spec.operator]
    if before:
        return before[-1]
    return spec.supersedes[0] if spec.supersedes else None


def lineage(spec: OperatorSpec) -> tuple[Version, ...]:
    """Return all versions of an operator, itself included, the oldest first; nothing where there is only one."""
    names = _versions(spec.operator)
    return tuple(version(load_spec(name)) for name in names) if len(names) > 1 else ()


def version(spec: OperatorSpec) -> Version:
    """Return an operator as a version, with its changes since the one before it, if there is any."""
    older = older_operator(spec)
    if older is None:
        return Version(spec.operator, spec.introduced, "", (), ())
    before = load_spec(older).fields
    added = tuple(name for name in spec.fields if name not in before)
    removed = tuple(name for name in before if name not in spec.fields)
    text = load_about(spec.operator).changes if has_about(spec.operator) else ""
    return Version(spec.operator, spec.introduced, text, added, removed)


def _versions(operator: str) -> list[str]:
    """Return the full names of an operator's versions, which differ by a digit at the end."""
    stem = operator.rstrip(_DIGITS)
    return [name for name in operator_names() if name.rstrip(_DIGITS) == stem]
