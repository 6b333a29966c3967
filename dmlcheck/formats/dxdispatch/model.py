"""A DxDispatch model as records: its resources, dispatchables and commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, FileOrigin
from dmlcheck.descs.read import Reading
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Document, Path
from dmlcheck.graphs.records import Graph

DEFERRED = "deferred"  # the initial values of a resource that an ONNX dispatchable makes


class Command(NamedTuple):
    """One command of a model: its kind in lower case, what it names, and where it stands."""

    kind: str
    target: str
    raw: Mapping[str, Any]
    path: Path


class Model(NamedTuple):
    """A DxDispatch model: resources as given, operators as cases and their descs as read, other kinds, and commands.

    `graphs` has DirectML graphs by the names of their dispatchables, or what is wrong with their files.
    """

    document: Document
    resources: Mapping[str, Mapping[str, Any]]
    operators: Mapping[str, Case]
    others: Mapping[str, str]
    commands: tuple[Command, ...]
    problems: tuple[Diagnostic, ...] = ()
    graphs: Mapping[str, Graph | Diagnostic] = {}
    descs: Mapping[str, Reading] = {}

    @property
    def origin(self) -> FileOrigin:
        """Where findings about the model as a whole stand."""
        return FileOrigin(self.document, ((),))

    def bindings(self, dispatch: Command) -> dict[str, Any]:
        """Return what is bound to the tensors of a dispatch: by its dispatchable, and by the command itself."""
        own = self.document.value["dispatchables"][dispatch.target].get("bindings")
        return {**(own if isinstance(own, dict) else {}), **dispatch.raw["bindings"]}
