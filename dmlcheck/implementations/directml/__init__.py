"""DirectML itself: its library, asked about descs in a process of its own, and executed where there is a device."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.implementations import Failure, LibraryAnswer, NoDevice, Refused, TimedOut, Unavailable, Unsupported
from dmlcheck.implementations._program import it_wrote
from dmlcheck.implementations.directml import dml
from dmlcheck.implementations.directml.com import hresult_text
from dmlcheck.implementations.directml.library import Library, find
from dmlcheck.implementations.directml.loading import NONE, WARP, Setup, environment_for
from dmlcheck.implementations.directml.structs import image_of
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.processes.child import IsolatedChild, LateChild, LostChild
from dmlcheck.specs.names import FEATURE_LEVELS, LEVELS, RELEASES

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array

_SERVING = "dmlcheck.implementations.directml.serving"
_START_TIME = 60.0  # for loading the library and making a device


class LibraryOptions(NamedTuple):
    """The parts of `directml:LIBRARY,device=...,d3d12=...`; `flags` are for executions."""

    library: str = ""
    device: str = ""
    d3d12: str = ""
    flags: int = 0


def options_of(place: str) -> LibraryOptions:
    """Return the parts of what follows `directml:`. Unavailable for a value that there is not."""
    library, *given = _split(place)
    values = dict(each.split("=", 1) for each in given)
    device = values.get("device", "")
    if device not in ("", NONE, WARP) and not (device.isascii() and device.isdigit()):
        raise Unavailable(f"directml: device={device} is not one; write device=warp, device=none or device=N, a number")
    flags = 0
    for key, allowed, flag in (
        ("half", "allowed", dml.ALLOW_HALF_PRECISION_COMPUTATION),
        ("metacommands", "off", dml.DISABLE_META_COMMANDS),
    ):
        if key in values and values[key] != allowed:
            raise Unavailable(f"directml: {key}={values[key]} is not possible; write {key}={allowed}, or leave it out")
        flags |= flag if key in values else 0
    return LibraryOptions(library, device, values.get("d3d12", ""), flags)


_KEYS = ("device=", "d3d12=", "half=", "metacommands=")


def _split(place: str) -> list[str]:
    """Return the library and the options after it: a comma is part of a path unless an option follows."""
    parts = [""]
    for index, part in enumerate(place.split(",")):
        is_of_path = "=" not in part and part.strip() and (len(parts) == 1 or parts[-1].startswith("d3d12="))
        if part.startswith(_KEYS):
            parts.append(part)
        elif index == 0:
            parts[0] = part
        elif is_of_path:
            parts[-1] += f",{part}"
        else:
            problem = f"{part.strip()} is not an option" if part.strip() else "an option must follow a comma"
            raise Unavailable(f"directml: {problem}; there are {' '.join(_KEYS)}")
    return parts


class DirectMLLibrary(Implementation):
    """DirectML's library in a process of its own, which is started again after a desc that ended it."""

    name = "directml"
    is_directml = True
    validates = True
    keeps_time = True

    def __init__(self, place: str, timeout: float | None = None) -> None:
        """Load the library and make its device; Unavailable if that cannot be done."""
        self.options = options_of(place)
        self.library: Library = find(self.options.library)
        if self.options.d3d12 and not os.path.isfile(self.options.d3d12):
            raise Unavailable(f"directml: d3d12={self.options.d3d12}: there is no such file")
        self.timeout = timeout
        self.errors = ""  # what the process wrote before it ended
        self._child: IsolatedChild | None = None
        level, self.device, self.executes = self._opened()
        self.version = self.library.version or FEATURE_LEVELS[level].directml
        self.feature_level = max(level, RELEASES.get(self.version, level), key=LEVELS.index)  # 1.9.1 says 5_0

    @classmethod
    def to_ask(cls, library: str) -> DirectMLLibrary:
        """Return a library that is only asked; Unavailable if it cannot be."""
        options = options_of(library)
        return cls(f"{options.library},device={NONE}")

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return which tensor is spread too far for a buffer, where anything is executed."""
        if not self.executes:
            return None
        from dmlcheck.values.layouts import wide_span

        return wide_span(desc)

    def create_operator(self, desc: OperatorDesc) -> LibraryAnswer:
        """Return the answer of CreateOperator to a desc, valid or not. Failure if it ended the process, or TimedOut."""
        return LibraryAnswer(self.version, self._kept(self._ask("create", tuple(image_of(desc)))))

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc; NoDevice if it was created and nothing is executed here."""
        if not self.executes:
            answer = self.create_operator(desc)
            if answer.is_accepted:
                raise NoDevice("no device")
            raise (Refused if answer.is_refusal else Failure)(answer.text)
        from dmlcheck.implementations.directml.executor import FILL, GUARD

        given = input_bytes(desc, inputs)
        parts = [each for field in desc.spec.outputs for each in _slots(desc, field.name)]
        sizes = [None if each is None else each[1].buffer_bytes for each in parts]
        step, hresult, found = self._ask("run", tuple(image_of(desc)), self.options.flags, given, sizes)
        if step:
            raise _failure(step, LibraryAnswer(self.version, self._kept(hresult)))
        outputs = {}
        for each, data in zip(parts, found, strict=True):
            if each is not None:
                label, tensor = each
                if data[-GUARD:] != FILL * GUARD:
                    raise Failure(f"wrote behind the end of {label}")
                outputs[label] = output_of(tensor, data[:-GUARD])
        return outputs

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    # ---- the process

    def _opened(self) -> tuple[str, str, bool]:
        """Start the process and load the library; return its level, the name of its device, and whether it executes."""
        d3d12 = os.path.abspath(self.options.d3d12) if self.options.d3d12 else ""
        setup = Setup(self.library.path, d3d12, self.options.device)
        about = f"directml:{self.options.library}".rstrip(":")
        try:
            self._child = IsolatedChild(
                _SERVING,
                tuple(setup),
                [level.value for level in FEATURE_LEVELS.values()],
                environment=environment_for(setup),
                start_time=_START_TIME,
            )
            opened = self._child.ready()
        except OSError as error:
            raise Unavailable(f"{about}: its process cannot be started: {error.strerror or error}") from None
        except LostChild as loss:
            problem = "the library did not load in time" if isinstance(loss, LateChild) else f"its process {loss}"
            raise Unavailable(f"{about}: {problem}{self._drop()}") from None
        if opened[0] != "opened":
            wrote = self._drop()
            raise Unavailable(f"{about}: {opened[1]}{wrote}")
        _, value, name, executes = opened
        level = next((level for level in LEVELS if FEATURE_LEVELS[level].value == value), LEVELS[0])
        return level, name, executes

    def _ask(self, *question: Any) -> Any:
        """Return the answer to a question; Failure or TimedOut if there is none, and then the process is over."""
        self.errors = ""
        if self._child is None:
            try:
                self._opened()
            except Unavailable as error:
                raise Failure(f"could not be loaded again: {error}") from None
        assert self._child is not None  # noqa: S101 - it was opened
        try:
            return self._child.ask(question, self.timeout)
        except LostChild as loss:
            self._drop()
            raise (TimedOut(f"{self.timeout:g}") if isinstance(loss, LateChild) else Failure(str(loss))) from None
        except BaseException:  # an interrupt
            self._drop()
            raise

    def _kept(self, hresult: int) -> int:
        """Return an HRESULT; Failure if it says that the device is lost, and then the next question gets another."""
        if hresult in _LOST_DEVICE:
            self._drop()
            raise Failure(f"lost its device: {hresult_text(hresult)}")
        return hresult

    def _drop(self) -> str:
        """End the process at once, and return what it wrote as the end of a sentence."""
        child, self._child = self._child, None
        if child is None:
            return ""
        child.kill()
        self.errors = child.errors
        return it_wrote(self.errors)


def input_bytes(desc: OperatorDesc, inputs: dict[str, Any]) -> list[tuple[bytes, bool] | None]:
    """Return for each input binding its bytes and whether DirectML owns it, None for one that is left out."""
    bound: list[tuple[bytes, bool] | None] = []
    for field in desc.spec.inputs:
        parts = desc.parts[field.name]
        given = inputs.get(field.name)
        arrays = given if isinstance(given, list) else [given]
        pairs = zip(parts, arrays, strict=False)
        bound += [(_bytes(part.tensor, array), part.tensor.flags == "OWNED_BY_DML") for part, array in pairs] or [None]
    return bound


def _bytes(tensor: TensorDesc, values: Array) -> bytes:
    from dmlcheck.values.layouts import to_bytes

    data = to_bytes(tensor, values).tobytes()
    return data + bytes(tensor.buffer_bytes - len(data))


def output_of(tensor: TensorDesc, data: bytes) -> Array:
    """Return the array of an output, in the shape of its sizes, from the bytes of its buffer."""
    import numpy as np

    from dmlcheck.values.layouts import from_bytes

    return from_bytes(tensor, np.frombuffer(data, np.uint8)).copy()


def _slots(desc: OperatorDesc, field: str) -> list[tuple[str, TensorDesc] | None]:
    """Return the tensors of a field as they are bound, None for one that is left out."""
    parts = desc.parts[field]
    return [(part.label, part.tensor) for part in parts] or [None]


def _failure(step: str, answer: LibraryAnswer) -> Exception:
    if step == "CreateOperator":
        return (Refused if answer.is_refusal else Failure)(answer.text)
    if step == "CompileOperator" and answer.hresult == _UNSUPPORTED:
        return Unsupported(f"CompileOperator returns {answer.code}")
    return Failure(f"takes the desc, and {step} returns {answer.code}")


_UNSUPPORTED = 0x80004001
_LOST_DEVICE = (0x887A0005, 0x887A0006, 0x887A0007, 0x887A0020)
