"""A DxDispatch model as records: its resources, dispatchables and commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, FileOrigin
from dmlcheck.descs.read import Reading
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Document, Path
from dmlcheck.graphs.records import GraphFile

DEFERRED = "deferred"  # the initial values of a resource that an ONNX dispatchable makes


class BoundResource(NamedTuple):
    """A bound resource: its name, the start of the tensor in it, and the place of the binding in the file.

    The start is a number of elements, of `size` bytes, or of the resource's own type where that is None.
    """

    name: str
    path: Path
    start: int = 0
    size: int | None = None


class ModelBinding(NamedTuple):
    """The binding of a name: its resources, None for a wrong one, and its place."""

    sources: tuple[BoundResource | None, ...]
    path: Path

    def source(self, index: int) -> BoundResource | None:
        """Return the resource bound to one of its tensors, or None."""
        return self.sources[index] if index < len(self.sources) else None


class ModelCommand(NamedTuple):
    """One command of a model: its kind in lower case, its target, its place, and its bindings.

    A dispatch has the bindings of its dispatchable too.
    """

    kind: str
    target: str
    raw: Mapping[str, Any]
    path: Path
    bindings: Mapping[str, ModelBinding] = {}


class DxModel(NamedTuple):
    """A DxDispatch model: resources as given, operators as cases and their descs as read, other kinds, and commands.

    `graphs` has DirectML graphs by the names of their dispatchables, or the diagnostics of their files.
    """

    document: Document
    resources: Mapping[str, Mapping[str, Any]]
    operators: Mapping[str, Case]
    others: Mapping[str, str]
    commands: tuple[ModelCommand, ...]
    problems: tuple[Diagnostic, ...] = ()
    graphs: Mapping[str, GraphFile | Diagnostic] = {}
    descs: Mapping[str, Reading] = {}

    @property
    def origin(self) -> FileOrigin:
        """Where findings about the model as a whole stand."""
        return FileOrigin(self.document, ((),))
