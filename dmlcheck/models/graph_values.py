"""Evaluation of a DirectML graph by the reference engine."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Diagnostic, Finding, collected
from dmlcheck.diagnostics.wording import braces, counted, cut
from dmlcheck.files import npy
from dmlcheck.files.plain import open_plain, reason
from dmlcheck.formats.dml_graph.graph import read_graph
from dmlcheck.formats.registry import Opened
from dmlcheck.graphs.check import valid_steps
from dmlcheck.graphs.compute import Load, Results, run_steps
from dmlcheck.graphs.records import Constants, GraphFile, constants_of
from dmlcheck.running.evaluate import Evaluated, EvaluationRequest
from dmlcheck.values.layouts import Array, to_bytes
from dmlcheck.values.number_formats import NUMPY_TYPES


def evaluated_graph(file: Opened, wanted: EvaluationRequest) -> Iterator[Evaluated]:
    """Yield the outputs of a graph after remarks on them, or the diagnostics."""
    graph = read_graph(file.path)
    if isinstance(graph, Diagnostic):
        yield Evaluated(None, diagnostics=(graph,), is_wrong=True)
        return
    results, findings = collected(evaluate_graph(graph, partial(load_given, wanted.inputs)))
    if findings:
        wrong = tuple(finding.diagnostic()._replace(file=graph.file) for finding in findings)
        yield Evaluated(None, diagnostics=wrong, is_wrong=any(one.rule == "graph-syntax" for one in wrong))
        return
    yield from (Evaluated(None, remark=remark) for remark in _remarks(graph, results))
    outputs = {cut(key, 1000): (found.values, found.tensor.data_type) for key, found in results.outputs.items()}
    masks = {cut(key, 1000): one.undefined for key, one in results.outputs.items() if one.undefined is not None}
    nothing = None if outputs else f"nothing was computed: {graph.file} has no operator that writes an output"
    name = os.path.splitext(os.path.basename(graph.file))[0]
    yield Evaluated(name, outputs, undefined=masks, nothing=nothing)


def _remarks(graph: GraphFile, results: Results) -> Iterator[str]:
    for name in results.undefined:
        yield f"elements of {cut(name, 100)!r} are undefined, and with them the results that follow from it"
    for name in graph.outputs:
        if name and name not in results.outputs:
            yield f"{cut(name, 100)!r} is not printed: it is a constant, and the file does not say of which type"


# ---- every node of a graph


class _Sources(NamedTuple):
    """Where the tensors come from that no node writes: constants, and the inputs of the graph."""

    constants: Constants
    inputs: tuple[str, ...]
    given: Load

    def load(self, name: str, tensor: TensorDesc) -> Checking[Array | None]:
        if name in self.constants.tensors:
            return (yield from self.constants.load(name, tensor))
        checking = self.given(name, tensor)
        while True:
            try:
                yield _at_input(next(checking), self.inputs.index(name))
            except StopIteration as end:
                found: Array | None = end.value
                return found


def _at_input(finding: Finding, index: int) -> Finding:
    return finding._replace(path=finding.path or ("graphInputNames", index))


def evaluate_graph(graph: GraphFile, given: Load) -> Checking[Results]:
    """Compute a graph; `given` brings its inputs. A graph with mistakes is not computed."""
    steps, findings = collected(valid_steps(graph))
    if findings:
        yield from findings
        return Results({})
    sources = _Sources(constants_of(graph), graph.inputs, given)
    return (yield from run_steps(steps, [name for name in graph.outputs if name], sources.load))


# ---- the values of a graph's inputs: arrays in a .npz file, or .npy files in a folder


_HEADER = 2**14  # bytes of the header of a .npy file
_WIDEST = 16  # bytes of an element, of any type


class Missing(Exception):
    """There is no array with this name."""


def load_given(place: str | None, name: str, tensor: TensorDesc) -> Checking[Array | None]:
    """Return the bytes of an input of a graph: the elements of its array in memory order."""
    if place is None:
        yield _missing(name, "--inputs FILE.npz or --inputs DIR gives the values of the graph's inputs")
        return None
    try:
        values = _array(place, name, tensor)
    except Missing:
        yield _missing(name, f"add an array {name!r} to {place}, or the file {name}.npy to the folder")
        return None
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        problem = reason(error) if isinstance(error, OSError) else str(error) or type(error).__name__
        yield Finding("file-not-found", (), {"path": place, "problem": f"the values of {name!r}: {problem}"})
        return None
    wanted = NUMPY_TYPES[tensor.data_type]
    if values.dtype != wanted:
        found = f"an array of {values.dtype}"
        help = f"give {wanted} for {tensor.data_type}"
        yield Finding("value-not-representable", (), {"element": name, "found": found, "type": tensor.data_type}, help)
        return None
    if values.size != tensor.extent:
        found = f"{counted(values.size, 'element')} {braces(values.shape)}"
        expected = f"the graph reads {tensor.extent:,} of {braces(tensor.sizes)}"
        yield Finding("element-count", (), {"tensor": name, "found": found, "expected": expected})
        return None
    return to_bytes(tensor._replace(sizes=(tensor.extent,), strides=None), values)


def _missing(name: str, help: str) -> Finding:
    return Finding("missing-tensor", (), {"tensor": f"the input {name!r} of the graph", "section": "--inputs"}, help)


def _array(place: str, name: str, tensor: TensorDesc) -> Array:
    """Return an array of a file or a folder; Missing if it has none of this name."""
    most = tensor.extent * _WIDEST + _HEADER
    if os.path.isdir(place):
        full, problem = npy.find(place, f"{name}.npy")
        if problem == "no such file":
            raise Missing
        if problem is not None:
            raise ValueError(problem)
        with open_plain(full) as file:
            _check_size(os.fstat(file.fileno()).st_size, most)
            return npy.read_elements(file, npy.Header(file))
    with open_plain(place) as file, zipfile.ZipFile(file) as archive, tempfile.TemporaryFile() as copy:
        if f"{name}.npy" not in archive.namelist():
            raise Missing
        _check_size(archive.getinfo(f"{name}.npy").file_size, most)
        with archive.open(f"{name}.npy") as packed:
            shutil.copyfileobj(packed, copy)  # elements are only read from files
        copy.seek(0)
        return npy.read_elements(copy, npy.Header(copy))


def _check_size(size: int, most: int) -> None:
    """Raise ValueError for a file that is too large to be an array of the graph."""
    if size > most:
        raise ValueError(f"the file has {size:,} bytes, far more than the graph reads")
