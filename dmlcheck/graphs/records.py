"""Graphs of operators: as a file has them, and their steps once these are checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import counted, cut
from dmlcheck.files import npy
from dmlcheck.files.document import Path
from dmlcheck.files.plain import open_plain, reason
from dmlcheck.graphs.tensors import OwnNumbers
from dmlcheck.values.layouts import Array


class Step(NamedTuple):
    """A valid desc to compute: its name, the tensors that it reads and writes by label, and where it stands.

    An output that nobody reads is left out, or has an empty name.
    """

    name: str
    desc: OperatorDesc
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    path: Path = ()


class Graph(NamedTuple):
    """Steps in the order of computation, the names of their inputs and outputs, and their constants.

    `constants` are the bytes of tensors; `computed` are those of them that implementations compute for themselves.
    """

    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, Any] = {}
    computed: Mapping[str, OwnNumbers] = {}


class Node(NamedTuple):
    """An operator of an unchecked graph: its desc in the notation, and the names of its tensors by label.

    An empty name of an input stands for a missing tensor. `others` are names that it writes without a tensor, and
    `findings` are about the file's notation of the desc.
    """

    name: str
    operator: str
    fields: Mapping[str, object]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    path: Path = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class Constant(NamedTuple):
    """A tensor with bytes of its own, in the graph's file or in one next to it: its name, and its node's."""

    tensor: str
    node: str
    path: Path = ()
    data: memoryview | None = None
    file: str = ""


class GraphFile(NamedTuple):
    """A graph as its file has it: the names of its inputs and outputs, its constants, its nodes in order, unchecked.

    An input or output that is not used has no name. `file` is written with slashes.
    """

    file: str
    inputs: tuple[str, ...]
    constants: tuple[Constant, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]


# ---- the constants of a graph: bytes in its file, or in files next to it, read when a step needs them


class Constants(NamedTuple):
    """The constants of a graph by their names, and the graph's folder."""

    tensors: Mapping[str, Constant]
    folder: str

    def load(self, name: str, tensor: TensorDesc) -> Checking[Array | None]:
        """Return as many bytes of a constant as a tensor takes, or None if it has fewer or cannot be read."""
        constant = self.tensors[name]
        needed = tensor.span_bytes
        if constant.data is not None:
            data: Array | str = np.frombuffer(constant.data, dtype=np.uint8, count=min(needed, len(constant.data)))
        else:
            data = _of_file(self.folder, f"{constant.file}.bin", needed)
        if isinstance(data, str):
            params = {"path": cut(f"{constant.file}.bin", 200), "problem": data}
            help = "ONNX Runtime writes the large constants of a graph as files next to it"
            yield Finding("file-not-found", constant.path, params, help)
            return None
        if data.size < needed:
            text = f"it has {counted(data.size, 'byte')}, and {needed:,} are read of it"
            yield Finding("edge-mismatch", constant.path, {"problem": text}, "let ONNX Runtime write the graph again")
            return None
        return data


def constants_of(graph: GraphFile) -> Constants:
    """Return the constants of a graph."""
    return Constants({constant.tensor: constant for constant in graph.constants}, os.path.dirname(graph.file))


def _of_file(folder: str, name: str, most: int) -> Array | str:
    """Return the first bytes of a file in a folder tree, or why there are none."""
    full, problem = npy.find(folder, name)
    if problem is not None:
        return problem
    try:
        with open_plain(full) as file:
            return np.fromfile(file, dtype=np.uint8, count=min(most, os.fstat(file.fileno()).st_size))
    except (OSError, ValueError) as error:
        return reason(error)
    except MemoryError:
        return "does not fit into memory"
