"""The kernels of ONNX Runtime's DirectML provider: their operators, versions and types."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.files import yaml
from dmlcheck.onnx.descs.node import OnnxNode, Unmapped
from dmlcheck.onnx.export.records import TYPES
from dmlcheck.onnx.operators.table import row_of

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
