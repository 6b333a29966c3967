"""Descs as ONNX Runtime's DirectML provider makes them, for tests that have them from its source."""

from __future__ import annotations

from typing import Any, NamedTuple

from onnx_nodes import fields

from dmlcheck.descs.read import read_desc
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import OnnxNode
from dmlcheck.onnx.operators.table import provider_steps
from dmlcheck.validation import minimum_level


class Sized(NamedTuple):
    """Sizes of a tensor, with the type and the strides where a row is about them."""

    sizes: tuple[int, ...]
    type: str | None = None
    strides: tuple[int, ...] | None = None


Made = tuple[str, dict[str, Any], dict[str, Any]]  # operator, tensors, all other fields


def without_values(one: OnnxNode) -> OnnxNode:
    """Return a node whose outputs are not known."""
    return one._replace(outputs=tuple(output and output.unknown() for output in one.outputs))


def made_of(one: OnnxNode) -> list[Made]:
    """Return the descs of a node without the values of their tensors."""
    descs = provider_steps(without_values(one))
    return [
        (
            each.operator,
            {name: of_tensor(value) for name, value in each.fields.items() if of_tensor(value) is not None},
            {name: value for name, value in fields(each).items() if of_tensor(value) is None},
        )
        for each in descs
    ]


def of_tensor(value: Any) -> Any:
    if isinstance(value, list) and value and of_tensor(value[0]) is not None:
        return [of_tensor(each) for each in value]
    return Sized(value.shape, value.data_type, value.strides) if isinstance(value, TensorRef) else None


def agrees(made: Any, expected: Any) -> bool:
    """Whether a tensor is as a row has it, by sizes alone, or by what else the row names."""
    if isinstance(expected, list):
        return len(made) == len(expected) and all(map(agrees, made, expected))
    if not isinstance(expected, Sized):
        return bool(made.sizes == expected)
    return made.sizes == expected.sizes and all(
        own is None or own == given for given, own in zip(made[1:], expected[1:], strict=True)
    )


def differences(one: OnnxNode, expected: list[Made]) -> list[Any]:
    """Return what the descs of a node have that a row does not say."""
    made = made_of(one)
    if [operator for operator, _, _ in made] != [operator for operator, _, _ in expected]:
        return [operator for operator, _, _ in made]
    wrong: list[Any] = []
    for (_, tensors, others), (_, own_tensors, own_others) in zip(made, expected, strict=True):
        wrong += [others] if others != own_others else []
        same = tensors.keys() == own_tensors.keys()
        wrong += [] if same and all(agrees(tensors[name], own_tensors[name]) for name in tensors) else [tensors]
    return wrong


def is_legal(one: OnnxNode) -> bool:
    """Whether all descs of a node are legal at some feature level."""
    descs = provider_steps(without_values(one))
    return None not in [minimum_level(read_desc(each.operator, fields_of(each.fields))) for each in descs]
