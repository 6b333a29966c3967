"""The tensors of the nodes of a model, node after node: run one by one, all in one, or recorded elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.implementations import Failure
from dmlcheck.models.cases import Loaded, NodeCase
from dmlcheck.models.node_verdict import Unjudged
from dmlcheck.models.process import tensors_of
from dmlcheck.models.whole_model import WholeModel
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.parts import bytes_of_kind, bytes_of_node, join_weights
from dmlcheck.onnx.reading import constant, first_line
from dmlcheck.running.computed import NoOutputs
from dmlcheck.running.results import NotFinite
from dmlcheck.values.number_formats import NUMPY_TYPES


class NodeTensors(NamedTuple):
    """The tensors that a node reads and gives, by name, without constants; or why there are none, or it is skipped.

    `is_stood_in` says that a skipped node has tensors of the reference, for the nodes after it.
    """

    tensors: Mapping[str, Any] = {}
    nothing: NoOutputs | None = None
    skipped: Unjudged | None = None
    is_stood_in: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the implementation gave the tensors, or none at all."""
        return self.nothing is None and not self.is_stood_in


Begin = Callable[[NodeCase], object]
StandIn = Callable[[NodeCase, Loaded, Mapping[str, Any]], Mapping[str, Any]]
_NOT_ASKED = NodeTensors()
_TYPES = frozenset([np.dtype(bool), *map(np.dtype, NUMPY_TYPES.values())])


def no_stand_in(node: NodeCase, model: Loaded, tensors: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG001
    """Give nothing in place of a node."""
    return {}


# ---- node by node


def by_node(
    model: Loaded, chosen: Collection[str], implementation: Any, begin: Begin, stand_in: StandIn = no_stand_in
) -> Iterator[tuple[NodeCase, NodeTensors]]:
    """Run the nodes of some names, and those that they depend on, each on the implementation's earlier outputs.

    A tensor is dropped after its last reader. `begin` is called with each node before it runs, and `stand_in` gives the
    outputs of a node that the implementation does not support, for the nodes after it.
    """
    asked = needed(model.nodes, chosen)
    last = {name: node.case.name for node in model.nodes for name in node.reads}
    values = dict(model.inputs)
    lost: dict[str, str] = {}  # the tensors that are not there, each with the first node that gave nothing
    for node in model.nodes:
        if node.case.name not in asked:
            yield node, _NOT_ASKED
            continue
        begin(node)
        found = run_node(node, model, values, implementation, lost)
        if found.nothing is not None and found.nothing.is_unsupported:
            found = found._replace(tensors={**found.tensors, **stand_in(node, model, found.tensors)})
        given = [name for name in node.node.output if name]
        made = {name: found.tensors[name] for name in given if name in found.tensors}
        yield node, found
        values.update((name, array) for name, array in made.items() if name in last)
        if len(made) < len(given):
            first = next((lost[name] for name in node.reads if name in lost), node.case.name)
            lost.update((name, first) for name in given if name not in made)
        for name in node.reads:
            if last[name] == node.case.name:
                values.pop(name, None)


def run_node(
    node: NodeCase, model: Loaded, values: Mapping[str, Any], implementation: Any, lost: Mapping[str, str] = {}
) -> NodeTensors:
    """Run one node as a model of its own; `values` has its inputs, and `lost` why one is missing."""
    reads = [name for name in node.reads if name not in model.constants]
    missing = next((name for name in reads if name not in values), None)
    if missing is not None:
        first = lost.get(missing)
        reason = f"it depends on {first}, which gave nothing" if first else f"it reads {missing}, which nothing gives"
        return NodeTensors(skipped=Unjudged("missing-tensor", reason))
    inputs = {name: values[name] for name in reads}
    problem = deadly(node.node, {**inputs, **_divisors(node, model)})
    if problem is not None:
        return NodeTensors(skipped=Unjudged("unsupported-by-implementation", problem))
    own = {name: model.constants[name] for name in node.reads if name in model.constants}
    tables = _tables(node, own, model)
    constants = {name: tensor for name, tensor in own.items() if name not in tables}
    try:
        pieces = bytes_of_node(node.node, model.proto, constants, {**inputs, **tables})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return NodeTensors(skipped=Unjudged("not-mapped", f"it makes no model of its own: {first_line(error)}"))
    names = [name for name in node.node.output if name]
    found = tensors_of(pieces, {**inputs, **tables}, names, implementation)
    if isinstance(found, NoOutputs):
        return NodeTensors(inputs, nothing=found)
    return _of_found(found, inputs, model.kinds, elsewhere=implementation.ran_elsewhere)


def _of_found(
    found: Mapping[str, Any], inputs: Mapping[str, Any], kinds: Mapping[str, str], *, elsewhere: bool
) -> NodeTensors:
    """Return the tensors of a node that ran; skipped if it ran elsewhere, or has elements of types that are lost.

    ONNX Runtime gives floats of 8 bits as bytes.
    """
    foreign = [name for name, value in found.items() if _is_foreign(value, kinds.get(name, ""))]
    if foreign:
        reason = f"it gives {foreign[0]} as another type than {kinds[foreign[0]]}"
        return NodeTensors(inputs, skipped=Unjudged("unsupported-by-implementation", reason))
    why = Unjudged("runs-elsewhere", _ELSEWHERE) if elsewhere else None
    return NodeTensors({**inputs, **found}, skipped=why)


_ELSEWHERE = "the provider does not take it, and ONNX Runtime runs it on the CPU"


def _is_foreign(value: Any, kind: str) -> bool:
    """Whether elements of a type that NumPy lacks are given as elements of one that it has."""
    is_number = kind.startswith(("BFLOAT", "FLOAT", "INT", "UINT")) and bytes_of_kind(kind) is None
    return is_number and isinstance(value, np.ndarray) and value.dtype.num < _FIRST_OF_EXTENSIONS


_FIRST_OF_EXTENSIONS = 256  # NPY_USERDEF of NumPy; `isbuiltin` is 0 for types that came from another process


def _tables(node: NodeCase, constants: Mapping[str, Any], model: Loaded) -> dict[str, Any]:
    """Return the large constants in which a node looks something up: as inputs they are not copied."""
    if node.node.op_type not in _LOOKUPS:
        return {}
    found = {name: array_of(name, {}, model) for name, one in constants.items() if one.ByteSize() > _LARGE}
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


_LOOKUPS = ("Gather", "GatherElements", "GatherND")
_LARGE = 16 * 2**20  # bytes


def needed(nodes: Sequence[NodeCase], chosen: Collection[str]) -> set[str]:
    """Return the names of chosen nodes, and of those that they depend on."""
    found, wanted = set[str](), set[str]()
    for node in reversed(nodes):
        if node.case.name in chosen or not wanted.isdisjoint(node.node.output):
            found.add(node.case.name)
            wanted.update(node.reads)
    return found


def _divisors(node: NodeCase, model: Loaded) -> dict[str, Any]:
    """Return the constants that a division reads."""
    names = [name for name in node.reads if name in model.constants] if node.node.op_type in DIVISIONS else []
    arrays = {name: array_of(name, {}, model) for name in names}
    return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}


# ---- all in one


def of_whole(
    model: Loaded, chosen: Collection[str], implementation: Any, most: int, begin: Begin
) -> Iterator[tuple[NodeCase, NodeTensors]]:
    """Run the whole model as often as needed to keep the tensors of the nodes of some names in a limit of bytes."""
    names = {
        node.case.name: [
            name
            for name in (*node.reads, *node.node.output)
            if name and name not in model.constants and name not in model.inputs
        ]
        for node in model.nodes
        if node.case.name in chosen
    }
    whole = model.proto if model.proto.graph.initializer else join_weights(model.proto, model.constants)
    kept = WholeModel(whole, model.inputs, most, implementation, model.kinds).tensors(names)
    for node in model.nodes:
        if node.case.name not in chosen:
            yield node, _NOT_ASKED
            continue
        begin(node)
        found = next(kept)
        if isinstance(found, NoOutputs):
            yield node, NodeTensors(nothing=found)
        elif isinstance(found, str):
            yield node, NodeTensors(skipped=Unjudged("unsupported-by-implementation", found))
        else:
            own = {name: model.inputs[name] for name in node.reads if name in model.inputs}
            yield node, NodeTensors({**own, **found})


# ---- recorded


def recorded(
    model: Loaded, tensor: Callable[[str], Any], stand_in: StandIn = no_stand_in
) -> Iterator[tuple[NodeCase, NodeTensors]]:
    """Yield the nodes with their recorded tensors.

    A node without some of them is skipped, and `stand_in` gives its outputs for the nodes after it. Such an output is
    dropped after its last reader.
    """
    last = {name: node.case.name for node in model.nodes for name in node.reads}
    stood_in: dict[str, Any] = {}
    for node in model.nodes:
        found = recorded_tensors(node, model, tensor)
        if found.skipped is not None:
            reads = {name: stood_in[name] for name in node.reads if name in stood_in}
            reads.update((name, found.tensors[name]) for name in node.reads if name in found.tensors)
            made = stand_in(node, model, reads)
            stood_in.update((name, array) for name, array in made.items() if name in last)
            found = found._replace(tensors={**reads, **made}, is_stood_in=bool(made))
        yield node, found
        for name in node.reads:
            if last[name] == node.case.name:
                stood_in.pop(name, None)


def recorded_tensors(node: NodeCase, model: Loaded, tensor: Callable[[str], Any]) -> NodeTensors:
    """Return the recorded tensors of a node; the model's inputs may be given separately."""
    found: dict[str, Any] = {}
    missing: Unjudged | None = None
    for name in (*node.reads, *node.node.output):
        if not name or name in model.constants:
            continue
        array, reason = model.inputs.get(name), f"{name} is not in the recorded file"
        try:
            array = known if (known := tensor(name)) is not None else array
        except Failure as error:
            array, reason = None, f"the recorded file {error}"
        if array is not None:
            found[name] = array
        elif missing is None:
            missing = Unjudged("missing-tensor", reason)
    return NodeTensors(found, skipped=missing)


# ---- arrays


def arrays_of(names: Sequence[str], tensors: Mapping[str, Any], model: Loaded) -> list[Any] | Unjudged:
    """Return the arrays of a node's inputs or outputs, or None if one is left out, or why one is no array."""
    arrays = []
    for name in names:
        array = array_of(name, tensors, model) if name else None
        if isinstance(array, Unjudged):
            return array
        arrays.append(array)
    return arrays


def array_of(name: str, tensors: Mapping[str, Any], model: Loaded) -> Any:
    """Return the array of a tensor or of a constant of the model, or the reason why there is none."""
    if name in model.constants:
        try:
            return constant(model.constants[name], name).values
        except Unmapped as reason:
            return Unjudged("not-mapped", str(reason))
    array = tensors.get(name)
    if not isinstance(array, np.ndarray):
        return Unjudged("not-mapped", f"{name} is {_no_array(model.kinds.get(name, ''))}")
    if array.dtype not in _TYPES:
        foreign = f"{name} has elements of {array.dtype}, which DirectML does not have"
        return Unjudged("not-mapped", foreign, is_for_good=True)
    return array


def _no_array(kind: str) -> str:
    """Return the kind of an object that is no array, in words."""
    is_tensor = kind.isupper()  # as the names of element types are
    return f"{kind}, of which there is no array" if is_tensor else "a sequence of tensors or nothing, and no tensor"


# ---- observations about the tensors of a node: new NaN, closeness to overflow, deadly divisions


_LARGEST = 65504.0  # of FLOAT16
_HEADROOM = 4.0  # a FLOAT16 tensor whose largest magnitude times this is beyond that is listed
DIVISIONS = ("Div", "Mod")


def deadly(node: Any, arrays: Mapping[str, Any]) -> str | None:
    """Return why a processor could end the process at a node, or None."""
    if node.op_type not in DIVISIONS or node.domain or not all(name in arrays for name in node.input):
        return None
    from dmlcheck.implementations.desc_models import deadly_division

    return deadly_division(*(np.asarray(arrays[name]) for name in node.input))


def not_finite(node: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[NotFinite, ...]:
    """Return the tensors in which a node makes NaN or infinities of inputs that are all finite."""
    found = []
    for name, array in zip(node.output, outputs, strict=True):
        if _is_float(array) and not np.isfinite(array).all():
            found.append(NotFinite(name, int(np.isnan(array).sum()), int(np.isinf(array).sum())))
    if found and any(_is_float(array) and not np.isfinite(array).all() for array in inputs):
        return ()
    return tuple(found)


def _is_float(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"


def largest_halves(node: Any, outputs: Sequence[Any]) -> dict[str, float]:
    """Return the largest magnitudes of FLOAT16 tensors that are close to overflow."""
    found = {}
    for name, array in zip(node.output, outputs, strict=True):
        if isinstance(array, np.ndarray) and array.dtype == np.float16 and array.size:
            magnitudes = np.abs(array[np.isfinite(array)])
            largest = float(magnitudes.max()) if magnitudes.size else 0.0
            if largest * _HEADROOM >= _LARGEST:
                found[name] = largest
    return found
