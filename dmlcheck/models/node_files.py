"""The files of nodes that failed: a case file with the inputs, and a model of one or several nodes with its inputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import Written, write_cases
from dmlcheck.folders.export_folder import Folder, free_name, safe_name
from dmlcheck.models.node_verdict import NodeVerdict
from dmlcheck.onnx.reading import first_line
from dmlcheck.reference import engine
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.specs.records import OUTPUT

FORM = "nodes"  # the format of the folder


class FailedNode(NamedTuple):
    """A node that failed: its name and operator, the verdict, and its own onnx.ModelProto with its inputs."""

    name: str
    operator: str
    verdict: NodeVerdict
    model: Any
    inputs: Mapping[str, Any]


class FailedGroup(NamedTuple):
    """Nodes that are wrong together: the name of the group, their names, and their onnx.ModelProto with its inputs."""

    name: str
    nodes: tuple[str, ...]
    model: Any
    inputs: Mapping[str, Any]


class NodeFiles:
    """A folder to which the nodes of a model that fail are written as they fail."""

    def __init__(self, folder: str, model: str) -> None:
        """Make the folder, or clear that of an earlier run; Occupied or OSError if that fails."""
        self.place = Folder(folder, FORM)
        self.model = model
        self.taken: set[str] = set()

    def write(self, failed: FailedNode) -> str:
        """Write NAME.yaml, NAME/model.onnx and NAME/test_data_set_0, and return the first, or why there is nothing."""
        name = free_name(safe_name(failed.name), self.taken)
        try:
            for path, data in _model_files(failed.model, failed.inputs):
                self.place.write(f"{name}/{path}", data)
            comment = (
                f"{one_line(failed.name)} ({failed.operator}) of {one_line(self.model)}, by dmlcheck {__version__}."
            )
            file = write_cases(self.place, name, list(_cases(failed, name)), comment)
        except (OSError, MemoryError, TooMuchWork, ValueError) as error:
            return f"nothing: {first_line(error)}"
        self.place.entries[file] = {"file": file, "node": failed.name}
        return os.path.join(self.place.path, file)

    def write_group(self, failed: FailedGroup) -> str:
        """Write NAME/model.onnx and NAME/test_data_set_0, and return the first, or why there is nothing."""
        name = free_name(safe_name(failed.name), self.taken)
        try:
            for path, data in _model_files(failed.model, failed.inputs):
                self.place.write(f"{name}/{path}", data)
        except (OSError, MemoryError, ValueError, TypeError, AttributeError) as error:  # the last two of sequences
            return f"nothing: {first_line(error)}"
        file = f"{name}/model.onnx"
        self.place.entries[file] = {"file": file, "nodes": list(failed.nodes)}
        return os.path.join(self.place.path, name, "model.onnx")

    def close(self) -> None:
        """Write the manifest, by which a later run may clear the folder."""
        if not self.place.is_finished:
            self.place.finish([])


def _model_files(model: Any, inputs: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a model with its inputs in the layout of ONNX's backend tests."""
    from onnx import numpy_helper

    yield "model.onnx", model.SerializeToString()
    for number, value in enumerate(model.graph.input):
        tensor = numpy_helper.from_array(inputs[value.name], value.name)
        yield f"test_data_set_0/input_{number}.pb", tensor.SerializeToString()


def _cases(failed: FailedNode, name: str) -> Iterator[Written]:
    """Yield each desc of a node as a case, which expects the reference engine's outputs."""
    source = f"computed by dmlcheck's reference engine from the inputs that {one_line(failed.name)} had"
    for case in cases_of_steps(list(failed.verdict.steps()), name, source):
        values = engine.run(case.desc, dict(case.inputs or {}))
        yield case._replace(outputs=case.desc.by_field(values, OUTPUT))


def cases_of_steps(steps: Sequence[tuple[OperatorDesc, dict[str, Any]]], name: str, source: str) -> Iterator[Written]:
    """Yield each desc of a node with its inputs as a case: the only one by a name, several by their numbers."""
    for number, (desc, inputs) in enumerate(steps, start=1):
        yield Written(name if len(steps) == 1 else f"step-{number}", desc, inputs, more={"source": source})
