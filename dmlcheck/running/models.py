"""ONNX models checked node by node: what `dmlcheck validate` says of each, and what the whole model needs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.record import MAX_PROBLEMS, NOTE, Diagnostic, Finding
from dmlcheck.diagnostics.wording import visible
from dmlcheck.onnx.backend_tests.read import Unreadable, opset_of
from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import Counterpart
from dmlcheck.onnx.model.file import read_whole, symbols_of
from dmlcheck.onnx.model.nodes import ModelNode, Unusable, nodes_and_fusions
from dmlcheck.onnx.provider.registrations import registrations
from dmlcheck.running.legality import Asked, Validated, too_many
from dmlcheck.specs.names import NEWEST_LEVEL, OPERATOR_PREFIX, highest
from dmlcheck.validation import check, deviations, minimum_level

MAPPING = "the DirectML provider of {release}"


class NodeResult(NamedTuple):
    """What was found of a node: an entry for each of its descs, or one that says why it has none."""

    operator: str
    descs: tuple[Validated, ...]
    unusable: Unusable | None = None


class Fusion(NamedTuple):
    """A node that ONNX Runtime makes of others, by their numbers: its name is that of the last one of them."""

    name: str
    made: NodeResult
    replaced: tuple[int, ...]

    @property
    def minimum(self) -> str | None:
        """The level from which its descs are valid, None where one never is or there are none."""
        return highest(desc.minimum for desc in self.made.descs if desc.operator is not None)


class ModelResult(NamedTuple):
    """What was found of a model, node by node: the names of nodes need not differ.

    `device_level` is what the provider asks for when it makes a device, whatever the model. `problem` says why the file
    is no model, `refusal` why the release of the mapping does not load it; `symbols` are the names of sizes that are
    still open, `named` those of all. `possible` are operators that ONNX Runtime may make besides `fusions`, with the
    name of a node of each.
    """

    file: str
    mapping: str
    device_level: str
    nodes: tuple[NodeResult, ...] = ()
    symbols: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    problem: Diagnostic | None = None
    refusal: str | None = None
    fusions: tuple[Fusion, ...] = ()
    possible: tuple[tuple[str, str], ...] = ()

    @property
    def descs(self) -> tuple[Validated, ...]:
        """The entries of all nodes."""
        return tuple(desc for node in self.nodes for desc in node.descs)

    @property
    def entries(self) -> tuple[Validated, ...]:
        """What reports list of the model: its nodes up to those with too many errors, or why it is none."""
        if self.problem is not None:
            return (Validated(self.file, os.path.basename(self.file), None, None, None, (self.problem,)),)
        descs, errors = self.descs, 0
        for number, desc in enumerate(descs):
            if errors > MAX_PROBLEMS:
                return (*descs[:number], too_many(self.file, "its other nodes are not listed"))
            errors += desc.errors
        return descs

    @property
    def is_wrong(self) -> bool:
        """Whether the file is no model, or a node of it is wrong in itself."""
        return self.problem is not None or self.noted("onnx-syntax") > 0

    @property
    def minimum(self) -> str | None:
        """The level from which all checked nodes are valid, None where one never is or none was checked."""
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
        """Whether a node that ONNX Runtime makes of others may need more: what it becomes is not known."""
        return self.is_partial or any(
            fusion.made.unusable is not None and fusion.made.unusable.rule != "runs-elsewhere"
            for fusion in self.fusions
        )

    @property
    def is_partial(self) -> bool:
        """Whether a node may need more than those that were checked: what it becomes is not known."""
        return any(node.unusable is not None and node.unusable.rule != "runs-elsewhere" for node in self.nodes)

    @property
    def checked(self) -> int:
        """The number of nodes whose descs were checked."""
        return sum(node.unusable is None for node in self.nodes)

    @property
    def roots(self) -> dict[str, int]:
        """Where sizes that are not known begin, with the number of nodes that depend on each."""
        return Counter(node.unusable.root for node in self.nodes if node.unusable is not None and node.unusable.root)

    def noted(self, rule: str) -> int:
        """Return the number of nodes with a note, or an error, of a rule."""
        return sum(node.unusable is not None and node.unusable.rule == rule for node in self.nodes)


class _Checked(NamedTuple):
    """What is found of a desc, whatever node has it, and the desc itself where it can be read."""

    minimum: str | None
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    desc: Mapping[str, Any] | None


def validated_model(path: str, asked: Asked, sizes: Mapping[str, int]) -> ModelResult:
    """Check every node of a model, at a level or at the newest; `sizes` are those of symbolic dimensions."""
    name, provider = path.replace(os.sep, "/"), registrations()
    mapping = MAPPING.format(release=provider.release)
    try:
        model = read_whole(path, sizes)
    except Unreadable as wrong:
        return ModelResult(name, mapping, provider.level, problem=wrong.diagnostic())
    known: dict[str, _Checked] = {}
    nodes, fusions = [], []
    possible = []
    for node in nodes_and_fusions(model):
        if node.is_possible:
            possible.append((node.operator, node.name))
            continue
        result = _of_node(node, name, asked, known)
        if node.replaced:
            fusions.append(Fusion(node.name, result, node.replaced))
        else:
            nodes.append(result)
    symbols, refusal = tuple(symbols_of(model.proto)), _refusal(opset_of(model.proto))
    found = ModelResult(name, mapping, provider.level, tuple(nodes), symbols, model.symbols, refusal=refusal)
    return found._replace(fusions=tuple(fusions), possible=tuple(possible))


def _refusal(opset: int) -> str | None:
    """Return why the release of the mapping does not load a model of an opset, or None."""
    provider = registrations()
    if opset <= provider.opset:
        return None
    return f"asks for opset {opset}; {provider.release} has opsets up to {provider.opset}, and does not load it"


def _of_node(node: ModelNode, file: str, asked: Asked, known: dict[str, _Checked]) -> NodeResult:
    if isinstance(node.found, Unusable):
        return NodeResult(node.operator, (_unusable(node, node.found, file),), node.found)
    return NodeResult(node.operator, tuple(_descs(node, node.found, file, asked, known)))


def _descs(
    node: ModelNode, found: Iterable[Counterpart], file: str, asked: Asked, known: dict[str, _Checked]
) -> Iterator[Validated]:
    level = asked.level or NEWEST_LEVEL
    for counterpart in found:
        checked = _checked(counterpart, asked, known)
        diagnostics, notes = (tuple(_placed(each, file) for each in some) for some in (checked.findings, checked.notes))
        operator = OPERATOR_PREFIX + counterpart.operator
        made = Validated(file, node.name, operator, level, checked.minimum, diagnostics, is_plain=False)
        yield made._replace(
            notes=tuple(note._replace(severity=NOTE) for note in notes),
            node=node.name,
            onnx_operator=node.operator,
            desc=checked.desc,
        )


def _unusable(node: ModelNode, why: Unusable, file: str) -> Validated:
    """Return what is said of a node that has no desc: an error where the node is wrong, else a note."""
    depends = f"; this depends on {why.root}" if why.root else ""
    text = visible(f"node {node.name} ({node.operator}): {why.reason}{depends}")
    diagnostic = _placed(Finding(why.rule, (), {"problem": text}, help=why.help and visible(why.help)), file)
    if not why.is_error:
        diagnostic = diagnostic._replace(severity=NOTE)
    entry = Validated(file, node.name, None, None, None, (diagnostic,), is_plain=False)
    return entry._replace(node=node.name, onnx_operator=node.operator)


def _checked(counterpart: Counterpart, asked: Asked, known: dict[str, _Checked]) -> _Checked:
    """Return what is wrong with a desc, and what is known of it in a graph; a model has many that are the same."""
    fields = fields_of(counterpart.fields)
    key = json.dumps([counterpart.operator, fields], default=str)
    if key not in known:
        reading = read_desc(counterpart.operator, fields)
        findings = tuple(check(reading, asked.level or NEWEST_LEVEL))
        notes = () if findings else _notes(reading.desc, asked.directml_version)
        desc = None if reading.desc is None else notation(reading.desc)
        known[key] = _Checked(minimum_level(reading), findings, notes, desc)
    return known[key]


def _notes(desc: OperatorDesc | None, version: str | None) -> tuple[Finding, ...]:
    """Return what is known of a valid desc; ONNX Runtime compiles the nodes of a model to graphs."""
    return () if desc is None else tuple(deviations.notes(desc, version, in_graph=True))


def _placed(finding: Finding, file: str) -> Diagnostic:
    return finding.diagnostic()._replace(file=file)
