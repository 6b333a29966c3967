"""The selection of a run's cases: by ids, by tags, by the types of tensors, or by the failures of an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.cases.select import matcher
from dmlcheck.formats.find import Target
from dmlcheck.running.expectations import from_any_folder, names_of
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES


class Selection(NamedTuple):
    """The conditions for cases, all to be met: a `-k` expression, one of some tags, a tensor of one of some types.

    `only` has the ids of an earlier run; they name their cases from any folder, as expectations do.
    """

    expression: str | None = None
    tags: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    @property
    def is_all(self) -> bool:
        """Whether nothing is asked."""
        return self == Selection()

    def of(self, target: Target) -> Callable[[Case], bool]:
        """Return the filter of a file's selected cases."""
        tests: list[Callable[[Case], bool]] = []
        if self.expression is not None:
            by_id = matcher(self.expression)
            tests.append(lambda case: by_id(case.id))
        if self.tags:
            tests.append(lambda case: not self.tags.isdisjoint(case.tags))
        if self.types:
            tests.append(lambda case: not self.types.isdisjoint(_types(case.desc)))
        if self.only is not None:
            tests.append(_named(self.only, target))
        return lambda case: all(test(case) for test in tests)


def _named(only: frozenset[str], target: Target) -> Callable[[Case], bool]:
    """Return the filter of a file's cases that an earlier run names, or of all cases if it names the file."""
    whole = only.union(map(from_any_folder, only))
    is_whole = _is_named(target.name, target, whole)
    return lambda case: is_whole or _is_named(case.id, target, whole)


def _is_named(case_id: str, target: Target, only: Collection[str]) -> bool:
    names = names_of(case_id, target.name, target.file)
    return any(name in only for name in (*names.whole, *names.ends))


def parse_type(text: str) -> str | None:
    """Return the data type of a name, however it is spelt, or None."""
    name = text.upper().removeprefix(DATA_TYPE_PREFIX)
    return name if name in DATA_TYPES else None


def _types(raw: Any) -> Iterator[str]:
    """Yield the data types of the tensors in the desc of a file, including nested operators' tensors."""
    waiting: list[Any] = [raw]
    while waiting:
        value = waiting.pop()
        parts: Iterable[Any] = ()
        if isinstance(value, Mapping):
            data_type = value.get("DataType")
            if isinstance(data_type, str) and "Sizes" in value:
                yield data_type.removeprefix(DATA_TYPE_PREFIX)
            parts = value.values()
        elif isinstance(value, (list, tuple)):
            parts = value
        waiting.extend(part for part in parts if isinstance(part, (Mapping, list, tuple)))
