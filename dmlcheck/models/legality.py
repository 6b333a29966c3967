"""ONNX models checked node by node: the findings of `dmlcheck validate` about each, and the level of the model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.record import MAX_PROBLEMS, NOTE, WARNING, Diagnostic, Finding
from dmlcheck.diagnostics.wording import visible
from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.registry import Opened
from dmlcheck.graphs.check import CheckDesc, checked, each_once
from dmlcheck.models.graphs import checker
from dmlcheck.onnx.descs.graph import unchecked_graph
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.exporter import require
from dmlcheck.onnx.model.file import read_whole, symbols_of
from dmlcheck.onnx.model.nodes import ModelNode, UnusableNode, nodes_and_fusions
from dmlcheck.onnx.provider.registrations import registrations
from dmlcheck.onnx.reading import Unreadable, opset_of
from dmlcheck.running.legality import LevelRequest, Validated, ValidatedFile, unchecked_rest
from dmlcheck.specs.names import NEWEST_LEVEL, OPERATOR_PREFIX, highest
from dmlcheck.validation import deviations

MAPPING = "the DirectML provider of {release}"


class NodeResult(NamedTuple):
    """The check of a node: an entry for each of its descs, or one that says why it has none."""

    operator: str
    descs: tuple[Validated, ...]
    unusable: UnusableNode | None = None


class FusedNode(NamedTuple):
    """A fusion of ONNX Runtime: the numbers of the fused nodes; its name is that of the last of them."""

    name: str
    made: NodeResult
    replaced: tuple[int, ...]

    @property
    def minimum(self) -> str | None:
        """The level from which its descs are valid, or None if one never is or there are none."""
        return highest(desc.minimum for desc in self.made.descs if desc.operator is not None)


class ModelResult(NamedTuple):
    """The check of a model, node by node: several nodes may have the same name.

    `device_level` is the level that the provider asks for when it makes a device for any model. `problem` says
    why the file is no model, `refusal` why the release of the mapping does not load it; `symbols` are the names of
    unknown sizes, `named` the names of all symbolic sizes. `possible` are operators that ONNX Runtime may make besides
    `fusions`, with the name of a node of each.
    """

    file: str
    mapping: str
    device_level: str
    nodes: tuple[NodeResult, ...] = ()
    symbols: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    problem: Diagnostic | None = None
    refusal: str | None = None
    fusions: tuple[FusedNode, ...] = ()
    possible: tuple[tuple[str, str], ...] = ()

    @property
    def descs(self) -> tuple[Validated, ...]:
        """The entries of all nodes."""
        return tuple(desc for node in self.nodes for desc in node.descs)

    @property
    def entries(self) -> tuple[Validated, ...]:
        """The entries of the model in reports: its nodes up to those with too many errors, or why it is none."""
        if self.problem is not None:
            return (Validated(self.file, os.path.basename(self.file), None, None, None, (self.problem,)),)
        descs, errors = self.descs, 0
        for number, desc in enumerate(descs):
            if errors > MAX_PROBLEMS:
                return (*descs[:number], unchecked_rest(self.file, "its other nodes are not listed"))
            errors += desc.errors
        return descs

    @property
    def is_wrong(self) -> bool:
        """Whether the file is no model, or one of its nodes is wrong at every level."""
        return self.problem is not None or self.noted("onnx-syntax") > 0

    @property
    def is_refused(self) -> bool:
        """Whether the release of the mapping does not load it."""
        return self.refusal is not None

    @property
    def minimum(self) -> str | None:
        """The level from which all checked nodes are valid, or None if one never is or none was checked."""
        return highest(desc.minimum for desc in self.descs if desc.operator is not None)

    @property
    def fused_minimum(self) -> str | None:
        """The level from which the model is valid once its nodes are fused as they are by default, as `minimum`."""
        gone = {number for fusion in self.fusions for number in fusion.replaced}
        left = (node for number, node in enumerate(self.nodes) if number not in gone)
        nodes = (*left, *(fusion.made for fusion in self.fusions))
        return highest(desc.minimum for node in nodes for desc in node.descs if desc.operator is not None)

    @property
    def is_fused_partial(self) -> bool:
        """Whether a fusion of ONNX Runtime may need a higher level: its desc is not known."""
        return self.is_partial or any(
            fusion.made.unusable is not None and fusion.made.unusable.rule != "runs-elsewhere"
            for fusion in self.fusions
        )

    @property
    def is_partial(self) -> bool:
        """Whether a node may need a higher level than the checked ones: its desc is not known."""
        return any(node.unusable is not None and node.unusable.rule != "runs-elsewhere" for node in self.nodes)

    @property
    def checked(self) -> int:
        """The number of nodes whose descs were checked."""
        return sum(node.unusable is None for node in self.nodes)

    @property
    def roots(self) -> dict[str, int]:
        """The places where unknown sizes begin, with the number of nodes that depend on each."""
        return Counter(node.unusable.root for node in self.nodes if node.unusable is not None and node.unusable.root)

    def noted(self, rule: str) -> int:
        """Return the number of nodes with a note, or an error, of a rule."""
        return sum(node.unusable is not None and node.unusable.rule == rule for node in self.nodes)


def validated_file(file: Opened, asked: LevelRequest, sizes: Mapping[str, int]) -> ValidatedFile:
    """Check the model of a file node by node."""
    try:
        require()
    except MissingRequirement as error:
        return ValidatedFile(file.document, unavailable=str(error))
    found = validated_model(file.path, asked, sizes)
    return ValidatedFile(file.document, wholes=(found,), is_wrong=found.is_wrong, named=found.named)


def validated_model(path: str, asked: LevelRequest, sizes: Mapping[str, int]) -> ModelResult:
    """Check every node of a model, at a level or at the newest; `sizes` are the sizes for symbolic dimensions."""
    name, provider = path.replace(os.sep, "/"), registrations()
    mapping = MAPPING.format(release=provider.release)
    try:
        model = read_whole(path, sizes)
    except Unreadable as wrong:
        return ModelResult(name, mapping, provider.level, problem=wrong.diagnostic())
    check_desc = each_once(checker(asked))
    nodes, fusions = [], []
    possible = []
    alike = _Alike()
    for node in nodes_and_fusions(model):
        if node.is_possible:
            possible.append((node.operator, node.name))
            continue
        result = alike.result(node) or alike.noted(node, _of_node(node, name, asked, check_desc))
        if node.replaced:
            fusions.append(FusedNode(node.name, result, node.replaced))
        else:
            nodes.append(result)
    symbols, refusal = tuple(symbols_of(model.proto, sizes)), _refusal(opset_of(model.proto))
    found = ModelResult(name, mapping, provider.level, tuple(nodes), symbols, model.symbols, refusal=refusal)
    return found._replace(fusions=tuple(fusions), possible=tuple(possible))


class _Alike:
    """The results of nodes without findings, for others of the very same descs."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[object, NodeResult]] = {}

    def result(self, node: ModelNode) -> NodeResult | None:
        """Return the result of a node like one before it, None without one."""
        _, found = self.known.get(id(node.found), (None, None))
        if found is None:
            return None
        descs = tuple(one._replace(name=node.name, node=node.name) for one in found.descs)
        return found._replace(operator=node.operator, descs=descs)

    def noted(self, node: ModelNode, result: NodeResult) -> NodeResult:
        """Note the result of a node, and return it."""
        if result.unusable is None and not any(one.diagnostics for one in result.descs):
            self.known[id(node.found)] = node.found, result  # which keeps the number
        return result


def _refusal(opset: int) -> str | None:
    """Return why the release of the mapping does not load a model of an opset, or None."""
    provider = registrations()
    if opset <= provider.opset:
        return None
    return f"asks for opset {opset}; {provider.release} has opsets up to {provider.opset}, and does not load it"


def _of_node(node: ModelNode, file: str, asked: LevelRequest, check_desc: CheckDesc) -> NodeResult:
    if isinstance(node.found, UnusableNode):
        return NodeResult(node.operator, (_unusable(node, node.found, file),), node.found)
    return NodeResult(node.operator, tuple(_descs(node, node.found, file, asked, check_desc)))


def _descs(
    node: ModelNode, found: Sequence[Counterpart], file: str, asked: LevelRequest, check_desc: CheckDesc
) -> Iterator[Validated]:
    """Yield the check of each operator of the graph that a node becomes: its desc, and the mismatches of its edges."""
    level = asked.level or NEWEST_LEVEL
    known = _known(node, file)
    for one in checked(unchecked_graph(node.name, found), check_desc):
        if one.node is None or one.desc is None:
            continue
        notes = tuple(_placed(note, file)._replace(severity=NOTE) for note in one.desc.notes)
        findings = tuple(_placed(finding, file) for finding in one.findings)
        operator = OPERATOR_PREFIX + one.node.operator
        made = Validated(file, node.name, operator, level, one.desc.minimum, findings, is_plain=False)
        yield made._replace(
            notes=(*known, *notes, *(_placed(doubt, file)._replace(severity=WARNING) for doubt in one.desc.doubts)),
            answer=one.desc.answer,
            accepted_by=one.desc.accepted_by,
            node=node.name,
            onnx_operator=node.operator,
            desc=None if one.desc.desc is None else notation(one.desc.desc),
        )
        known = ()


def _known(node: ModelNode, file: str) -> tuple[Diagnostic, ...]:
    """Return the note about a node that the provider computes wrongly, on any device, if one is known."""
    if not node.deviation:
        return ()
    row = deviations.of_provider(node.deviation)
    about = {"of": deviations.PROVIDER, **row.words}
    return (_placed(Finding("known-deviation", ("operator",), about), file)._replace(severity=NOTE),)


def _unusable(node: ModelNode, why: UnusableNode, file: str) -> Validated:
    """Return the entry of a node that has no desc: an error if the node is wrong, else a note."""
    depends = f"; this depends on {why.root}" if why.root else ""
    text = visible(f"node {node.name} ({node.operator}): {why.reason}{depends}")
    diagnostic = _placed(Finding(why.rule, (), {"problem": text}, help=why.help and visible(why.help)), file)
    if not why.is_error:
        diagnostic = diagnostic._replace(severity=NOTE)
    entry = Validated(file, node.name, None, None, None, (diagnostic, *_known(node, file)), is_plain=False)
    return entry._replace(node=node.name, onnx_operator=node.operator)


def _placed(finding: Finding, file: str) -> Diagnostic:
    return finding.diagnostic()._replace(file=file)
