"""A model made ready to run: its nodes as cases, its constants, and its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.diagnostics.wording import cut, did_you_mean
from dmlcheck.files.document import Position
from dmlcheck.formats.find import Target
from dmlcheck.models.inputs import ModelInputs, given_inputs, random_inputs
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.export.records import BYTES_OF
from dmlcheck.onnx.model.evaluator import RANDOM
from dmlcheck.onnx.model.file import read_to_run
from dmlcheck.onnx.model.parts import element_types, graphs_of, read_by
from dmlcheck.onnx.reading import DOMAINS, Unreadable, constant, element_type, schema_of, tensor_of

_MOST_NAME = 1000  # characters of the name of a case


class ModelRequest(NamedTuple):
    """The request of a model's run: symbolic sizes, its inputs or a seed for random ones, and how it runs.

    `is_whole` asks for the whole model with its tensors kept, in passes that keep `keep_bytes` at most, `is_optimized`
    for the model as ONNX Runtime optimizes it, `wants_headroom` for FLOAT16 tensors that are close to overflow.
    `is_listing` says that nothing runs, so that no inputs are made; `is_bisecting` asks for nodes that are wrong only
    together, for which `keep_bytes` of tensors are kept.
    """

    sizes: Mapping[str, int] = {}
    seed: int = 0
    inputs: str | None = None
    is_whole: bool = False
    keep_bytes: int = 2 * 2**30
    is_optimized: bool = False
    wants_headroom: bool = False
    is_listing: bool = False
    is_bisecting: bool = False


class ModelOrigin(NamedTuple):
    """The origin of a node's case: a model, in which nothing has a line."""

    file: str

    def position(self) -> Position:
        """Return the start of the file."""
        return Position(1, 1)

    def line(self, number: int) -> str:  # noqa: ARG002 - as other origins have it
        """Return "", since a model has no lines."""
        return ""

    def literal(self, path: Any) -> str | None:  # noqa: ARG002 - as other origins have it
        """Return None, since a model has no numbers as text."""
        return None

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding that names the model."""
        return finding.diagnostic()._replace(file=self.file)


class NodeCase(NamedTuple):
    """A node of a model as a case: the onnx.NodeProto, its operator with the version, and the names that it reads."""

    case: Case
    node: Any
    operator: str
    reads: tuple[str, ...]


class Loaded(NamedTuple):
    """A model ready to run: the onnx.ModelProto, its constants as onnx.TensorProto, its nodes and its inputs.

    `symbols` are the names that the file gives to sizes, `kinds` the element types of tensors, if known. `any_numbers`
    are the inputs with random whole numbers of no known use.
    """

    proto: Any
    constants: dict[str, Any]
    nodes: tuple[NodeCase, ...]
    inputs: Mapping[str, Any]
    symbols: frozenset[str] = frozenset()
    kinds: Mapping[str, str] = {}
    any_numbers: frozenset[str] = frozenset()

    def opset(self, node: Any) -> int:
        """Return the version of ONNX's own operators, or of the domain of a node."""
        versions = {entry.domain: int(entry.version) for entry in self.proto.opset_import}
        return versions.get("", versions.get(node.domain, 1))

    def any_numbers_of(self, node: NodeCase) -> list[str]:
        """Return the inputs of random whole numbers of no known use that a node depends on."""
        if not self.any_numbers:
            return []
        wanted = set(node.reads)
        for each in reversed(self.nodes[: self.nodes.index(node)]):
            if not wanted.isdisjoint(each.node.output):
                wanted.update(each.reads)
        return sorted(self.any_numbers & wanted)

    def random_before(self, name: str) -> str | None:
        """Return the name of the first node that a tensor depends on and that draws random numbers, or None."""
        wanted, found = {name}, None
        for each in reversed(self.nodes):
            if not wanted.isdisjoint(each.node.output):
                wanted.update(each.reads)
                found = each.case.name if self._draws(each.node) else found
        return found

    def _draws(self, node: Any) -> bool:
        """Whether a node or one in its graphs may draw random numbers; Dropout does if its third input says so."""
        if any(self._draws(inner) for graph in graphs_of(node) for inner in graph.node):
            return True
        if node.domain or node.op_type not in RANDOM:
            return False
        if node.op_type != "Dropout":
            return True
        training = node.input[2] if len(node.input) > 2 else ""
        known = constant(self.constants[training], training).values if training in self.constants else None
        return training != "" and (known is None or bool(known.any()))

    def makers(self, names: Iterable[str]) -> list[str]:
        """Return the names of the nodes that give some tensors."""
        wanted = frozenset(names)
        return [node.case.name for node in self.nodes if not wanted.isdisjoint(node.node.output)]

    def four_bits(self, name: str) -> str | None:
        """Return the type of a constant whose numbers have 4 bits, None of any other tensor."""
        tensor = self.constants.get(name)
        kind = "" if tensor is None else element_type(tensor.data_type)
        return kind if kind in BYTES_OF else None


class UnusableModel(NamedTuple):
    """Why a model does not run; the names of its sizes where it can be read."""

    diagnostics: tuple[Diagnostic, ...]
    symbols: frozenset[str] | None = None


def loaded(target: Target, asked: ModelRequest, implementation: Any) -> Loaded | UnusableModel:
    """Read a model and its inputs, or return the diagnostics of either."""
    try:
        read = read_to_run(target.file, asked.sizes)
        proto = read.proto
        given = given_inputs(proto, asked.inputs) if asked.inputs is not None else None
        tensors = None if implementation is None else implementation.tensor
        if given is None and tensors is None and not asked.is_listing:
            given = random_inputs(proto, read.weights, asked.sizes, asked.seed)
        if given is not None and given.findings:
            return UnusableModel(tuple(map(ModelOrigin(target.name).diagnostic, given.findings)), read.symbols)
        given = ModelInputs({}) if given is None else given
        weights = frozenset(read.weights)
        nodes = node_cases(proto, target.name, read.weights)
        kinds = element_types(proto, [one for name, one in read.weights.items() if name in weights])
        return Loaded(proto, read.weights, nodes, dict(given.arrays), read.symbols, kinds, given.any_numbers)
    except Unreadable as wrong:
        return UnusableModel((wrong.diagnostic()._replace(file=target.name),))


def unknown_size(sizes: Mapping[str, int], symbols: frozenset[str] | None) -> str | None:
    """Return the error about a size for a name that no size of a model has, or None.

    Without symbols no error is known.
    """
    name = None if symbols is None else next((name for name in sizes if name not in symbols), None)
    if symbols is None or name is None:
        return None
    names = sorted(symbols)
    if not names:
        return f"--dim {name}: no size of the model has a name"
    listed = f"the names are {', '.join(names)}"
    return f"--dim {name}: no size has that name; {did_you_mean(name, names) or listed}"


OF_OUTPUT, TOGETHER = "output:", "together"  # how the names of a model's other cases begin, and that of its whole


def node_cases(proto: Any, file: str, constants: dict[str, Any]) -> tuple[NodeCase, ...]:
    """Return the nodes of a model as cases; nodes that give constants become constants."""
    origin = ModelOrigin(file)
    opset = max((int(entry.version) for entry in proto.opset_import if entry.domain in DOMAINS), default=1)
    taken = {TOGETHER, *(OF_OUTPUT + value.name for value in proto.graph.output)}
    given = frozenset(cut(node.name, _MOST_NAME) for node in proto.graph.node)
    cases = []
    for position, node in enumerate(proto.graph.node):
        if node.op_type == "Constant" and not node.domain and _is_constant(node, constants):
            continue
        own = cut(node.name, _MOST_NAME)
        name = _free(own or f"{node.op_type}_{position}", taken, frozenset() if own else given)
        alias = "" if node.name else next(filter(None, node.output), "")
        case = Case(f"{file}::{name}", name, file, operator="", feature_level=None, desc={}, origin=origin, alias=alias)
        cases.append(NodeCase(case, node, _operator(node, opset), tuple(read_by(node))))
    return tuple(cases)


def _is_constant(node: Any, constants: dict[str, Any]) -> bool:
    try:
        tensor = tensor_of(node)
    except Unmapped:
        return False
    if tensor is None or not hasattr(tensor, "raw_data"):
        return False
    tensor.name = node.output[0]
    constants[node.output[0]] = tensor
    return True


def _operator(node: Any, opset: int) -> str:
    """Return the operator of a node with the version of it that the opset has: `Conv-11`."""
    if node.domain:
        return f"{node.domain}.{node.op_type}"
    schema = schema_of(node.op_type, opset)
    return node.op_type if schema is None else f"{node.op_type}-{schema.since_version}"


def _free(name: str, taken: set[str], given: frozenset[str]) -> str:
    """Return a name that no case has, nor a node of its own that comes later."""
    free, number = name, 1
    while free in taken or free in given:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def given_model(path: str, name: str, asked: ModelRequest) -> Loaded | UnusableModel:
    """Return a model with its inputs, or the diagnostics of either, or of the given sizes."""
    model = loaded(Target(path, name), asked, None)
    unknown = unknown_size(asked.sizes, model.symbols)
    return model if unknown is None else UnusableModel((Diagnostic("unknown-sizes", unknown, file=name),))


def inputs_text(model: Loaded, seed: int, inputs: str | None) -> str:
    """Return the origin of the inputs of a model in words."""
    if inputs is not None:
        return f"the inputs are from {inputs}"
    return f"the inputs are random, with the seed {seed}" if model.inputs else "there are no inputs"
