"""Models run in a process of their own: one that crashes it, or takes too long, costs its own tensors and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.implementations import make
from dmlcheck.implementations.protocol import Adapted
from dmlcheck.processes.body import questions, tell
from dmlcheck.processes.child import Child, LateChild, LostChild
from dmlcheck.running import computed
from dmlcheck.running.computed import NoOutputs, failed
from dmlcheck.values.memory import reuse_freed_memory

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_START_TIME = 60.0  # seconds for a process to import the implementation


Model = bytes | str | Sequence[bytes]  # a model's bytes, as one or in pieces, or its path


class TensorRequest(NamedTuple):
    """The request to a process for tensors of some names, of a model at a path, or of one in pieces of its bytes."""

    path: str | None
    pieces: list[Any]
    inputs: dict[str, Any]
    names: list[str]
    is_optimized: bool


class ModelTensors(NamedTuple):
    """The answer of a process for a model, and whether some of it ran elsewhere than on its provider."""

    found: Mapping[str, Any] | NoOutputs
    ran_elsewhere: bool = False


class ModelProcess(Adapted):
    """An implementation that runs models, in a process that is started with it and again after each crash.

    For everything else it uses the implementation in this process, `given`. `timeout` are the most seconds of a model,
    None any.
    """

    ran_elsewhere = False

    def __init__(self, here: Any, name: str, timeout: float | None = None) -> None:
        """Start the process, which makes the implementation of a name again."""
        super().__init__(here)
        self.made_by = name
        self.timeout = timeout
        self._child: Child | None = self._started()

    def _started(self) -> Child:
        return Child(__name__, self.made_by, start_time=_START_TIME)

    def tensors(
        self, model: Model, inputs: Mapping[str, Any], names: list[str], *, is_optimized: bool
    ) -> Mapping[str, Any] | NoOutputs:
        """Return the tensors of a model; NoOutputs where the process ended, or time was up."""
        child = self._child = self._child or self._started()
        path, pieces = (model, []) if isinstance(model, str) else (None, [model] if isinstance(model, bytes) else model)
        asked = TensorRequest(path, [*map(PickleBuffer, pieces)], dict(inputs), names, is_optimized=is_optimized)
        try:
            given: ModelTensors = child.ask(asked, self.timeout)
        except LateChild as late:
            self._stop()
            return NoOutputs(*late.result(self.made_by, self.timeout))
        except LostChild as loss:
            self._stop()
            return failed(self.given, loss.problem)
        self.ran_elsewhere = given.ran_elsewhere
        return given.found

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    def close(self) -> None:
        """End the process, at once if it is busy, and close the implementation."""
        self._stop()
        self.given.close()


def tensors_of(
    model: Model, inputs: Mapping[str, Any], names: list[str], implementation: Any, *, is_optimized: bool = False
) -> Mapping[str, Any] | NoOutputs:
    """Return the tensors of a model that an implementation gives, each an array, or a list of arrays for a sequence.

    With `is_optimized` it runs with nodes fused, as by default, if the implementation has both ways.
    """
    if isinstance(implementation, ModelProcess):
        return implementation.tensors(model, inputs, names, is_optimized=is_optimized)
    whole = model if isinstance(model, (bytes, str)) else b"".join(model)
    return computed.tensors_of(whole, inputs, names, implementation.optimizing() if is_optimized else implementation)


# ---- in the process


def serve(connection: Connection, name: str) -> None:
    """Run models as they are asked for."""
    reuse_freed_memory()
    implementation = make(name)
    try:
        for asked in questions(connection):
            _send(connection, _given(asked, implementation), implementation)
    finally:
        implementation.close()


def _given(asked: TensorRequest, implementation: Any) -> ModelTensors:
    one = implementation.optimizing() if asked.is_optimized else implementation
    model = b"".join(asked.pieces) if asked.path is None else asked.path
    found = computed.tensors_of(model, asked.inputs, asked.names, one)
    return ModelTensors(found, one.ran_elsewhere)


def _send(connection: Connection, given: ModelTensors, implementation: Any) -> None:
    """Send an implementation's outputs; outputs that cannot be sent are a failure."""
    try:
        tell(connection, given)
    except Exception as error:  # noqa: BLE001 - any exception of an object of the implementation when it is pickled
        problem = f"returned an object that cannot be sent to another process: {error}"
        tell(connection, ModelTensors(failed(implementation, problem)))
