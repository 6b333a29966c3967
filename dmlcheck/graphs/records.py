"""Graphs of descs, and their steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
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
    """Steps in the order in which they are computed, the names of what they read and give, and their constants.

    `constants` are the bytes of tensors.
    """

    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, Any] = {}
