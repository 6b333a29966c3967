"""What ONNX Runtime's DirectML provider takes: which operators, in which versions and of which types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.files import yaml
from dmlcheck.formats.onnx.from_onnx.node import Node

Limit = Callable[[Node], "str | None"]  # why a node that fits a row is left to others all the same

_RECURRENT = ("RNN", "GRU", "LSTM")
_NOT_COMPUTED = [
    "If",
    "OptionalGetElement",
    "OptionalHasElement",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "Shape",
    "Size",
]


class Row(NamedTuple):
    """Versions of an operator that are registered alike, and the types of its type parameters."""

    opsets: tuple[int, ...]
    types: Mapping[str, frozenset[str]]


class Registrations(NamedTuple):
    """All rows of registrations.yaml by operator, and what they are from: a release of ONNX Runtime."""

    release: str
    rows: Mapping[str, tuple[Row, ...]]


@cache
def registrations() -> Registrations:
    """Return what the provider registers."""
    document = yaml.read(os.path.join(os.path.dirname(__file__), "registrations.yaml"))
    if document.problems:
        raise ValueError(document.problems[0].message)
    source, sets = document.value["source"], document.value["types"]
    rows = {name: tuple(_row(row, sets) for row in given) for name, given in document.value["operators"].items()}
    return Registrations(f"{source['project']} {source['release']}", rows)


def _row(row: Mapping[str, Any], sets: Mapping[str, list[str]]) -> Row:
    types = {name: _types(words, sets) for name, words in row.items() if name != "opsets"}
    return Row(tuple(row["opsets"]), types)


def _types(words: str, sets: Mapping[str, list[str]]) -> frozenset[str]:
    return frozenset(name for word in words.split() for name in sets.get(word, [word]))


def opsets_of(operator: str) -> list[int]:
    """Return the opsets that an operator is registered for."""
    return [opset for row in registrations().rows.get(operator, ()) for opset in row.opsets]


class Typed(NamedTuple):
    """A value of a node: the type parameter of the schema that it is of, its type, and what the schema calls it."""

    parameter: str
    type: str
    name: str


def left_to_others(node: Node, version: int, values: Iterable[Typed], versions: Mapping[int, int]) -> str | None:
    """Return why the provider leaves a node to others, or None where it takes it.

    `version` is that of the node's schema; `versions` are the versions of its operator's schemas in the opsets of the
    rows, by opset.
    """
    found = registrations()
    rows = found.rows.get(node.type)
    if rows is None:
        return f"the DirectML provider of {found.release} does not register {node.type}"
    fitting = [row for row in rows if any(versions.get(opset) == version for opset in row.opsets)]
    if not fitting:
        known = sorted({versions[opset] for row in rows for opset in row.opsets if opset in versions})
        has = f"has {', '.join(f'{node.type}-{one}' for one in known)}" if known else "has other versions of it"
        return f"the DirectML provider of {found.release} {has}, not {node.type}-{version}"
    for value in values:
        allowed = fitting[0].types.get(value.parameter)
        if allowed is not None and value.type not in allowed:
            return f"{value.name} is {value.type}, which the DirectML provider of {found.release} does not take there"
    limit = _LIMITS.get(node.type)
    return None if limit is None else limit(node)


# ---- what the provider asks of a node besides types


def _is_set(attribute: str, reason: str) -> Limit:
    return lambda node: reason if node.get(attribute, 0) else None


def _is_other(attribute: str, taken: str) -> Limit:
    def limit(node: Node) -> str | None:
        given = node.get(attribute, taken)
        return None if given == taken else f"the DirectML provider does not take {node.type} of {attribute} {given}"

    return limit


def _resize(node: Node) -> str | None:
    if node.get("mode", "nearest") == "cubic":
        return "the DirectML provider does not take Resize of mode cubic"
    if node.get("exclude_outside", 0) or node.get("extrapolation_value", 0.0):
        return "the DirectML provider does not take Resize of exclude_outside or extrapolation_value"
    return None


def _first_output_alone(node: Node) -> str | None:
    more = any(value is not None for value in node.outputs[1:3])
    return f"the DirectML provider takes {node.type} of one output only" if more else None


_BY_SIZES = "DirectML computes nothing for it: the result follows from sizes, or is one of the inputs"
_LIMITS: dict[str, Limit] = {
    "BatchNormalization": _is_set(
        "training_mode", "the DirectML provider does not take BatchNormalization in training"
    ),
    "LayerNormalization": _first_output_alone,
    "MaxPool": _is_set("storage_order", "the DirectML provider does not take MaxPool of storage_order 1"),
    "Resize": _resize,
    "com.microsoft.SkipLayerNormalization": _first_output_alone,
    **{name: _is_set("layout", f"the DirectML provider does not take {name} of layout 1") for name in _RECURRENT},
    **{name: _is_other("reduction", "none") for name in ("ScatterElements", "ScatterND")},
    **{name: lambda _: _BY_SIZES for name in _NOT_COMPUTED},
}
