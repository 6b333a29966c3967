"""The nodes of ONNX models as case files, with the inputs that the reference has for each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import cut, size_text
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, Imported, free_name, import_all, safe_name
from dmlcheck.models.cases import ModelRequest, NodeCase, UnusableModel, given_model, inputs_text
from dmlcheck.models.node_files import cases_of_steps
from dmlcheck.models.node_verdict import operators_of
from dmlcheck.models.reference_nodes import NodeOutputs, ReferenceNodes, Uncomputed, names_text
from dmlcheck.onnx.exporter import require
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.values.layouts import wide_span

_COMMENT = """\
The node {} ({}) of the ONNX model {} by dmlcheck {}, with the reference's results for its inputs;
{}. An implementation's results are compared with the reference."""
_MOST = 200  # characters of a name
_MOST_BYTES = 8 << 30  # of the inputs of all cases of a model, weights included


def import_(
    paths: Iterable[str], folder: str, *, sizes: Mapping[str, int] = {}, inputs: str | None = None, seed: int = 0
) -> list[Imported]:
    """Write a folder of case files for each model among files, one for each node, and return the result for each model.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier import,
    MissingRequirement without onnx.
    """
    require()
    asked = ModelRequest(sizes, seed, inputs)
    return import_all(paths, folder, FORM, partial(_imported, asked))


def _imported(asked: ModelRequest, path: str, place: Folder, taken: set[str]) -> Imported:
    name = path.replace(os.sep, "/")
    document = Document(name, "")
    model = given_model(path, name, asked)
    if isinstance(model, UnusableModel):
        return Imported(name, problems=model.diagnostics, document=document)
    stem = free_name(safe_name(os.path.splitext(os.path.basename(path))[0]), taken)
    stems: set[str] = set()
    left_out: list[tuple[NodeCase, str]] = []
    cases, room = 0, _MOST_BYTES
    source = inputs_text(model, asked.seed, asked.inputs)
    for node, found in _with_inner(ReferenceNodes(model, keeps_inner=True)):
        written = _cases(node, found, name)
        if not isinstance(written, str):
            room -= sum(_bytes(values) for one in written for values in (one.inputs or {}).values())
        if room < 0:
            written = f"the inputs of the nodes before it fill {size_text(_MOST_BYTES)}, and no more is written"
        if isinstance(written, str):
            left_out.append((node, written))
            continue
        file = free_name(safe_name(node.case.name), stems)
        comment = _COMMENT.format(
            one_line(cut(node.case.name, _MOST)), one_line(node.operator), one_line(name), __version__, one_line(source)
        )
        named = written if len(written) > 1 else [written[0]._replace(name=file)]
        write_cases(place, f"{stem}/{file}", named, comment)
        cases += len(written)
    return Imported(name, stem if cases else None, cases, tuple(_remarks(left_out)), document=document)


def _with_inner(way: ReferenceNodes) -> Iterator[tuple[NodeCase, NodeOutputs | Uncomputed]]:
    """Yield all nodes with their outputs, and after a node those inside of it."""
    for node, found in way.nodes():
        yield node, found
        yield from way.inner


def _cases(node: NodeCase, found: NodeOutputs | Uncomputed, file: str) -> list[Written] | str:
    """Return each desc of a node as a case, or why there are none."""
    if isinstance(found, Uncomputed):
        return found.reason
    if found.mapped is None:
        return found.evaluated or "it runs graphs of its own, whose nodes are cases"
    wide = next(filter(None, (wide_span(step.desc) for step in found.mapped.graph.steps)), None)
    if wide is not None:
        return wide
    source = f"ONNX model {os.path.basename(file)}, node {cut(node.case.name, _MOST)}"
    try:
        return list(cases_of_steps(list(operators_of(found.mapped.graph, found.mapped.data)), "node", source))
    except (TooMuchWork, MemoryError) as error:
        return str(error) or "it does not fit into memory"


def _bytes(values: Any) -> int:
    """Return how many bytes the values of an input take: arrays, lists of them, or a notation, which takes none."""
    return sum(map(_bytes, values)) if isinstance(values, list) else int(getattr(values, "nbytes", 0))


def _remarks(left_out: Sequence[tuple[NodeCase, str]]) -> Iterator[str]:
    """Yield which nodes are no cases, a line for each operator and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for node, reason in left_out:
        groups.setdefault((node.operator, reason), []).append(node.case.name)
    for (operator, reason), names in groups.items():
        yield f"{operator} is not imported ({names_text(names)}): {reason}"
