"""ONNX's backend tests as they lie on disk: a model, and the values in the folders test_data_set_* beside it.

Needs the package onnx.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.reading import Unreadable, checked_tensor, element_type, file_bytes, parsed_tensor

_DATA = re.compile(r"test_data_set_?(\d*)")


class BackendTest(NamedTuple):
    """A model with one data set: values by the names that the graph has for them."""

    model: Any
    inputs: Mapping[str, TensorRef]
    outputs: Mapping[str, TensorRef]


def tests_of(path: str, model: Any) -> Iterator[BackendTest]:
    """Yield the model with each of its data sets."""
    folder = os.path.dirname(path)
    sets = {int(found[1] or 0): found[0] for found in map(_DATA.fullmatch, _listed(folder or ".")) if found}
    if not sets:
        raise Unmapped("there is no folder test_data_set_0 beside the model")
    given = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in given]
    for _, data in sorted(sets.items()):
        place = os.path.join(folder, data)
        yield BackendTest(model, _values(place, "input", inputs), _values(place, "output", model.graph.output))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise Unreadable(folder, f"cannot be read: {error.strerror or error}", "file-not-found") from None


def _values(folder: str, kind: str, infos: Iterable[Any]) -> dict[str, TensorRef]:
    """Return the tensors in the files of a data set by the names of the graph's inputs or outputs."""
    values = {}
    for index, info in enumerate(infos):
        path = os.path.join(folder, f"{kind}_{index}.pb")
        if not info.type.HasField("tensor_type"):
            form = (info.type.WhichOneof("value") or "nothing").removesuffix("_type")
            raise Unmapped(f"{info.name} is no tensor, but {form}, which DirectML does not have")
        if not os.path.isfile(path):
            raise Unmapped(f"{os.path.basename(folder)} has no {kind}_{index}.pb")
        tensor = parsed_tensor(path, file_bytes(path), "a tensor of ONNX")
        values[info.name] = checked_tensor(path, tensor, info.name)
        declared = info.type.tensor_type.elem_type
        if declared != tensor.data_type:
            raise Unmapped(
                f"{info.name} is {element_type(tensor.data_type)} in its file and {element_type(declared)} in the model"
            )
    return values
