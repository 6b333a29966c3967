"""ONNX Runtime's CPU provider: its kernels with their versions and types, and the nodes that stay on it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import closest, did_you_mean
from dmlcheck.onnx.model.inference import type_of
from dmlcheck.onnx.model.values import CONSTANT, GIVEN, HOST, Value
from dmlcheck.onnx.operators.table import row_of
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


# ---- which nodes ONNX Runtime computes itself, though the provider could: when it loads a model, and on the CPU

# The sources are its core/optimizer/constant_folding.cc, and GetCpuPreferredNodes in
# core/framework/fallback_cpu_capability.cc.


_MOST = 100  # elements of a constant that is read on the CPU
_HALVES = ("FLOAT16", "BFLOAT16")  # which are never moved to the CPU, nor are floats of 8 bits


def place_of(node: Any, inputs: Sequence[Value], on_cpu: Iterable[int]) -> str:
    """Return CONSTANT for a node that is computed when a model is loaded, HOST for one that stays on the CPU, or "".

    `on_cpu` are the inputs that the provider itself reads on the CPU.
    """
    named = [(index, value) for index, (name, value) in enumerate(zip(node.input, inputs, strict=True)) if name]
    origins = {value.origin for _, value in named}
    if origins == {CONSTANT}:
        return "" if row_of(type_of(node)).is_kept else CONSTANT
    if HOST not in origins:
        return ""
    return HOST if all(_stays(value, is_read_on_cpu=index in on_cpu) for index, value in named) else ""


def _stays(value: Value, *, is_read_on_cpu: bool) -> bool:
    """Whether an input allows its node to run on the CPU."""
    if value.element in _HALVES or value.element.startswith("FLOAT8"):
        return False
    if value.origin == CONSTANT:
        return value.has_at_most(_MOST)
    return value.origin == GIVEN or (value.origin == HOST and not is_read_on_cpu)


def origin_of_outputs(node: Any, inputs: Sequence[Value], place: str, *, is_taken: bool, is_static: bool) -> str:
    """Return the origin of the outputs of a node at a place, as `place_of` returns it.

    `is_static` says that no size of the model is left to a run: a Shape is then a constant. Where the provider does not
    take a Shape, as of opset 23, what follows only from it does not stay on the CPU.
    """
    if type_of(node) == "Shape" and is_static and inputs[0].is_sized:
        return CONSTANT
    if place or is_taken:
        return place or (HOST if row_of(type_of(node)).is_on_cpu else "")
    return HOST if any(value.origin == HOST for value in inputs) else ""
