"""DirectML graphs as case files: one for each operator, with the constants that it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Checking, Diagnostic, collected
from dmlcheck.diagnostics.wording import cut
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, free_name, safe_name
from dmlcheck.folders.exporting import Imported, import_all
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.formats.dml_graph.literals import node_inputs
from dmlcheck.graphs.buffers import Array, from_bytes
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.constants import Constants, constants_of
from dmlcheck.graphs.records import GraphFile, Step
from dmlcheck.specs.records import INPUT
from dmlcheck.values.layouts import wide_span

_COMMENT = """\
From the DirectML graph {} by dmlcheck {}: a node's desc, and the constants that it reads.
Inputs that other nodes bring are random. An implementation's results are compared with the reference."""
_MOST = 200  # characters of a name


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a folder of case files for each graph among files, and return the result for each file.

    Files with the constants of others are left out. OSError if the folder cannot be written, Occupied if it has other
    contents than an earlier import.
    """
    read = [(path, read_graph(path)) for path in paths]
    constants = _constant_files(graph for _, graph in read) if len(read) > 1 else frozenset()
    graphs = ((path, graph) for path, graph in read if os.path.realpath(path) not in constants)
    return import_all(graphs, folder, FORM, _imported)


def _constant_files(graphs: Iterable[GraphFile | Diagnostic]) -> frozenset[str]:
    """Return the files with the constants of graphs."""
    files = [
        os.path.join(os.path.dirname(graph.file), f"{constant.file}.bin")
        for graph in graphs
        if isinstance(graph, GraphFile)
        for constant in graph.constants
        if constant.file and "\0" not in constant.file
    ]
    return frozenset(map(os.path.realpath, files))


def _imported(source: tuple[str, GraphFile | Diagnostic], place: Folder, taken: set[str]) -> Imported:
    path, graph = source
    name = path.replace(os.sep, "/")
    document = Document(name, "")
    if isinstance(graph, Diagnostic):
        return Imported(name, problems=(graph,), document=document)
    steps, findings = collected(valid_steps(graph))
    stem = free_name(safe_name(os.path.splitext(os.path.basename(path))[0]), taken)
    stems: set[str] = set()
    remarks, constants = [], constants_of(graph)
    for step in steps:
        case, wrong = collected(_case(step, name, constants))
        findings += wrong
        if isinstance(case, Written):
            file = f"{stem}/{free_name(safe_name(step.name), stems)}"
            write_cases(place, file, [case], _COMMENT.format(one_line(name), __version__))
        elif case is not None:
            remarks.append(case)
    problems = tuple(finding.diagnostic()._replace(file=name) for finding in findings)
    return Imported(name, stem if stems else None, len(stems), tuple(remarks), problems, document)


def _case(step: Step, file: str, constants: Constants) -> Checking[Written | str | None]:
    """Return a step as a case, or why it cannot be one; None if a constant is wrong."""
    name = cut(step.name, _MOST)
    wide = wide_span(step.desc)
    if wide is not None:
        return f"{name} is not imported: {wide}"
    arrays: dict[str, Array] = {}
    for part in step.desc.tensors(INPUT):
        if step.inputs[part.label] in constants.tensors:
            data = yield from constants.load(step.inputs[part.label], part.tensor)
            if data is None:
                return None
            arrays[part.label] = from_bytes(part.tensor, data)
    inputs = node_inputs(step.desc, arrays)
    if inputs is None:
        return f"{name} is not imported: no values for its inputs were found"
    source = f"DirectML graph {os.path.basename(file)}, node {name}"
    return Written(name, step.desc, inputs, more={"source": source})
