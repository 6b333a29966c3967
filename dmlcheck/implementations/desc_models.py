"""Descs as ONNX models, for implementations that run models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Unsupported
from dmlcheck.implementations.protocol import Adapted
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import BYTES_OF, TYPES, ExportedGraph, ExportedNode, GraphValue, Inexpressible

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array


class DescModel(NamedTuple):
    """A desc as a model: its graph, and its bytes."""

    graph: ExportedGraph
    data: bytes


def model_of(desc: OperatorDesc) -> DescModel:
    """Return a desc as a model. Inexpressible if ONNX cannot express it exactly; ImportError without onnx."""
    from dmlcheck.onnx.proto import model_proto

    graph = with_bytes(build(desc))
    return DescModel(graph, model_proto(graph).SerializeToString(deterministic=True))


def feed_of(graph: ExportedGraph, inputs: dict[str, Any]) -> dict[str, Array]:
    """Return the inputs of a desc by the names that they have in its model; Unsupported if they fit only the desc."""
    import numpy as np

    arrays = dict(_labelled(inputs))
    feed = {value.name: np.ascontiguousarray(arrays[value.name]) for value in graph.inputs}
    refuse_inexact(graph, feed)
    return feed


class DescsAsModels(Adapted):
    """An object that runs models and no descs, with a `run` that gives it the model of a desc."""

    validates = False  # a desc that is not valid has no model

    def __init__(self, runner: Any) -> None:
        """Take the object; its other attributes are found here, too."""
        super().__init__(runner)
        self._last: tuple[OperatorDesc, DescModel] | None = None

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why the object cannot run a desc, or why ONNX cannot express it exactly."""
        reason = self.says(desc)
        if reason is not None:
            return reason
        try:
            self._model(desc)
        except Inexpressible as problem:
            return str(problem)
        except ImportError as error:
            return f"a desc becomes an ONNX model with the package {error.name or 'onnx'}, which is not installed"
        return None

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        model = self._model(desc)
        names = [value.name for value in model.graph.outputs]
        outputs: dict[str, Array] = self.run_model(model.data, feed_of(model.graph, inputs), names)
        return outputs

    def _model(self, desc: OperatorDesc) -> DescModel:
        if self._last is None or self._last[0] is not desc:
            self._last = desc, model_of(desc)
        return self._last[1]


# After these it does not matter whether their argument is rounded or their result.
_KEEPS_ROUNDING = ("Abs", "Clip", "Identity")


def refuse_inexact(graph: ExportedGraph, feed: dict[str, Array]) -> None:
    """Raise Unsupported if an input times a power of two leaves its type before the operator under test.

    DirectML rounds once: an overflow on the way, or a shorter denormal, would count as an error of the operator.
    """
    import numpy as np

    numbers = {constant.value.name: constant.elements[0] for constant in graph.constants if not constant.value.sizes}
    factors = {name: number for name, number in numbers.items() if abs(math.frexp(number)[0]) == 0.5}
    for node in graph.nodes:
        if node.type != "Mul" or node.inputs[0] not in feed or node.inputs[1] not in factors:
            continue
        users = [other.type for other in graph.nodes if node.outputs[0] in other.inputs]
        x = feed[node.inputs[0]]
        if x.dtype.kind != "f" or all(user in _KEEPS_ROUNDING for user in users):
            continue
        with np.errstate(all="ignore"):
            product = (x * x.dtype.type(factors[node.inputs[1]])).astype(np.float64)
            exact = x.astype(np.float64) * factors[node.inputs[1]]
        if not ((product == exact) | np.isnan(exact)).all():
            raise Unsupported("a product before the operator leaves the range of the data type")


def _labelled(inputs: dict[str, Any]) -> Any:
    """Yield the arrays of a case by the labels of their tensors."""
    for name, value in inputs.items():
        if isinstance(value, list):
            yield from ((f"{name}[{index}]", array) for index, array in enumerate(value))
        else:
            yield name, value


# ---- 8-bit inputs and outputs in place of 4-bit ones, for programs that pass arrays: no array has 4 bits


def with_bytes(graph: ExportedGraph) -> ExportedGraph:
    """Return a graph that casts its 4-bit inputs from, and its 4-bit outputs to, 8-bit ones of the same names."""
    inner = {value.name: _inner(value) for value in (*graph.inputs, *graph.outputs) if value.data_type in BYTES_OF}
    if not inner:
        return graph
    names = {outer: value.name for outer, value in inner.items()}
    nodes = [
        node._replace(inputs=_renamed(node.inputs, names), outputs=_renamed(node.outputs, names))
        for node in graph.nodes
    ]
    inputs, outputs = tuple(map(_outer, graph.inputs)), tuple(map(_outer, graph.outputs))
    before = [_cast(outer, inner[outer.name]) for outer in inputs if outer.name in inner]
    after = [_cast(inner[outer.name], outer) for outer in outputs if outer.name in inner]
    values = (*graph.values, *inner.values())
    return graph._replace(nodes=(*before, *nodes, *after), inputs=inputs, outputs=outputs, values=values)


def _inner(value: GraphValue) -> GraphValue:
    return value._replace(name=f"{value.name} of 4 bits")


def _outer(value: GraphValue) -> GraphValue:
    return value._replace(data_type=BYTES_OF.get(value.data_type, value.data_type))


def _renamed(names: Sequence[str], new: dict[str, str]) -> tuple[str, ...]:
    return tuple(new.get(name, name) for name in names)


def _cast(before: GraphValue, after: GraphValue) -> ExportedNode:
    return ExportedNode("Cast", (before.name,), (after.name,), {"to": TYPES[after.data_type]})


def refuse_deadly(graph: ExportedGraph, feed: dict[str, Array]) -> None:
    """Raise Unsupported for integer divisions that could end the process, and lose all other results with it.

    Their results are undefined in DirectML.
    """
    for node in graph.nodes:
        if node.type not in ("Div", "Mod") or not all(name in feed for name in node.inputs):
            continue
        above, below = (feed[name] for name in node.inputs)
        reason = deadly_division(above, below)
        if reason is not None:
            raise Unsupported(reason)


def deadly_division(above: Array, below: Array) -> str | None:
    """Return why a division could end the process on a CPU, or None."""
    import numpy as np

    if below.dtype.kind not in "iu":
        return None
    if not below.all():
        return "an integer division by 0 could end the process"
    if below.dtype.kind == "i" and ((above == np.iinfo(above.dtype).min) & (below == -1)).any():
        return "an integer division that overflows could end the process"
    return None
