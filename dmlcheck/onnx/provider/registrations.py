"""What ONNX Runtime's DirectML provider takes: which operators, in which versions and of which types."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.files import yaml
from dmlcheck.onnx.descs.node import Node, Refused
from dmlcheck.onnx.export.records import TYPES
from dmlcheck.onnx.operators.provider.einsum import is_known

_HELD = frozenset((*TYPES.values(), "BOOL"))  # types that tensors of DirectML have: ExecutionProvider.cpp asks for them
Limit = Callable[[Node], "str | None"]  # why a node that fits a row is left to others all the same

# Why there is no desc of an operator that the provider registers.
_BY_SIZES = "DirectML computes nothing for it: the result follows from sizes, or is one of the inputs"
_BY_GRAPHS = "DirectML computes nothing for it: it runs one of its graphs, whose nodes are checked"
_BY_SHADERS = "the DirectML provider computes it with shaders of its own: DirectML has no operator for it"
_WITHOUT_DESCS = {
    # RegisterCpuOperatorsAsDml in OperatorRegistration.cpp, DmlOperatorShape.cpp and DmlOperatorSize.cpp
    "If": _BY_GRAPHS,
    "OptionalGetElement": _BY_SIZES,
    "OptionalHasElement": _BY_SIZES,
    "SequenceAt": _BY_SIZES,
    "SequenceConstruct": _BY_SIZES,
    "SequenceEmpty": _BY_SIZES,
    "SequenceErase": _BY_SIZES,
    "SequenceInsert": _BY_SIZES,
    "SequenceLength": _BY_SIZES,
    "Shape": _BY_SIZES,
    "Size": _BY_SIZES,
    # DmlDFT.h and DmlGridSample.h
    "DFT": _BY_SHADERS,
    "GridSample": _BY_SHADERS,
}


_FUSED = "com.microsoft.dml."  # the domain of what the provider makes of several nodes


class Row(NamedTuple):
    """Versions of an operator that are registered alike, the types of its type parameters, and the provider's query.

    `on_cpu` are the inputs that the provider reads on the CPU. `inputs` and `outputs` are the type parameters of the
    values, the last one also of those after it, where ONNX has no schema of the operator.
    """

    versions: tuple[int, ...]
    types: Mapping[str, frozenset[str]]
    on_cpu: tuple[int, ...]
    query: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Registrations(NamedTuple):
    """All rows of registrations.yaml by operator, and their release of ONNX Runtime with its newest opset.

    `level` is the feature level that the provider asks for when it makes a device.
    """

    release: str
    opset: int
    level: str
    rows: Mapping[str, tuple[Row, ...]]


@cache
def registrations() -> Registrations:
    """Return what the provider registers."""
    value, release = read_registered(os.path.join(os.path.dirname(__file__), "registrations.yaml"))
    rows = {name: tuple(_row(row, value["types"]) for row in given) for name, given in value["operators"].items()}
    return Registrations(release, value["source"]["opset"], value["device"]["level"], rows)


def read_registered(path: str) -> tuple[Any, str]:
    """Return a file of what a provider registers, and the release of ONNX Runtime that it is of."""
    document = yaml.read(path)
    if document.problems:
        raise ValueError(document.problems[0].message)
    source = document.value["source"]
    return document.value, f"{source['project']} {source['release']}"


def _row(row: Mapping[str, Any], sets: Mapping[str, list[str]]) -> Row:
    types = types_of_row(row, sets, Row._fields)
    inputs, outputs = parameters_of_row(row)
    return Row(tuple(row["versions"]), types, tuple(row.get("on_cpu", ())), row.get("query"), inputs, outputs)


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
    """Return the type parameters of the inputs and the outputs of a row: T where it has none."""
    inputs, outputs = (tuple(row.get(side, "T").split()) for side in ("inputs", "outputs"))
    return inputs, outputs


def is_registered(operator: str) -> bool:
    """Whether the provider has a row for an operator, in whatever version."""
    return operator in registrations().rows


def row_of(operator: str, version: int) -> Row | None:
    """Return the row for a version of an operator's schema."""
    return next((row for row in registrations().rows.get(operator, ()) if version in row.versions), None)


class Typed(NamedTuple):
    """A value of a node: the type parameter of the schema that it is of, its type, and what the schema calls it."""

    parameter: str
    type: str
    name: str


def left_to_others(node: Node, version: int, values: Iterable[Typed]) -> str | None:
    """Return why the provider does not take a node, or None where it does; `version` is that of its schema.

    Refused for what it makes itself.
    """
    found = registrations()
    row = row_of(node.type, version)
    if row is None and node.type.startswith(_FUSED):
        raise Refused(f"{node.type} is what ONNX Runtime fuses nodes to: check the model before that")
    if row is None:
        return f"the DirectML provider of {found.release} {_has_instead(node.type, version)}"
    for value in values:
        if value.type not in row.types.get(value.parameter, _HELD):
            return f"{value.name} is {value.type}, which the DirectML provider of {found.release} does not take there"
    return QUERIES[row.query](node) if row.query else None


def without_descs(operator: str) -> str | None:
    """Return why there is no desc of an operator that the provider takes, or None."""
    return _WITHOUT_DESCS.get(operator)


def _has_instead(operator: str, version: int) -> str:
    versions = sorted(version for row in registrations().rows.get(operator, ()) for version in row.versions)
    if not versions:
        return f"does not register {operator}"
    advice = f": export the model with an opset below {version}" if version > versions[-1] else ""
    return f"has {', '.join(f'{operator}-{one}' for one in versions)}, not {operator}-{version}{advice}"


# ---- what the provider asks of a node besides types


def _takes(node: Node, what: str) -> str:
    return f"the DirectML provider does not take {node.type} {what}"


def _attention(node: Node) -> str | None:
    """DmlOperatorAttention.cpp, QueryAttention."""
    kept = next((name for index, name in ((4, "past"), (6, "past_sequence_length")) if node.has(index)), None)
    if kept is not None:
        return _takes(node, f"with the input {kept}")
    if _gives(node, 1):
        return _takes(node, "with the output present")
    return _is_set(node, "unidirectional", "do_rotary", "past_present_share_buffer")


def _batch_normalization(node: Node) -> str | None:
    """DmlOperatorBatchNormalization.cpp, QueryBatchNormalization."""
    if node.get("training_mode", 0):
        return _takes(node, "in training")
    types = {value.dtype for value in node.inputs[:5] if value is not None}
    return _takes(node, "of inputs of several types") if len(types) > 1 else None


def _einsum(node: Node) -> str | None:
    """DmlOperatorEinSum.cpp, QueryEinSum."""
    return None if is_known(node.get("equation")) else _takes(node, f"of the equation {node.get('equation')!r}")


def _layer_normalization(node: Node) -> str | None:
    """DmlOperatorLayerNormalization.cpp, QueryLayerNormalization."""
    return None if len(node.outputs) == 1 else _takes(node, "of more than one output")


def _mat_mul_n_bits(node: Node) -> str | None:
    """DmlOperatorMatMulNBits.cpp, QueryMatMulNBits."""
    bits, inner, block = node.whole("bits", 4), node.whole("K", 0), node.whole("block_size", 0)
    if bits not in (4, 8):
        return _takes(node, f"of {bits} bits")
    return (
        _takes(node, f"of K {inner}, which is no multiple of block_size {block}") if block and inner % block else None
    )


def _max_pool(node: Node) -> str | None:
    """DmlOperatorPooling.cpp, QueryMaxPool."""
    return _is_set(node, "storage_order")


def _pad(node: Node) -> str | None:
    """DmlOperatorPadding.cpp, QueryPad."""
    return _takes(node, "of negative pads") if any(pad < 0 for pad in node.get("pads", ())) else None


def _q_attention(node: Node) -> str | None:
    """DmlOperatorQAttention.cpp, QueryQAttention."""
    if node.get("unidirectional", 0) and node.has(5):
        return _takes(node, "of unidirectional 1 with a mask")
    return _is_set(node, "do_rotary", "past_present_share_buffer")


def _q_linear_sigmoid(node: Node) -> str | None:
    """DmlOperatorQLinearSigmoid.cpp, QueryQLinearSigmoid."""
    return _takes(node, "without the zero points") if len(node.inputs) < 5 else None


def _recurrent(node: Node) -> str | None:
    """DmlOperatorRecurrentNeuralNetwork.cpp, QueryRecurrentNeuralNetwork."""
    return _is_set(node, "layout")


def _resize(node: Node) -> str | None:
    """DmlOperatorResize.cpp, QueryResize."""
    if node.get("mode", "nearest") == "cubic":
        return _takes(node, "of mode cubic")
    return _is_set(node, "exclude_outside", "extrapolation_value")


def _scatter(node: Node) -> str | None:
    """DmlOperatorScatter.cpp, QueryScatter."""
    reduction = node.get("reduction", "none")
    return None if reduction == "none" else _takes(node, f"of reduction {reduction}")


def _skip_layer_normalization(node: Node) -> str | None:
    """DmlOperatorSkipLayerNormalization.cpp, QuerySkipLayerNormalization."""
    given = next((name for index, name in ((1, "mean"), (2, "inv_std_var")) if _gives(node, index)), None)
    return None if given is None else _takes(node, f"with the output {given}")


def _slice(node: Node) -> str | None:
    """DmlOperatorSlice.cpp, QuerySlice."""
    return _takes(node, "of more than 5 inputs") if len(node.inputs) > 5 else None


def _gives(node: Node, index: int) -> bool:
    return node.gives(index) or index in node.untyped


def _is_set(node: Node, *attributes: str) -> str | None:
    name = next((name for name in attributes if node.get(name, 0)), None)
    return None if name is None else _takes(node, f"of {name} {node.get(name)}")


QUERIES: dict[str, Limit] = {
    "QueryAttention": _attention,
    "QueryBatchNormalization": _batch_normalization,
    "QueryEinSum": _einsum,
    "QueryLayerNormalization": _layer_normalization,
    "QueryMatMulNBits": _mat_mul_n_bits,
    "QueryMaxPool": _max_pool,
    "QueryPad": _pad,
    "QueryQAttention": _q_attention,
    "QueryQLinearSigmoid": _q_linear_sigmoid,
    "QueryRecurrentNeuralNetwork": _recurrent,
    "QueryResize": _resize,
    "QueryScatter": _scatter,
    "QuerySkipLayerNormalization": _skip_layer_normalization,
    "QuerySlice": _slice,
}
