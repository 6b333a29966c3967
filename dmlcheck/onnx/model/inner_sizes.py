"""The sizes of a model's tensors: those that are given, and where another one is asked for, those that follow.

Needs the package onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.inference import Context, outputs_of
from dmlcheck.onnx.model.values import Value, constant_value, initial


class InnerSizes(Mapping[str, Sequence[int]]):
    """The known sizes of tensors by name; nodes are only followed once a size is asked for that is not given."""

    def __init__(self, model: Any, weights: Mapping[str, Any], given: Mapping[str, Sequence[int]]) -> None:
        """Take a model without its weights, these as onnx.TensorProto, and the sizes of inputs and other tensors."""
        self._model = model
        self._weights = weights
        self._known = dict(given)
        self._is_followed = False

    def __getitem__(self, name: str) -> Sequence[int]:
        """Return the sizes of a tensor; KeyError if they are not known."""
        if name not in self._known and not self._is_followed:
            self._is_followed = True
            self._known = {**_followed(self._model, self._weights, self._known), **self._known}
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the tensors of known sizes."""
        return iter(self._known)

    def __len__(self) -> int:
        """Return how many tensors have known sizes."""
        return len(self._known)


def _followed(model: Any, weights: Mapping[str, Any], given: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    """Return the sizes of the tensors outside of inner graphs that follow from the given ones."""
    opsets = {entry.domain: int(entry.version) for entry in model.opset_import}
    declared = {value.name: value.type for value in (*model.graph.value_info, *model.graph.output)}
    of = Context(opsets, declared, model.ir_version)
    scope = {"": Value(None), **{name: initial(tensor) for name, tensor in weights.items()}}
    scope.update((value.name, _of_input(value, given.get(value.name))) for value in model.graph.input)
    for node in model.graph.node:
        value = constant_value(node)
        if value is not None:
            scope[node.output[0]] = value
            continue
        try:
            made = outputs_of(node, of, [scope.get(name, _UNKNOWN) for name in node.input])
        except Unmapped:
            made = [Value(declared.get(name)) for name in node.output]
        scope.update(zip(node.output, made, strict=True))
    return {name: value.known for name, value in scope.items() if value.known is not None}


_UNKNOWN = Value(None)


def _of_input(value: Any, sizes: Sequence[int] | None) -> Value:
    """Return an input, of the sizes that are given for it."""
    from onnx import helper

    kind = value.type.tensor_type.elem_type
    return Value(value.type if sizes is None or not kind else helper.make_tensor_type_proto(kind, list(sizes)))
