"""Microsoft's DxDispatch as an implementation: a model for each case, run by the executable in a temporary folder."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.dxdispatch import descs, exporter, outputs
from dmlcheck.formats.dxdispatch.form import MODEL
from dmlcheck.implementations import Failure, Refused, Unavailable, Unusable
from dmlcheck.implementations._folders import TemporaryFolder
from dmlcheck.implementations._process import Exited, run, sentence_end
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.processes.programs import ended_text
from dmlcheck.reference.engine import Array

VERSION = re.compile(r"dxdispatch version (\S+)")
DEVICE = re.compile(r"Running on '([^'\r\n]+)'")
_ADAPTER = re.compile(r"^([^\s-][^\r\n]*)\r?\n-", re.MULTILINE)  # the first that is listed is the default one
_SECONDS = 20.0  # for the executable's description of itself


class DxDispatch(Implementation):
    """DxDispatch, and through it the DirectML that it comes with, on its default adapter."""

    name = "dxdispatch"
    keeps_time = True
    is_directml = True
    validates = True

    def __init__(self, place: str, timeout: float | None = None) -> None:
        """Find the executable; Unavailable if there is none."""
        # A model is run in a folder of its own, from where a relative path would lead elsewhere.
        found = shutil.which(os.path.abspath(place)) or shutil.which(place)
        if found is None:
            what = "is not executable" if os.path.exists(place) else "is not there"
            where = "dxdispatch, for Windows, is among the releases of https://github.com/microsoft/DirectML"
            raise Unavailable(f"{place} {what}; {where}")
        self.executable = os.path.abspath(found)
        self.timeout = timeout

    @property
    def version(self) -> str:
        """The executable's name for itself, "" if it has none."""
        return self._printed("--help", VERSION)

    @property
    def device(self) -> str:
        """The adapter that the executable takes by default, "" when it does not say."""
        return self._printed("--show_adapters", _ADAPTER)

    def _printed(self, option: str, pattern: re.Pattern[str]) -> str:
        """Return the match of a pattern in the executable's output for an option."""
        try:
            found = pattern.search(run([self.executable, option], os.curdir, _SECONDS).text)
        except (OSError, Failure):
            return ""
        return found[1].strip() if found else ""

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why a desc cannot be written as a model."""
        return descs.unsupported(desc)

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of the executable for a valid desc.

        Raises Refused if it ends with an exit code of its own, as it does when DirectML returns E_INVALIDARG.
        """
        with TemporaryFolder() as kept:
            folder = kept.path
            exporter.write_model(desc, inputs, folder)
            try:
                ended = run([self.executable, MODEL], folder, self.timeout)
            except OSError as error:
                raise Failure(f"cannot be started: {error.strerror or error}") from None
            if ended.code != 0:
                kind = Refused if _refuses(ended) else Failure
                raise kind(ended_text(ended.code) + sentence_end(ended.text))
            try:
                return outputs.read_outputs(desc, folder)
            except ValueError as error:
                raise Unusable(str(error) + sentence_end(ended.text)) from None


def _refuses(ended: Exited) -> bool:
    """Whether the executable ended by itself with an error, on a device that it did not lose."""
    code = ended.code & 0xFFFFFFFF
    is_own = 0 < ended.code < 256 or _HRESULT <= code < _NTSTATUS
    is_signal = sys.platform != "win32" and ended.code in _SIGNALS
    return is_own and not is_signal and not _LOST.search(f"{code:08X} {ended.text}")


_SIGNALS = range(129, 193)  # exit codes with which a shell says that a signal ended the program
_HRESULT = 0x80000000  # E_INVALIDARG is 0x80070057
_NTSTATUS = 0xC0000000  # from here on a program crashed
# DXGI_ERROR_DEVICE_REMOVED and its like, or no device at all.
_LOST = re.compile(r"(?<![0-9A-F])887A[0-9A-F]{4}(?![0-9A-F])|Failed to create a device", re.IGNORECASE)
