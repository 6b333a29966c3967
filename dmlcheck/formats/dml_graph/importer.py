"""DirectML graphs as case files: one for each operator, with the constants that it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dmlcheck import __version__
from dmlcheck.cases.prepare import too_large, value_findings
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import Checking, Diagnostic, collected
from dmlcheck.diagnostics.wording import cut
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, Imported, free_name, import_all, safe_name
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.records import Constants, GraphFile, Step, constants_of
from dmlcheck.specs.names import DATA_TYPES, NEWEST_LEVEL, integer_range
from dmlcheck.specs.records import INPUT
from dmlcheck.values.generators import random, sequence
from dmlcheck.values.layouts import Array, from_bytes, wide_span

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


# ---- values for the inputs of a single node


_FLOATS = (-1, 1)
_WHOLE = (0, 100)  # range of integers that are not indices and have more than 8 bits

Literal = dict[str, Any]


def node_inputs(desc: OperatorDesc, constants: Mapping[str, Array]) -> dict[str, Any] | None:
    """Return the values of a desc's inputs by field: arrays for constants, and the notation of case files for others.

    None if no values satisfy the operator's constraints, or this machine cannot hold them.
    """
    for made in _candidates(desc):
        values: Mapping[str, Any] = {**made, **constants}
        if too_large(desc, desc.by_field(made), {}) is not None:
            return None
        arrays = {label: _array(values[label], part.tensor) for label, part in _inputs(desc)}
        if not value_findings(desc, desc.by_field(arrays), NEWEST_LEVEL):
            return desc.by_field(values)
    return None


def _candidates(desc: OperatorDesc) -> Iterator[dict[str, Literal]]:
    """Yield values to try: random ones, then integers that are all different, then 0."""
    drawn = {label: {"random": _range(part, desc, seed)} for seed, (label, part) in enumerate(_inputs(desc), 1)}
    whole = [label for label, part in _inputs(desc) if DATA_TYPES[part.tensor.data_type].kind != "float"]
    yield drawn
    yield {**drawn, **{label: {"sequence": {"start": 0, "step": 1}} for label in whole}}
    yield {**drawn, **{label: {"sequence": {"start": 0, "step": 0}} for label in whole}}


def _inputs(desc: OperatorDesc) -> Iterator[tuple[str, TensorPart]]:
    return ((part.label, part) for part in desc.tensors(INPUT))


def _range(part: TensorPart, desc: OperatorDesc, seed: int) -> Literal:
    """Return the random numbers for a tensor, in the notation; indices are inside the dimension that they index."""
    kind, bits = DATA_TYPES[part.tensor.data_type]
    low, high = _FLOATS if kind == "float" else _WHOLE if bits > 8 else integer_range(part.tensor.data_type)
    if kind != "float" and "Indices" in part.label:
        low, high = 0, _indexed(part, desc) - 1
    return {"seed": seed, "low": low, "high": high}


def _indexed(part: TensorPart, desc: OperatorDesc) -> int:
    """Return the number of valid indices, in the smallest dimension that an index may be about."""
    sizes = desc.tensors()[0].tensor.sizes
    if part.label.startswith("Batch"):
        return sizes[0]
    axis = desc.get("Axis")
    return sizes[axis] if isinstance(axis, int) and axis < len(sizes) else min(sizes)


def _array(given: Any, tensor: TensorDesc) -> Array:
    if not isinstance(given, dict):
        return given  # type: ignore[no-any-return]
    count = tensor.element_count
    ((kind, of),) = given.items()
    if kind == "random":
        flat = random(tensor.data_type, count, of["seed"], of["low"], of["high"])
    else:
        flat = sequence(tensor.data_type, count, of["start"], of["step"])
    return flat.reshape(tensor.sizes)
