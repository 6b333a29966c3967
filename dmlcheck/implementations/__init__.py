"""Implementations under test: anything that runs a desc on arrays."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from dmlcheck.implementations.protocol import Adapted, Implementation, adapted, text_of


class Unavailable(ValueError):
    """An implementation that is not available here; the message says why, and how to install it."""


class Unsupported(Exception):
    """A case that an implementation turns out not to be able to express or to run; the message says why."""


class NoDevice(Exception):
    """A desc that was accepted and not computed, since there is no device to compute on; the message is that."""


class Failure(Exception):
    """An implementation's answer in place of a result, as the rest of a sentence about it."""


class Refused(Failure):
    """A desc that an implementation says is not valid."""


class Unusable(Failure):
    """A result of the wrong form: the implementation took the desc, but nothing can be compared."""


class TimedOut(Failure):
    """An implementation that took longer than a case may."""


_E_INVALIDARG = 0x80070057


class LibraryAnswer(NamedTuple):
    """The answer of a release of DirectML to a desc: the HRESULT of CreateOperator."""

    version: str
    hresult: int

    @property
    def is_accepted(self) -> bool:
        """Whether there was an operator."""
        return self.hresult == 0

    @property
    def is_refusal(self) -> bool:
        """Whether the desc is what the library refuses."""
        return self.hresult == _E_INVALIDARG

    @property
    def code(self) -> str:
        """The HRESULT, by its name if it is the usual one."""
        return "E_INVALIDARG" if self.is_refusal else f"0x{self.hresult:08X}"

    @property
    def text(self) -> str:
        """The end of a sentence about the library."""
        return "accepts it" if self.is_accepted else f"refuses it: {self.code}"


class ImplementationKind(NamedTuple):
    """The spelling of an implementation's name, and its module and class.

    An argument follows the name and a colon; it may be left out where it is in brackets. `about` describes the
    implementation in a few words.
    """

    spelling: str
    module: str
    maker: str
    about: str


KINDS = {
    kind.spelling.partition("[")[0].partition(":")[0]: kind
    for kind in (
        ImplementationKind("reference", "protocol", "Reference", "the reference engine"),
        ImplementationKind(
            "onnxruntime[:PROVIDER]", "onnxruntime", "OnnxRuntime", "an execution provider of ONNX Runtime"
        ),
        ImplementationKind("directml[:LIBRARY]", "directml", "DirectMLLibrary", "DirectML's own library"),
        ImplementationKind("dxdispatch:EXE", "dxdispatch", "DxDispatch", "DirectML, through Microsoft's DxDispatch"),
        ImplementationKind(
            "recorded:DIR|FILE.npz", "dxdispatch", "recorded", "the results of DxDispatch, or tensors of a model"
        ),
        ImplementationKind("command:CMD", "command", "Command", "a program in any language"),
        ImplementationKind("python:MODULE:NAME", "", "", "the object that a call of NAME in a module returns"),
    )
}


def spellings() -> str:
    """Return how implementations are named, for messages and help."""
    return ", ".join(kind.spelling for kind in KINDS.values())


def make(name: str, timeout: float | None = None) -> Implementation:
    """Return the implementation of a name; Unavailable if there is none, or it is not installed here.

    `timeout` limits the seconds of a case in another process. `python:MODULE:NAME` is the object that NAME of a module
    returns when called; the module is looked for in the current folder first. An object that runs only models gets
    descs as models.
    """
    word, colon, place = name.partition(":")
    kind = KINDS.get(word)
    if kind is None or bool(place) != bool(colon) or (not place and kind.spelling.startswith(f"{word}:")):
        raise Unavailable(f"{name or repr(name)} is not an implementation; there are {spellings()}")
    if place and kind.spelling == word:
        raise Unavailable(f"{name} is not an implementation: nothing follows {word}")
    if word == "python":
        return _of_python(name, place)
    maker = getattr(import_module(f"dmlcheck.implementations.{kind.module}"), kind.maker)
    made: Implementation = maker() if kind.spelling == word else maker(place, timeout)
    return made


def _of_python(name: str, place: str) -> Implementation:
    module, _, attribute = place.partition(":")
    if not module or not attribute:
        raise Unavailable(f"{name} is not an implementation; write python:MODULE:NAME")
    try:
        with _current_folder_first():
            given = getattr(import_module(module), attribute)()
        made = Adapted(given)
        made.ask()  # what the object says of itself may raise, too
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script that is no module ends with SystemExit, also with exit code 0
        raise Unavailable(
            f"{name} cannot be made: {type(error).__name__}: {text_of(error)}{_raised_at(error)}"
        ) from error
    if (problem := made.wrong_call(name)) is not None:
        raise Unavailable(problem)
    if made.runs_descs or made.tensor is not None:
        return adapted(given)
    if made.run_model is None:
        raise Unavailable(f"{name} has no method run, which computes a desc, and no run_model, which runs a model")
    through_models: Implementation = import_module("dmlcheck.implementations.desc_models").DescsAsModels(given)
    return through_models


@contextmanager
def _current_folder_first() -> Iterator[None]:
    """Search modules in the current folder first during the block, and last after it.

    Modules that one of them imports later are still found, and hide no module of others.
    """
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)


def _raised_at(error: BaseException) -> str:
    """Return the line that raised an exception, if it is in a module that was being imported or called."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    file = "" if last is None else last.tb_frame.f_code.co_filename
    return "" if last is None or file.startswith("<frozen") or file == __file__ else f" ({file}:{last.tb_lineno})"


class Pair(Adapted):
    """Two implementations that run the same cases; where one is asked for, it is the first."""

    keeps_time = may_crash = False

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__(first)
        self.first, self.second = adapted(first), adapted(second)
        self.may_crash = self.first.may_crash or self.second.may_crash
        self.keeps_time = self.first.keeps_time and self.second.keeps_time

    def close(self) -> None:
        """End both."""
        try:
            self.first.close()
        finally:
            self.second.close()


def make_all(name: str, against: str | None, timeout: float | None) -> Implementation:
    """Return the implementation of a name, in a pair with that of a second name; Unavailable if there is none."""
    first = make(name, timeout)
    if against is None:
        return first
    try:
        return Pair(first, make(against, timeout))
    except BaseException:
        first.close()
        raise


def require_models(implementation: Implementation) -> None:
    """Raise Unavailable for an implementation that neither runs models nor has the tensors of one."""
    if implementation.run_model is None and implementation.tensor is None:
        raise Unavailable(
            f"{implementation.name} runs no ONNX models; judge a model with --implementation "
            "onnxruntime[:PROVIDER], python:MODULE:NAME (an object with run_model), or recorded:FILE.npz"
        )


def is_invalid_argument(text: str) -> bool:
    """Whether an error names E_INVALIDARG, with which DirectML refuses descs: 0x80070057, or signed -2147024809."""
    return re.search(_INVALID_ARGUMENT, text, re.IGNORECASE) is not None


_INVALID_ARGUMENT = r"E_INVALIDARG|(?<![0-9A-F])80070057(?![0-9A-F])|-2147024809(?!\d)"


def require_directml(implementation: Implementation) -> None:
    """Raise Unavailable for an implementation that says that it is not DirectML, and so none of its versions."""
    if implementation.is_directml is False:
        raise Unavailable(
            f"{implementation.name} is not DirectML; judge DirectML with --implementation: dxdispatch:EXE, "
            "recorded:DIR, onnxruntime:DmlExecutionProvider, or what calls it (command:CMD, python:MODULE:NAME)"
        )
