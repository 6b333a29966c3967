"""The tensors and attributes of a case, and the elements of an equation beside those that are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from equations import elements

from dmlcheck.cases.records import Case

Pair = tuple[float, float]
Names = dict[str, Any]


def array(tensor: Mapping[str, Any], value: Any) -> Any:
    """Return the values of a tensor in its sizes."""
    return np.array(value).reshape(tensor["Sizes"])


def inputs_of(case: Case) -> dict[str, Any]:
    """Return the inputs of a case that are single tensors."""
    given = (case.inputs or {}).items()
    return {name: array(case.desc[name], value) for name, value in given if isinstance(case.desc[name], Mapping)}


def output_of(case: Case) -> Any:
    """Return the first output of a case."""
    name, value = next(iter((case.outputs or {}).items()))
    return array(case.desc[name], value)


def attributes_of(case: Case) -> Names:
    """Return the attributes of a desc; a list of numbers as a vector."""
    given = {name: value for name, value in case.desc.items() if not _is_tensor(value)}
    return {name: np.array(value) if isinstance(value, list) else value for name, value in given.items()}


def _is_tensor(value: Any) -> bool:
    one = value[0] if isinstance(value, list) and value else value
    return isinstance(one, Mapping)


def reads(values: Any, outside: float | None = None) -> Callable[..., Any]:
    """Return the function that reads an element at coordinates, in any parts; beyond the tensor it gives `outside`."""

    def read(*parts: Any) -> Any:
        place = tuple(int(number) for part in parts for number in np.ravel(part))
        inside = all(0 <= at < size for at, size in zip(place, values.shape, strict=True))
        return float(values[place]) if inside else outside

    return read


def places(sizes: Iterable[int]) -> list[tuple[int, ...]]:
    return list(np.ndindex(*sizes))


def checked(
    equations: Sequence[str], variables: Mapping[str, Iterable[Any]], names: Names, written: Callable[..., Any]
) -> Iterator[Pair]:
    """Yield each value of a first equation beside what is written at its subscript."""
    for index, value in elements(equations, variables, names):
        yield float(value), written(*index)
