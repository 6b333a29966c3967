"""A whole model with every tensor kept, in as many runs as fit into memory; and the model as ONNX Runtime makes it."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dmlcheck.models.process import tensors_of
from dmlcheck.onnx.model.parts import SHAPE_OF, bytes_of_kind, with_outputs
from dmlcheck.onnx.reading import MOST_PROTOBUF
from dmlcheck.running.computed import NoOutputs, failed

_WIDEST = 8  # bytes of an element whose type is not known
_SPARE = 2**20  # bytes that a protobuf may have besides the values of its tensors
_NOT_GIVEN = "the whole model did not run"


class WholeModel:
    """A whole model with its inputs, run by an implementation, that keeps a limited number of bytes of tensors at once.

    `kinds` are the element types of tensors; those without a type of NumPy are not kept, nor are values other than
    tensors.
    """

    def __init__(
        self, proto: Any, inputs: Mapping[str, Any], most: int, implementation: Any, kinds: Mapping[str, str] = {}
    ) -> None:
        self.proto = proto
        self.inputs = inputs
        self.most = most
        self.implementation = implementation
        self.kinds = kinds

    def tensors(self, nodes: Mapping[str, Sequence[str]]) -> Iterator[Mapping[str, Any] | NoOutputs | str]:
        """Yield the tensors that each node asks for by name, one node after the other.

        If the model does not run, the first node gets the error, and the others a reason to skip them.
        """
        asked = dict.fromkeys(name for names in nodes.values() for name in names)
        no_tensors = {name for name in asked if name in self.kinds and bytes_of_kind(self.kinds[name]) is None}
        sizes = self._bytes_of([name for name in asked if name not in no_tensors])
        if isinstance(sizes, NoOutputs):
            yield sizes
            while True:
                yield _NOT_GIVEN
        for group in _groups(nodes, sizes, self.most):
            names = list(dict.fromkeys(name for node in group for name in nodes[node] if name not in no_tensors))
            kept = self._run(names)
            for number, node in enumerate(group):
                if isinstance(kept, NoOutputs):
                    yield kept if number == 0 else _NOT_GIVEN
                else:
                    yield {name: kept[name] for name in nodes[node] if name in kept}
            del kept  # before the next pass takes its place

    def _bytes_of(self, names: list[str]) -> dict[str, int] | NoOutputs:
        """Return how many bytes tensors take; the model runs once for their shapes."""
        shapes = self._run([], shapes_of=names)
        if isinstance(shapes, NoOutputs):
            return shapes
        widths = {name: bytes_of_kind(self.kinds.get(name, "")) or _WIDEST for name in names}
        return {name: math.prod(map(int, shapes[SHAPE_OF + name])) * width for name, width in widths.items()}

    def _run(self, names: list[str], shapes_of: Sequence[str] = ()) -> Mapping[str, Any] | NoOutputs:
        wanted = [*names, *(SHAPE_OF + name for name in shapes_of)]
        if not wanted:
            return {}
        with with_outputs(self.proto, names, shapes_of) as proto, as_given(proto) as given:
            if isinstance(given, str) and not takes_paths(self.implementation):
                return failed(self.implementation, "takes models of up to 2 GiB, and this one is larger")
            return tensors_of(given, self.inputs, wanted, self.implementation)


def _groups(nodes: Mapping[str, Sequence[str]], sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """Yield nodes in groups whose tensors fit into the bytes; a node that does not fit is a group of its own."""
    group: list[str] = []
    kept: set[str] = set()
    for node, names in nodes.items():
        more = kept.union(names)
        if group and sum(sizes.get(name, 0) for name in more) > most:
            yield group
            group, more = [], set(names)
        group.append(node)
        kept = more
    if group:
        yield group


def takes_paths(implementation: Any) -> bool:
    """Whether an implementation also takes the path of a model: ONNX Runtime does, a Python object gets bytes."""
    return implementation.optimized_model is not None


@contextlib.contextmanager
def as_given(proto: Any) -> Iterator[bytes | str]:
    """Keep a model as bytes, or, if a protobuf cannot hold these, as a file with its weights next to it."""
    if proto.ByteSize() <= MOST_PROTOBUF - _SPARE:
        yield proto.SerializeToString()
        return
    import onnx

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save_model(proto, path, save_as_external_data=True, location="weights")
        onnx.load_external_data_for_model(proto, folder)  # saving leaves the model without its weights
        yield path


def optimized(proto: Any, implementation: Any) -> Any:
    """Return an onnx.ModelProto as ONNX Runtime optimizes it, or NoOutputs."""
    import onnx

    with tempfile.TemporaryDirectory() as folder, as_given(proto) as given:
        path = os.path.join(folder, "optimized.onnx")
        try:
            implementation.optimized_model(given, path)
            return onnx.load(path)
        except Exception as error:  # noqa: BLE001 - any exception is reported
            return failed(implementation, f"cannot optimize the model: {error}")
