"""Models run in a process of their own: one that crashes it, or takes too long, costs its own tensors and no others."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.diagnostics.record import Finding
from dmlcheck.implementations import make
from dmlcheck.implementations.protocol import Adapted
from dmlcheck.running import computed
from dmlcheck.running.children import Child, ending, leave_interrupts_to_the_parent, started
from dmlcheck.running.computed import Nothing, failed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_GRACE = 5.0  # seconds to end at the end
_START = 60.0  # seconds more for the first answer of a process, which imports the implementation before


class TensorRequest(NamedTuple):
    """The request to a process for a model, in bytes or by its path: tensors of some names."""

    inputs: dict[str, Any]
    names: list[str]
    is_path: bool
    is_optimized: bool


class ModelTensors(NamedTuple):
    """The answer of a process for a model, and whether some of it ran elsewhere than on its provider."""

    found: Mapping[str, Any] | Nothing
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
        self._child: Child | None = started(serve, name)
        self._has_answered = self._is_asked = False

    def tensors(
        self, model: bytes | str, inputs: Mapping[str, Any], names: list[str], *, is_optimized: bool
    ) -> Mapping[str, Any] | Nothing:
        """Return the tensors of a model; Nothing where the process ended, or time was up."""
        child = self._child = self._child or started(serve, self.made_by)
        self._is_asked = True
        try:
            child.connection.send(
                TensorRequest(dict(inputs), names, is_path=isinstance(model, str), is_optimized=is_optimized)
            )
            child.connection.send_bytes(model.encode() if isinstance(model, str) else model)
            if not child.connection.poll(self._patience()):
                self._stop(0.0)
                return Nothing("timed out", Finding("timeout", (), {"seconds": f"{self.timeout:g}"}))
            given: ModelTensors = child.connection.recv()
        except (EOFError, OSError):
            child.process.join(_GRACE)
            return failed(self.given, ending(self._stop(0.0)))
        self._is_asked, self._has_answered, self.ran_elsewhere = False, True, given.ran_elsewhere
        return given.found

    def _patience(self) -> float | None:
        if self.timeout is None:
            return None
        return self.timeout + (0.0 if self._has_answered else _START)

    def _stop(self, patience: float) -> int | None:
        child, self._child = self._child, None
        self._has_answered = self._is_asked = False
        return None if child is None else child.stop(patience)

    def close(self) -> None:
        """End the process, at once if it is busy, and close the implementation."""
        if self._child is not None and not self._is_asked:
            with contextlib.suppress(OSError):  # it may be gone already
                self._child.connection.send(None)
        self._stop(0.0 if self._is_asked else _GRACE)
        self.given.close()


def tensors_of(
    model: bytes | str, inputs: Mapping[str, Any], names: list[str], implementation: Any, *, is_optimized: bool = False
) -> Mapping[str, Any] | Nothing:
    """Return the tensors of a model that an implementation gives, each an array, or a list of arrays for a sequence.

    With `is_optimized` it runs with nodes fused, as by default, if the implementation has both ways.
    """
    if isinstance(implementation, ModelProcess):
        return implementation.tensors(model, inputs, names, is_optimized=is_optimized)
    return computed.tensors_of(model, inputs, names, implementation.optimizing() if is_optimized else implementation)


# ---- in the process


def serve(connection: Connection, name: str) -> None:
    """Run models as they are asked for; the body of a process."""
    leave_interrupts_to_the_parent()
    implementation = make(name)
    try:
        with contextlib.suppress(EOFError, BrokenPipeError):  # nobody listens any more
            while (asked := connection.recv()) is not None:
                _send(connection, _given(connection.recv_bytes(), asked, implementation), implementation)
    finally:
        implementation.close()


def _given(model: bytes, asked: TensorRequest, implementation: Any) -> ModelTensors:
    one = implementation.optimizing() if asked.is_optimized else implementation
    found = computed.tensors_of(model.decode() if asked.is_path else model, asked.inputs, asked.names, one)
    return ModelTensors(found, one.ran_elsewhere)


def _send(connection: Connection, given: ModelTensors, implementation: Any) -> None:
    """Send an implementation's outputs; outputs that cannot be sent are a failure."""
    try:
        connection.send(given)
    except (BrokenPipeError, ConnectionError):
        raise
    except Exception as error:  # noqa: BLE001 - any exception of an object of the implementation when it is pickled
        problem = f"returned an object that cannot be sent to another process: {error}"
        connection.send(ModelTensors(failed(implementation, problem)))
