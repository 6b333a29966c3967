"""The facts of a record that a page says in words, as machines read them: a place in the record and a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each value in a part of a record; a list is one text, empty values are none."""
    if value in (None, "", [], ()):
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        yield path, " ".join(map(str, value))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)
