"""A DirectML graph as its file has it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Tensor(NamedTuple):
    """A DML_BUFFER_TENSOR_DESC; strides None means packed."""

    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_size: int


class Attribute(NamedTuple):
    """An attribute: the name of its type in the file (`UInt32`), and its value, None if it has none.

    A struct's value is a tuple of its members, a scalar union's its eight bytes.
    """

    kind: str
    value: Any = None


class Operator(NamedTuple):
    """An operator as the file has it: its name, its tensors without missing ones, its attributes in order."""

    type: str
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    attributes: tuple[Attribute, ...] = ()


class FileConstant(NamedTuple):
    """A constant: the name of the file next to the graph, without `.bin`, or else its bytes."""

    file: str = ""
    data: memoryview | None = None


class FileNode(NamedTuple):
    """A node, and the names of its inputs and outputs; an empty name stands for a missing tensor."""

    name: str
    desc: Operator | FileConstant
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Stored(NamedTuple):
    """A graph: its nodes in order, and the names of its inputs and outputs; an input that is not used has none."""

    nodes: tuple[FileNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
