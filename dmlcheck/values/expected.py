"""The expected values of an output: numbers, and `any` for the elements that are undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking
from dmlcheck.files.document import Path
from dmlcheck.values.literals import Array, Source, is_any
from dmlcheck.values.read import read_values

_FORMS = ("fill", "bits", "buffer")  # the mappings whose elements may be `any`


def read_expected(
    label: str, tensor: TensorDesc, raw: Any, path: Path, source: Source
) -> Checking[tuple[Array | None, Array | None]]:
    """Read an output's values, with 0 for `any`, and a mask of the elements that are `any`, or None if none is.

    The values are None where something is wrong with them.
    """
    if not _has_any(raw):
        return (yield from read_values(label, tensor, raw, path, source)), None
    values = yield from read_values(label, tensor, _changed(raw, _without_any), path, source)
    if values is None:
        return None, None
    marks = yield from read_values(label, tensor, _changed(raw, _mark), path, source)
    return values, None if marks is None else marks != 0


def _has_any(raw: Any) -> bool:
    if type(raw) is list:
        types = set(map(type, raw))
        return (str in types and any(map(is_any, raw))) or (list in types and any(map(_has_any, raw)))
    if isinstance(raw, Mapping):
        return any(is_any(raw[form]) or _has_any(raw[form]) for form in _FORMS if form in raw)
    return False


def _changed(raw: Any, change: Callable[[Any], Any]) -> Any:
    """Return values in the form that they were given in, each changed."""
    if isinstance(raw, Mapping):
        return {key: _changed(part, change) for key, part in raw.items()}
    return [_changed(part, change) for part in raw] if type(raw) is list else change(raw)


def _without_any(element: Any) -> Any:
    return 0 if is_any(element) else element


def _mark(element: Any) -> int:
    return int(is_any(element))
