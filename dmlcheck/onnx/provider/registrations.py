"""The kernels of ONNX Runtime's DirectML provider and of its CPU: their operators, versions and types."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import closest, did_you_mean
from dmlcheck.files import yaml
from dmlcheck.onnx.descs.node import OnnxNode, Unmapped
from dmlcheck.onnx.export.records import TYPES
from dmlcheck.onnx.model.values import CONSTANT, GIVEN, HOST, Value
from dmlcheck.onnx.operators.table import row_of
from dmlcheck.onnx.reading import type_of

_HELD = frozenset((*TYPES.values(), "BOOL"))  # types that tensors of DirectML have: ExecutionProvider.cpp asks for them

_FUSED = "com.microsoft.dml."  # the domain of nodes that the provider fuses itself


class Registration(NamedTuple):
    """Versions of an operator that are registered alike, the types of its type parameters, and the provider's query.

    `on_cpu` are the inputs that the provider reads on the CPU. `inputs` and `outputs` are the type parameters of the
    values, the last one also for further values, if ONNX has no schema of the operator.
    """

    versions: tuple[int, ...]
    types: Mapping[str, frozenset[str]]
    on_cpu: tuple[int, ...]
    query: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Registrations(NamedTuple):
    """All rows of registrations.yaml by operator, and their release of ONNX Runtime with its newest opset.

    `later` are versions of operators, of these opsets, that only a later onnx has. `level` is the feature level that
    the provider asks for when it makes a device.
    """

    release: str
    opset: int
    later: Mapping[str, int]
    level: str
    rows: Mapping[str, tuple[Registration, ...]]


@cache
def registrations() -> Registrations:
    """Return the registrations of the DirectML provider."""
    value, release = read_registered(os.path.join(os.path.dirname(__file__), "registrations.yaml"))
    rows = {name: tuple(_row(row, value["types"]) for row in given) for name, given in value["operators"].items()}
    source = value["source"]
    return Registrations(release, source["opset"], source["later"], value["device"]["level"], rows)


def read_registered(path: str) -> tuple[Any, str]:
    """Return a file of a provider's registrations, and its release of ONNX Runtime."""
    document = yaml.read(path)
    if document.problems:
        raise ValueError(document.problems[0].message)
    source = document.value["source"]
    return document.value, f"{source['project']} {source['release']}"


def _row(row: Mapping[str, Any], sets: Mapping[str, list[str]]) -> Registration:
    types = types_of_row(row, sets, Registration._fields)
    inputs, outputs = parameters_of_row(row)
    return Registration(tuple(row["versions"]), types, tuple(row.get("on_cpu", ())), row.get("query"), inputs, outputs)


def types_of_row(
    row: Mapping[str, Any], sets: Mapping[str, list[str]], others: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return the types of each parameter of a row; a word may stand for a set of them. `others` are its other keys."""
    return {
        name: frozenset(each for word in words.split() for each in sets.get(word, [word]))
        for name, words in row.items()
        if name not in others
    }


def parameters_of_row(row: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the type parameters of the inputs and the outputs of a row: T if it has none."""
    inputs, outputs = (tuple(row.get(side, "T").split()) for side in ("inputs", "outputs"))
    return inputs, outputs


def is_registered(operator: str) -> bool:
    """Whether the provider has a row for an operator, in any version."""
    return operator in registrations().rows


def registration_of(operator: str, version: int) -> Registration | None:
    """Return the row for a version of an operator's schema."""
    return next((row for row in registrations().rows.get(operator, ()) if version in row.versions), None)


class Typed(NamedTuple):
    """A value of a node: its type parameter in the schema, its type, and its name in the schema."""

    parameter: str
    type: str
    name: str


def left_to_others(node: OnnxNode, version: int, values: Iterable[Typed]) -> str | None:
    """Return why the provider does not take a node, or None if it does; `version` is its schema's.

    Unmapped for nodes that it makes itself.
    """
    found = registrations()
    row = registration_of(node.type, version)
    if row is None and node.type.startswith(_FUSED):
        raise Unmapped(f"ONNX Runtime makes {node.type} of other nodes: check the model before this fusion")
    if row is None:
        return f"the DirectML provider of {found.release} {_has_instead(node.type, version)}"
    for value in values:
        if value.type not in row.types.get(value.parameter, _HELD):
            return f"{value.name} is {value.type}, which the DirectML provider of {found.release} does not take there"
    query = row_of(node.type).query if row.query else None
    return None if query is None else query(node)


def _has_instead(operator: str, version: int) -> str:
    versions = sorted(version for row in registrations().rows.get(operator, ()) for version in row.versions)
    if not versions:
        return f"does not register {operator}"
    advice = f": export the model with an opset below {version}" if version > versions[-1] else ""
    return f"has {', '.join(f'{operator}-{one}' for one in versions)}, not {operator}-{version}{advice}"


# ---- the kernels of the CPU


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
