"""The kernels of ONNX Runtime's CPU provider: their operators, versions and types."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import closest, did_you_mean
from dmlcheck.onnx.provider.registrations import (
    Typed,
    is_registered,
    parameters_of_row,
    read_registered,
    registrations,
    types_of_row,
)

DOMAINS_OF_RUNTIME = ("", "ai.onnx.ml", "ai.onnx.preview.training", "com.microsoft", "com.microsoft.nchwc")
_NOT_TYPES = ("versions", "inputs", "outputs")


class CpuKernel(NamedTuple):
    """Versions of an operator that are registered alike, and the types of its type parameters, or of values by name.

    `inputs` and `outputs` are the type parameters of the values, the last one also for further values, if ONNX has no
    schema of the operator.
    """

    versions: tuple[range, ...]
    types: Mapping[str, frozenset[str]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def takes(self, values: Iterable[Typed]) -> bool:
        """Whether the types of all values fit."""
        return all(value.type in types for value in values if (types := self.types_of(value)) is not None)

    def types_of(self, value: Typed) -> frozenset[str] | None:
        """Return the types that a value may have, or None if any does."""
        return self.types.get(value.parameter, self.types.get(value.name.partition(" ")[2]))


class Kernels(NamedTuple):
    """All kernels of cpu_kernels.yaml by operator, their release of ONNX Runtime, and the names of other operators."""

    release: str
    rows: Mapping[str, tuple[CpuKernel, ...]]
    names: frozenset[str]


@cache
def kernels() -> Kernels:
    """Return the registrations of the CPU provider."""
    value, release = read_registered(os.path.join(os.path.dirname(__file__), "cpu_kernels.yaml"))
    rows = {name: tuple(_kernel(row, value["types"]) for row in given) for name, given in value["kernels"].items()}
    return Kernels(release, rows, frozenset(value["names"]))


def _kernel(row: Mapping[str, Any], sets: Mapping[str, list[str]]) -> CpuKernel:
    versions = tuple(map(_range, str(row["versions"]).split()))
    return CpuKernel(versions, types_of_row(row, sets, _NOT_TYPES), *parameters_of_row(row))


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def kernels_of(operator: str, version: int) -> tuple[CpuKernel, ...]:
    """Return the kernels for a version of an operator's schema."""
    return tuple(row for row in kernels().rows.get(operator, ()) if any(version in some for some in row.versions))


def not_taken(operator: str, version: int, values: Sequence[Typed], *, converts: bool = True) -> str | None:
    """Return why the CPU does not take a node, or None where it does.

    `converts` says that inputs of FLOAT16 may become FLOAT, which ONNX Runtime does for a node that is left over.
    """
    found = kernels_of(operator, version)
    wide = [value._replace(type="FLOAT") if value.type == "FLOAT16" else value for value in values]
    if any(row.takes(values) or (converts and row.takes(wide)) for row in found):
        return None
    if not found:
        return "the CPU has no kernel for it"
    for value in values:
        types = [row.types_of(value) for row in found]
        known = frozenset(each for some in types if some is not None for each in some)
        if None not in types and value.type not in (*known, "FLOAT16"):
            return f"the CPU takes {' or '.join(sorted(known))} as {value.name}, not {value.type}"
    return "the CPU has no kernel for these types together"


def is_known(operator: str) -> bool:
    """Whether the release has an operator for which ONNX has no schema, on any provider."""
    return operator in kernels().rows or operator in kernels().names or is_registered(operator)


def meant(operator: str) -> str | None:
    """Return the sentence that suggests an operator or a domain for a misspelt one, or None."""
    known = [*kernels().rows, *kernels().names, *registrations().rows]
    domain, _, name = operator.rpartition(".")
    names = {each.rpartition(".")[2] for each in known if each.rpartition(".")[0] == domain}
    if not names:
        return did_you_mean(domain, {each.rpartition(".")[0] for each in known} - {""})
    closest_name = closest(name, names)
    return f"did you mean {domain}.{closest_name}?" if closest_name else None
