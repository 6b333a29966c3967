"""Graphs of operators: as a file has them, and their steps once these are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.files.document import Path


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

    `constants` are the bytes of tensors.
    """

    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, Any] = {}


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
