"""A stand-in for DirectML's library: it answers about descs, and computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure, LibraryAnswer, NoDevice

E_INVALIDARG = 0x80070057


class AskedLibrary:
    """A library of a release that answers with an HRESULT for every desc, or raises an exception."""

    name = "directml"
    is_directml = True
    validates = True
    executes = False
    device = "none"

    def __init__(
        self, hresult: int | Exception | Callable[[OperatorDesc], int] = 0, version: str = "1.13.1", level: str = "6_2"
    ) -> None:
        self.hresult = hresult
        self.version = version
        self.feature_level = level
        self.asked: list[OperatorDesc] = []

    def create_operator(self, desc: OperatorDesc) -> LibraryAnswer:
        self.asked.append(desc)
        if isinstance(self.hresult, Exception):
            raise self.hresult
        return LibraryAnswer(self.version, self.hresult if isinstance(self.hresult, int) else self.hresult(desc))

    def run(self, desc: OperatorDesc, _: Any) -> dict[str, Any]:
        answer = self.create_operator(desc)
        raise NoDevice("no device") if answer.is_accepted else Failure(answer.text)

    def close(self) -> None:
        self.asked.clear()
