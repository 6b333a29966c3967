"""A program in any language as an implementation: one process, a line of JSON for each case and one back.

The protocol is in the guide, in guide/implementations.md. A program that breaks it is ended, which is the case's
error, and started again for the next case.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
import time
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.files.npy import Header, find, read_elements
from dmlcheck.files.plain import open_plain
from dmlcheck.implementations import Failure, Refused, TimedOut, Unavailable, Unsupported, Unusable, is_invalid_argument
from dmlcheck.implementations._folders import TemporaryFolder
from dmlcheck.implementations._program import Program, excerpt, plain_text
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.reference.engine import Array
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, OTHER_NAMES, short_operator
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import laid_out, viewed, wide_span
from dmlcheck.values.number_formats import NUMPY_TYPES

PROTOCOL = 1
START_SECONDS = 30.0  # for the first answer; devices and runtimes take their time
END_SECONDS = 2.0  # for a program to end by itself when there is nothing more to ask
_MAX_LATE = 100  # answers to earlier cases, each of which is passed over
_MAX_EXACT = 2**53  # whole numbers up to here are exact in a JSON reader that has only doubles
_ANSWERS = ("ok", "error", "unsupported", "invalid")


class Command(Implementation):
    """A program that is started once, and again after it went wrong."""

    keeps_time = True

    def __init__(self, place: str, timeout: float | None = None) -> None:
        """Start the program of a command line; Unavailable if it does not start or answer."""
        self.command = place
        self.words = split(place)
        self.timeout = timeout
        self.number = 0
        self.program: Program | None = None
        self.errors = ""  # the program's standard error for the last case
        try:
            self._folder = TemporaryFolder()
        except OSError as error:
            raise Unavailable(f"command:{place} has no folder for its files: {error}") from error
        self.folder = self._folder.path
        try:
            said = self._start()
        except BaseException:
            self.close()
            raise
        self.name = said.name
        self.version = said.version
        self.device = said.device
        self.operators = said.operators
        self.types = said.types
        self.validates = said.validates

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why the program cannot run a desc, judging by its answer at the start."""
        if self.operators is not None and desc.spec.operator not in self.operators:
            return f"{self.name} does not list {desc.spec.operator}"
        for label, _, tensor in desc.tensors():
            if self.types is not None and tensor.data_type not in self.types:
                return f"{self.name} does not list {tensor.data_type}, which {label} is"
        return wide_span(desc)

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc; a program that gives none of the four answers is ended.

        Raises Refused where the program answers that the desc is not valid.
        """
        if self.program is None:
            try:
                self._start()
            except Unavailable as error:
                raise Failure(f"could not be started again: {error}") from None
        program = self.program
        assert program is not None  # noqa: S101 - _start returns with one or raises
        self.number += 1
        files = _Files(self.folder, self.number)
        try:
            request = {"request": "run", "id": self.number, "operator": desc.spec.operator}
            request["desc"] = _exact(notation(desc))
            request["inputs"] = files.written(desc, inputs)
            request["outputs"] = files.named(desc)
            kind, text = self._answer(program, request)
            self.errors = program.errors()
            if kind == "ok":
                return files.read()
        except Failure as problem:
            self.errors = program.errors()
            self._drop()
            if isinstance(problem, TimedOut):
                raise
            raise type(problem)(f"{problem}{program.wrote()}") from None
        except BaseException:  # an interrupt, a full disk: the program may be in the middle of anything
            self._drop()
            raise
        finally:
            files.remove()
        if kind == "unsupported":
            raise Unsupported(text)
        if kind == "invalid":
            raise Refused(f"answered that the desc is not valid: {text}")
        raise (Refused if is_invalid_argument(text) else Failure)(f"answered: {text}")

    def close(self) -> None:
        """End the program and remove its files."""
        self._drop(END_SECONDS)
        self._folder.close()

    # ---- the process

    def _start(self) -> Said:
        try:
            program = self.program = Program(self.words)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            word = self.words if isinstance(self.words, str) else self.words[0]
            help = "name a program on the PATH, or write the path of one"
            raise Unavailable(f"command:{self.command} cannot be started: {word}: {reason}; {help}") from error
        seconds = max(START_SECONDS, self.timeout or 0)
        try:
            program.send({"dmlcheck": PROTOCOL, "request": "hello"})
            return said(_mapping(program.line(time.monotonic() + seconds)))
        except Failure as error:
            self._drop()
            problem = f"did not answer within {seconds:g} s" if isinstance(error, TimedOut) else str(error)
            question = f'it was asked {{"dmlcheck": {PROTOCOL}, "request": "hello"}}'
            raise Unavailable(f"command:{self.command} {problem}{program.wrote()}; {question}") from None
        except BaseException:
            self._drop()
            raise

    def _drop(self, patience: float = 0.0) -> None:
        program, self.program = self.program, None
        if program is not None:
            program.end(patience)

    def _answer(self, program: Program, request: dict[str, Any]) -> tuple[str, str]:
        """Return which of the four answers a case gets, with its text."""
        until = None if self.timeout is None else time.monotonic() + self.timeout
        program.forget()
        program.send(request)
        for _ in range(_MAX_LATE):
            try:
                line = program.line(until)
            except TimedOut:
                raise TimedOut(f"{self.timeout:g}") from None
            answer = _mapping(line)
            number = answer.get("id")
            if type(number) is int and 0 < number < self.number:
                continue  # a case that has its answer already was answered again
            if type(number) is not int or number != self.number:
                raise Failure(f"answered with another id than {self.number}: {excerpt(line)}")
            kinds = [kind for kind in _ANSWERS if kind in answer]
            if len(kinds) == 1 and (answer["ok"] is True if kinds[0] == "ok" else isinstance(answer[kinds[0]], str)):
                return kinds[0], "" if kinds[0] == "ok" else plain_text(answer[kinds[0]]) or "no reason is given"
            raise Failure(f"answered neither ok: true nor error, invalid or unsupported with a text: {excerpt(line)}")
        raise Failure(f"answered earlier cases more than {_MAX_LATE} times again")


def split(place: str) -> str | list[str]:
    """Return the words of a command line as this platform's shells would, but no shell sees it.

    Quotes around the whole, which some callers leave there, are removed unless they hold one path. On Windows, programs
    split their command lines themselves.
    """
    quote = place[:1]
    if len(place) > 2 and quote in "\"'" and place[-1] == quote and quote not in place[1:-1]:
        place = place if os.path.isfile(place[1:-1]) else place[1:-1]
    try:
        words = shlex.split(place)
    except ValueError as error:
        if sys.platform != "win32":
            raise Unavailable(f"command:{place} is not a command line: {str(error).lower()}") from None
        words = [place]
    if not words or not words[0]:
        raise Unavailable(f"command:{place} names no program")
    return place if sys.platform == "win32" else words


# ---- what programs say


class Said(NamedTuple):
    """A program's description of itself at its start; without operators or types it takes any.

    `validates` says that it refuses invalid descs.
    """

    name: str
    version: str
    device: str
    operators: Collection[str] | None
    types: Collection[str] | None
    validates: bool = False


def said(answer: dict[str, Any]) -> Said:
    """Return a program's description of itself; Failure if it cannot be used."""
    protocol = answer.get("dmlcheck", PROTOCOL)
    if protocol != PROTOCOL:
        raise Failure(f"speaks version {excerpt(json.dumps(protocol).encode())} of the protocol; this is {PROTOCOL}")
    name, version, device = (_text(answer, key) for key in ("name", "version", "device"))
    if not name:
        raise Failure(f"answered without a name: {excerpt(json.dumps(answer).encode())}")
    if name == "reference":
        raise Failure("calls itself reference, which is the name of dmlcheck's own engine")
    known = [*map(short_operator, operator_names()), *OTHER_NAMES]
    runs = _listed(answer, "operators", OPERATOR_PREFIX, known)
    types = _listed(answer, "types", "DML_TENSOR_DATA_TYPE_", list(NUMPY_TYPES))
    full = None if runs is None else frozenset(OPERATOR_PREFIX + short_operator(name) for name in runs)
    validates = answer.get("validates")
    if not isinstance(validates, (bool, type(None))):
        raise Failure(f"answered with validates that is neither true nor false: {excerpt(json.dumps(answer).encode())}")
    return Said(name, version, device, full, types, validates is True)


def _text(answer: dict[str, Any], key: str) -> str:
    text = answer.get(key)
    if text is not None and not isinstance(text, str):
        raise Failure(f"answered with a {key} that is not a text: {excerpt(json.dumps(answer).encode())}")
    return plain_text(text or "", 100)


def _listed(answer: dict[str, Any], key: str, prefix: str, known: list[str]) -> frozenset[str] | None:
    given = answer.get(key)
    if given is None:
        return None
    if not isinstance(given, list):
        raise Failure(f"answered with {key} that are not a list")
    names = [name.removeprefix(prefix) if isinstance(name, str) else name for name in given]
    for name in names:
        if name not in known:
            help = did_you_mean(str(name), known) or "leave out unknown operators and types"
            raise Failure(f"lists {plain_text(str(name), 60)} among its {key}; {help}")
    return frozenset(names)


def _mapping(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        raise Failure(f"wrote something other than JSON: {excerpt(line)}") from None
    if not isinstance(answer, dict):
        raise Failure(f"wrote something other than a JSON object: {excerpt(line)}")
    return answer


def _exact(value: Any) -> Any:
    """Write whole numbers that doubles do not hold as texts of their digits."""
    if isinstance(value, dict):
        return {key: _exact(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_exact(part) for part in value]
    return str(value) if type(value) is int and abs(value) > _MAX_EXACT else value


# ---- arrays


class _Files:
    """The .npy files of one case: tensors in the shape of their sizes, strided ones as their flat buffers."""

    def __init__(self, folder: str, number: int) -> None:
        self.folder = folder
        self.number = number
        self.paths: list[str] = []
        self.outputs: list[tuple[TensorPart, str]] = []

    def path(self, part: TensorPart) -> str:
        """Return where a tensor is kept, under a name that no other case has."""
        name = part.label.replace("[", "-").replace("]", "")
        self.paths.append(os.path.join(self.folder, f"{self.number}-{name}.npy"))
        return self.paths[-1]

    def written(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
        """Write the inputs, and return their paths by field."""
        paths: dict[str, Any] = {}
        for field in desc.spec.inputs:
            given = inputs.get(field.name)
            if given is not None:
                is_list = isinstance(given, list)
                arrays = given if is_list else [given]
                made = [self.save(*pair) for pair in zip(desc.parts[field.name], arrays, strict=True)]
                paths[field.name] = made if is_list else made[0]
        return paths

    def save(self, part: TensorPart, values: Array) -> str:
        path = self.path(part)
        stored = values if part.tensor.strides is None else laid_out(part.tensor, values)
        np.save(path, np.asarray(stored, order="C"), allow_pickle=False)
        return path

    def named(self, desc: OperatorDesc) -> dict[str, Any]:
        """Return where the outputs of a desc are to be written, by field."""
        pairs = {part.label: (part, self.path(part)) for part in desc.tensors(OUTPUT)}
        self.outputs.extend(pairs.values())
        return desc.by_field({label: path for label, (_, path) in pairs.items()}, OUTPUT)

    def read(self) -> dict[str, Array]:
        """Return the outputs by label; Unusable if one has another form than requested."""
        return {part.label: self.load(part, path) for part, path in self.outputs}

    def load(self, part: TensorPart, path: str) -> Array:
        tensor = part.tensor
        full, problem = find(self.folder, os.path.basename(path))
        if problem is not None:
            raise Unusable(f"answered ok, and the file of {part.label} cannot be read: {problem}")
        wanted = NUMPY_TYPES[tensor.data_type]
        sizes = tensor.sizes if tensor.strides is None else (tensor.extent,)
        try:
            with open_plain(full) as file:
                header = Header(file)
                if (header.dtype.newbyteorder("="), header.shape) != (wanted, sizes):
                    found = f"{header.dtype} of shape {_shape(header.shape)}"
                    layout = "" if tensor.strides is None else ", the elements of its buffer"
                    raise Unusable(
                        f"wrote {part.label} as {found} instead of {wanted} of shape {_shape(sizes)}{layout}"
                    )
                elements = read_elements(file, header)
        except (OSError, ValueError) as error:
            raise Unusable(f"answered ok, and the file of {part.label} is no .npy file: {error}") from None
        return elements if tensor.strides is None else viewed(tensor, elements).copy()

    def remove(self) -> None:
        """Remove the files that no process holds open."""
        for path in self.paths:
            with contextlib.suppress(OSError):
                os.remove(path)


def _shape(sizes: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, sizes)) + "}"
