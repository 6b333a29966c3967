"""What an evaluation prints: arrays as YAML, remarks, problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.values.literals import Array
from dmlcheck.values.write import values_text


class Evaluated(NamedTuple):
    """One thing to print: a named array with its data type, or a remark, or what is wrong."""

    name: str
    arrays: Mapping[str, tuple[Array, str]] = {}
    remark: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    document: Any = None


def evaluated_text(evaluated: Evaluated) -> Iterator[str]:
    """Yield an evaluated case as YAML: its name, and under it every output's values."""
    yield f"{yaml_key(evaluated.name)}:\n"
    for name, (values, data_type) in evaluated.arrays.items():
        yield f"  {yaml_key(name)}: "
        yield from values_text(values, data_type)
        yield "\n"


def resource_text(evaluated: Evaluated) -> Iterator[str]:
    """Yield a printed resource as YAML: its name and its elements, flat."""
    for name, (values, data_type) in evaluated.arrays.items():
        yield f"{yaml_key(name)}: "
        yield from values_text(values, data_type)
        yield "\n"


def yaml_key(name: str) -> str:
    """Return a name as a YAML key, quoted where plain text would not do."""
    if _PLAIN_KEY.fullmatch(name) and name.lower() not in _NOT_TEXT:
        return name
    import json

    return json.dumps(name, ensure_ascii=False)


_PLAIN_KEY = re.compile(r"[^\W\d][\w.-]*")
_NOT_TEXT = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
