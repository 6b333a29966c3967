"""The nodes of a model one by one, each as the descs that ONNX Runtime's DirectML provider makes of it, or why not.

Needs the package onnx.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import count, islice, zip_longest
from typing import Any, NamedTuple, TypeVar

from dmlcheck.diagnostics.wording import cut, dimensions_text
from dmlcheck.onnx.descs.node import (
    NO_PROVIDER,
    PROVIDER_REFUSES,
    REFUSALS,
    Counterpart,
    OnnxNode,
    RefusedNode,
    UnknownValues,
    Unmapped,
)
from dmlcheck.onnx.model.file import Model, graphs_of
from dmlcheck.onnx.model.fusions import fusions
from dmlcheck.onnx.model.inference import (
    Context,
    Scope,
    contradicted,
    merged,
    misnamed,
    schema_of_node,
    tensors_of,
    type_of,
    values_of,
    version_of,
)
from dmlcheck.onnx.model.inner_graphs import inlined, types_given, types_taken
from dmlcheck.onnx.model.parts import has_graphs
from dmlcheck.onnx.model.values import CONSTANT, GIVEN, HOST, MOST_DIMENSIONS, Value, constant_value, initial, limited
from dmlcheck.onnx.operators.row import Refusal
from dmlcheck.onnx.operators.table import deviation_of, is_left_out, provider_steps, row_of
from dmlcheck.onnx.provider.cpu_kernels import (
    DOMAINS_OF_RUNTIME,
    is_known,
    kernels_of,
    meant,
    not_taken,
    origin_of_outputs,
    place_of,
)
from dmlcheck.onnx.provider.registrations import Typed, left_to_others, registration_of, registrations
from dmlcheck.onnx.reading import attributes_of, first_line, schema_of

MOST_INLINED = 2000  # nodes that others replace, up to 30 for each
_MOST_PREFIX = 1000  # characters of where a node is, which is repeated for each node inside
_MOST_SHOWN = 200  # characters of sizes
_EMPTY = "there is nothing to compute: a tensor has no elements"
_PLACED = {
    CONSTANT: "ONNX Runtime computes it when it loads the model: all its inputs are constant",
    HOST: "ONNX Runtime keeps it on the CPU: it only computes sizes",
}
_UNTAKEN = "ONNX Runtime creates no session of such a model: replace the node, or cast to a type that one of them takes"
_NO_MORE = object()
_NEVER = 2**31  # an opset
_Made = TypeVar("_Made")


class UnusableNode(NamedTuple):
    """The reason why a node has no desc: the rule of the note, or of the error, the words, and the help.

    `root` is the place from where sizes are unknown.
    """

    rule: str
    reason: str
    help: str | None = None
    root: str = ""

    @property
    def is_error(self) -> bool:
        """Whether the node is wrong, or ONNX Runtime does not load the model because of it."""
        return self.rule in ("onnx-syntax", *REFUSALS)


class ModelNode(NamedTuple):
    """A node: its name, or its first output's, its operator with the version, and its descs.

    `number` counts the nodes of a model. A node that ONNX Runtime fuses has the numbers of the original nodes in
    `replaced`. One that it may fuse has `is_possible`, the name of one of these, and no descs. `deviation` says what
    the provider is known to compute wrongly, "" without.
    """

    name: str
    operator: str
    found: Sequence[Counterpart] | UnusableNode
    number: int = 0
    replaced: tuple[int, ...] = ()
    is_possible: bool = False
    deviation: str = ""


def nodes_of(model: Model) -> Iterator[ModelNode]:
    """Yield the nodes of a model; the nodes of inner graphs come after the node that has the graphs."""
    yield from (node for node in nodes_and_fusions(model) if not (node.replaced or node.is_possible))


def nodes_and_fusions(model: Model) -> Iterator[ModelNode]:
    """Yield the nodes of a model, and after each graph the fusions of ONNX Runtime."""
    proto = model.proto
    opsets = {entry.domain: int(entry.version) for entry in proto.opset_import}
    used = frozenset(name for inner in graphs_of(proto.graph) for name in _read_in(inner))
    of = Context(opsets, {}, proto.ir_version, used, not model.symbols, iter(range(MOST_INLINED)))
    of = of._replace(numbers=count(), alike={})
    yield from _walk(proto.graph, of, ChainMap(), model.weights)


def _read_in(graph: Any) -> Iterator[str]:
    yield from (value.name for value in graph.output)
    yield from (name for node in graph.node for name in node.input)


def _walk(
    graph: Any, of: Context, outer: ChainMap[str, Value], weights: frozenset[str], given: Sequence[Any] = ()
) -> Generator[ModelNode, None, list[Value]]:
    """Yield the nodes of a graph, and return its outputs; `given` are the types that a node gives to its inputs."""
    declared = {value.name: limited(value.type) for value in (*graph.value_info, *graph.output)}
    scope = outer.new_child({"": Value(None)})
    for value, inferred in zip_longest(graph.input, islice(given, len(graph.input))):
        given_value = Value(merged(inferred, limited(value.type)), None, GIVEN)
        scope[value.name] = given_value._replace(
            root=f"the input {of.prefix}{value.name}" if given_value.is_unknown else ""
        )
    scope.update((name, Value(declared[name], None, CONSTANT)) for name in declared.keys() & weights)
    scope.update((tensor.name, initial(tensor)) for tensor in graph.initializer)
    of = of._replace(declared=declared, outputs=frozenset(value.name for value in graph.output))
    visited = []
    for node, found in _visits(graph.node, of, scope):
        numbered = found._replace(number=next(of.numbers))
        visited.append((node, numbered))
        yield numbered
        yield from _walk_inside(node, of, scope, weights)
    yield from _fused(visited, of, scope)
    return [scope.get(value.name, Value(declared[value.name])) for value in graph.output]


def _walk_inside(node: Any, of: Context, scope: ChainMap[str, Value], weights: frozenset[str]) -> Iterator[ModelNode]:
    """Yield the nodes of the graphs inside a node, and give the scope the types that its outputs have of them."""
    graphs = [(attribute.name, attribute.g) for attribute in node.attribute if attribute.HasField("g")]
    if not graphs:
        return
    inputs = [scope.get(name, Value(None)) for name in node.input]
    opset = of.opsets.get("", 1)
    types = types_given(node, inputs, opset)
    outputs = []
    for name, graph in graphs:
        prefix = cut(f"{of.prefix}{_name(node)}/{name}", _MOST_PREFIX) + "/"
        outputs.append((yield from _walk(graph, of._replace(prefix=prefix), scope, weights, types)))
    for name, inferred in zip(node.output, types_taken(node, inputs, outputs, opset), strict=False):
        if name:
            scope[name] = scope[name]._replace(type=merged(inferred, scope[name].type))


def _fused(visited: Sequence[tuple[Any, ModelNode]], of: Context, scope: ChainMap[str, Value]) -> Iterator[ModelNode]:
    """Yield the nodes that ONNX Runtime makes of several nodes of a graph that DirectML takes."""
    inner = (part for node, _ in visited for attribute in node.attribute if attribute.HasField("g")
             for part in graphs_of(attribute.g))  # fmt: skip
    kept = of.outputs.union(*map(_read_in, inner))
    nodes = [(type_of(node), node, _is_taken(one.found)) for node, one in visited]
    made = fusions(nodes, scope, kept, of.opsets.get("", 1))
    for operator, place in made.possible:
        yield ModelNode(visited[place][1].name, f"{operator}-1", (), is_possible=True)
    for node, replaced in made.fusions:
        node.name = _name(visited[replaced[-1]][0])
        output = node.output[0]
        node.output[0] = f"{output}/fused"
        inside = of._replace(declared={}, used=frozenset((*node.input, *node.output)))
        found = _visited(node, inside, scope.new_child())
        yield found._replace(replaced=tuple(visited[place][1].number for place in replaced))


def _is_taken(found: Sequence[Counterpart] | UnusableNode) -> bool:
    return not isinstance(found, UnusableNode) or found.rule == "unknown-sizes"


def _name(node: Any) -> str:
    return str(node.name or next(filter(None, node.output), node.op_type))


# ---- a node


def _visits(nodes: Iterable[Any], of: Context, scope: Scope) -> Iterator[tuple[Any, ModelNode]]:
    """Yield each node with its descs; a constant only adds its value to the scope."""
    for node in nodes:
        value = constant_value(node)
        if value is None:
            yield node, _visited(node, of, scope)
        else:
            scope[node.output[0]] = value


def _visited(node: Any, of: Context, scope: Scope) -> ModelNode:
    """Return the descs of a node, or why it has none, and add its outputs to the scope.

    Those of a node like it, of other names, are not found once more.
    """
    alike = of.alike
    key = None if alike is None or misnamed(node, scope) is not None else _key(node, of, scope)
    if alike is None or key is None:
        return _visited_anew(node, of, scope)
    if key in alike:
        known: ModelNode
        known, outputs = alike[key]
        scope.update(zip(node.output, outputs, strict=True))
        return known._replace(name=of.prefix + _name(node))
    made = _visited_anew(node, of, scope)
    outputs = [scope[name] for name in node.output]
    if not isinstance(made.found, UnusableNode) and not any(value.root for value in outputs):
        alike[key] = made, outputs
    return made


def _key(node: Any, of: Context, scope: Scope) -> object:
    """Return all that the descs of a node and its outputs follow from, but for names; None if these count.

    They do in messages about sizes that are not known, and for nodes with graphs of their own.
    """
    inputs = [scope[name] for name in node.input]
    if any(value.root or value.parts is not None for value in inputs):
        return None
    if has_graphs(node):
        return None
    places = {name: place for place, name in reversed([*enumerate(node.input)])}
    return (
        node.op_type,
        node.domain,
        tuple(attribute.SerializeToString(deterministic=True) for attribute in node.attribute),
        tuple((name and places[name] + 1, name in of.used) for name in node.input),
        tuple(map(_key_of_value, inputs)),
        tuple((not name, name in of.used, name in of.outputs, _key_of_type(of.declared.get(name)))
              for name in node.output),
    )  # fmt: skip


def _key_of_value(value: Value) -> object:
    numbers = None if value.numbers is None else (value.numbers.dtype.str, value.numbers.shape, value.numbers.tobytes())
    return _key_of_type(value.type), numbers, value.origin


def _key_of_type(type: Any) -> object:
    return None if type is None else type.SerializeToString(deterministic=True)


def _visited_anew(node: Any, of: Context, scope: Scope) -> ModelNode:
    name = of.prefix + _name(node)
    version = version_of(node, of.opsets)
    operator = f"{type_of(node)}-{version}"
    try:
        inputs, outputs = values_of(node, of, scope)
    except Unmapped as wrong:
        root = _root_of_output(node, name)
        scope.update((output, Value(of.declared.get(output), root=root)) for output in node.output)
        return ModelNode(name, operator, UnusableNode("onnx-syntax", str(wrong)))
    wrong_type = contradicted(node, of, outputs)
    if wrong_type is not None:
        scope.update(zip(node.output, outputs, strict=True))
        return ModelNode(name, operator, UnusableNode("onnx-syntax", wrong_type))
    registered = registration_of(type_of(node), version)
    typed = _typed(node, version, of, inputs, outputs)
    place = place_of(node, inputs, registered.on_cpu if registered else ())
    if place == CONSTANT and not _is_computed_at_load(node, version, of, typed):
        place = ""
    found = _found(node, version, of, inputs, outputs, typed, place)
    if isinstance(found, UnusableNode) and found.rule == NO_PROVIDER:
        inside = ChainMap({}, scope)
        found = _of_function(node, of, inputs, inside, found)
        outputs = [
            value if value.is_sized else inside.get(name, value)
            for name, value in zip(node.output, outputs, strict=True)
        ]
    is_taken = _is_computed(found) or (registered is not None and row_of(type_of(node)).is_on_cpu)
    origin = origin_of_outputs(node, inputs, place, is_taken=is_taken, is_static=of.is_static)
    before = next((value.root for value in inputs if value.root and value.is_unknown), "")
    root = before or _root_of_output(node, name)
    for output, value in zip(node.output, outputs, strict=True):
        is_root = value.is_unknown and (before or not value.is_sized)
        scope[output] = value._replace(origin=origin, root=root if is_root else "")
    if isinstance(found, UnusableNode) and found.rule == "unknown-sizes":
        found = found._replace(root=root)
    return ModelNode(name, operator, found, deviation=_deviation(node, of, inputs, outputs, found))


def _is_computed(found: Sequence[Counterpart] | UnusableNode) -> bool:
    return not isinstance(found, UnusableNode) or found.rule not in ("runs-elsewhere", NO_PROVIDER)


def _deviation(
    node: Any,
    of: Context,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    found: Sequence[Counterpart] | UnusableNode,
) -> str:
    """Return the known mistake of the provider in a node that it takes, "" if none is known."""
    if isinstance(found, UnusableNode) and found.reason != _EMPTY:
        return ""
    text = _mapped(_node(node, of, inputs, outputs), deviation_of)
    return text if isinstance(text, str) else ""


def _root_of_output(node: Any, name: str) -> str:
    return f"the output of {node.op_type} {name}"


def _is_computed_at_load(node: Any, version: int, of: Context, typed: Sequence[Typed]) -> bool:
    """Whether ONNX Runtime computes a node of constants: the CPU has a kernel for it, or for its function's nodes."""
    if _has_function(node, of):
        return True
    return not_taken(type_of(node), version, typed, converts=False) is None


# ---- what becomes of it


def _found(
    node: Any,
    version: int,
    of: Context,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    typed: Sequence[Typed],
    place: str,
) -> Sequence[Counterpart] | UnusableNode:
    """Return the descs of a node without mistakes, or the reason why it has none.

    The rule is NO_PROVIDER where neither DirectML nor the CPU takes it as it is.
    """
    refused = _unknown_attribute(node, version)
    if refused is not None:
        return refused
    made = _node(node, of, inputs, outputs)
    left = None if place == CONSTANT else _mapped(made, lambda one: left_to_others(one, version, typed))
    if isinstance(left, UnusableNode):
        return left
    if left is not None:
        has_function = _has_function(node, of)
        problem = not_taken(made.type, version, typed, converts=not has_function)
        if problem is not None:
            return _untaken(node, of, left, problem)
        refused = _refusal(row_of(made.type).refusal_of_cpu, made)
        return UnusableNode("runs-elsewhere", left) if refused is None else refused
    if place:
        return UnusableNode("runs-elsewhere", _PLACED[place])
    return _described(node, of, made, inputs, outputs)


def _unknown_attribute(node: Any, version: int) -> UnusableNode | None:
    """Return the error about an attribute of a version that onnx had not yet when the release was made, or None."""
    found = registrations()
    if found.later.get(type_of(node)) != version:
        return None
    known = schema_of(node.op_type, version - 1).attributes
    name = next((attribute.name for attribute in node.attribute if attribute.name not in known), None)
    if name is None:
        return None
    reason = f"{found.release} knows no attribute {name} of {node.op_type}: version {version} is newer"
    return UnusableNode(PROVIDER_REFUSES, reason, f"export the model without {name}, or with other operators instead")


def _described(
    node: Any, of: Context, made: OnnxNode, inputs: Sequence[Value], outputs: Sequence[Value]
) -> Sequence[Counterpart] | UnusableNode:
    """Return the descs of a node that the provider takes."""
    refused = _refusal(row_of(made.type).refusal, made)
    if refused is not None:
        return refused
    if (elsewhere := row_of(made.type).elsewhere) is not None:
        return UnusableNode("runs-elsewhere", elsewhere)
    read, given = (
        [(name, value) for name, value in zip(names, values, strict=True) if name and name in of.used]
        for names, values in ((node.input, inputs), (node.output, outputs))
    )
    needed = read if row_of(made.type).is_sized_by_inputs else [*read, *given]
    unknown = next(filter(None, (_unknown_size(name, value) for name, value in needed)), None)
    if unknown is not None:
        return UnusableNode("unknown-sizes", unknown)
    return UnusableNode("runs-elsewhere", _EMPTY) if is_left_out(made) else _mapped(made, provider_steps)


def _refusal(refusal: Refusal | None, made: OnnxNode) -> UnusableNode | None:
    """Return the error about a node that a provider takes and refuses, None where it does not."""
    found = None if refusal is None else _mapped(made, refusal)
    return _refused(found) if isinstance(found, RefusedNode) else None


def _refused(refused: RefusedNode) -> UnusableNode:
    return UnusableNode(PROVIDER_REFUSES, str(refused), refused.help)


def _untaken(node: Any, of: Context, left: str, problem: str) -> UnusableNode:
    """Return the error about a node that no provider takes, with the reasons of DirectML and of the CPU.

    For a node of an unknown domain it is a note: the application may register a library of custom operators.
    """
    operator, release = type_of(node), registrations().release
    if schema_of_node(node, of.opsets) is not None or is_known(operator):
        return UnusableNode(NO_PROVIDER, f"{left}, and {problem}", _UNTAKEN)
    if node.domain not in DOMAINS_OF_RUNTIME:
        reason = f"{release} has no operators of the domain {node.domain}"
        if (help := meant(operator)) or _has_function(node, of):
            return UnusableNode(NO_PROVIDER, f"{reason}, so that no provider takes it", help)
        return UnusableNode("runs-elsewhere", f"{reason}; the application must register a library of them")
    return UnusableNode(NO_PROVIDER, f"{release} has no operator {operator}", meant(operator))


def _of_function(
    node: Any, of: Context, inputs: Sequence[Value], scope: Scope, untaken: UnusableNode
) -> Sequence[Counterpart] | UnusableNode:
    """Return the descs of the nodes that ONNX Runtime puts in place of one that no provider takes as it is.

    The scope is given their values. Nodes that are alike do not share descs: they are one graph, with a tensor for each
    result.
    """
    if not _has_function(node, of):
        return untaken
    if next(of.inlining, _NO_MORE) is _NO_MORE:
        reason = f"more than {MOST_INLINED:,} nodes are defined by others, as it is, and dmlcheck follows no more"
        return UnusableNode("not-mapped", reason)
    parts = inlined(
        node, schema_of_node(node, of.opsets), of.opsets.get("", 1), [value.type for value in inputs], f"{_name(node)}/"
    )
    used = frozenset(name for part in parts for name in (*part.input, *part.output))
    made: list[Counterpart] = []
    for _, one in _visits(parts, of._replace(declared={}, used=used, alike=None), scope):
        if not isinstance(one.found, UnusableNode):
            made += one.found
        elif one.found.rule == "unknown-sizes":
            return one.found
        elif one.found.rule == "onnx-syntax":  # the function is not for these types
            return untaken
        elif one.found.rule != "runs-elsewhere":
            rule = one.found.rule if one.found.rule in REFUSALS else "not-mapped"
            return one.found._replace(
                rule=rule, reason=f"of {one.operator}, which comes in its place: {one.found.reason}"
            )
    return made or UnusableNode("runs-elsewhere", untaken.reason)


def _has_function(node: Any, of: Context) -> bool:
    """Whether ONNX defines a node's operator by others that the opset has."""
    schema = schema_of_node(node, of.opsets)
    if schema is None:
        return False
    versions = (*schema.function_opset_versions, *schema.context_dependent_function_opset_versions)
    return min(versions, default=_NEVER) <= of.opsets.get("", 1)


def _typed(node: Any, version: int, of: Context, inputs: Sequence[Value], outputs: Sequence[Value]) -> list[Typed]:
    """Return the values of a node with the type parameters that they are of."""
    schema = schema_of_node(node, of.opsets)
    taken, given = _parameters(type_of(node), version) if schema is None else (schema.inputs, schema.outputs)
    typed = []
    for kind, values, names, parameters in (
        ("input", inputs, node.input, taken), ("output", outputs, node.output, given)
    ):  # fmt: skip
        for index, (value, name) in enumerate(zip(values, names, strict=True)):
            parameter = parameters[min(index, len(parameters) - 1)]
            if name and value.element:
                typed.append(Typed(parameter.type_str, value.element, f"{kind} {parameter.name or index}"))
    return typed


class _Parameter(NamedTuple):
    """The stand-in for a parameter of a schema: its type parameter; it has no name."""

    type_str: str
    name: str = ""


def _parameters(operator: str, version: int) -> tuple[list[_Parameter], list[_Parameter]]:
    row = registration_of(operator, version) or next(iter(kernels_of(operator, version)), None)
    inputs, outputs = (("",), ("",)) if row is None else (row.inputs, row.outputs)
    return [_Parameter(name) for name in inputs], [_Parameter(name) for name in outputs]


def _unknown_size(name: str, value: Value) -> str | None:
    if value.parts is not None:
        return next(filter(None, (_unknown_size(f"a tensor of {name}", part) for part in value.parts)), None)
    if value.is_sized:
        return None
    if value.sizes is None:
        return f"the sizes of {name} are not known"
    shown = cut(", ".join(str(size) if size != "" else "?" for size in value.sizes), _MOST_SHOWN)
    if not all(isinstance(size, int) for size in value.sizes):
        return f"the sizes of {name} are [{shown}]"
    if len(value.sizes) > MOST_DIMENSIONS:
        return f"{name} has {dimensions_text(len(value.sizes))}, more than a tensor can have"
    return f"{name} has the sizes [{shown}], more elements than a tensor can have"


def _node(node: Any, of: Context, inputs: Sequence[Value], outputs: Sequence[Value]) -> OnnxNode:
    opset = of.opsets.get("", 1)
    taken = tuple(None if value is None else value.tensor() for value in tensors_of(node, inputs))
    given = tuple(value.tensor() if name else None for name, value in zip(node.output, outputs, strict=True))
    untyped = frozenset(index for index, name in enumerate(node.output) if name and given[index] is None)
    return OnnxNode(type_of(node), opset, attributes_of(node, opset), taken, given, untyped)


def _mapped(node: OnnxNode, make: Callable[[OnnxNode], _Made]) -> _Made | UnusableNode:
    """Return the result of a function of a node, or the error about its attributes and inputs."""
    try:
        return make(node)
    except UnknownValues as reason:
        return UnusableNode("unknown-sizes", str(reason))
    except RefusedNode as refused:
        return _refused(refused)
    except Unmapped as reason:
        return UnusableNode("not-mapped", str(reason))
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        return UnusableNode("not-mapped", f"{node.type} does not go with its inputs: {first_line(error)}")
