"""Microsoft's DxDispatch as an implementation: run by the executable in a temporary folder, or run elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
import zlib
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.npy import find, names_in, read_array
from dmlcheck.files.plain import is_inside, open_plain, reason
from dmlcheck.folders.export_folder import read_manifest
from dmlcheck.formats.dxdispatch import exporter
from dmlcheck.formats.dxdispatch.form import MODEL
from dmlcheck.implementations import Failure, Refused, Unavailable, Unusable
from dmlcheck.implementations._folders import TemporaryFolder
from dmlcheck.implementations._program import MOST, Exited, run, sentence_end
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.processes.programs import code_text, ended_text
from dmlcheck.reference.engine import Array
from dmlcheck.values.memory import available_bytes

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
        return exporter.unsupported(desc)

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
                return exporter.read_outputs(desc, folder)
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


# ---- the outputs that DxDispatch left in an exported folder, as an implementation: nothing is run


_ENDING = ".npz"  # of the tensors of a model
_LOOKS = 20  # models whose output is searched for the device


def recorded(place: str, timeout: float | None = None) -> Recorded | RecordedTensors:
    """Return the recording at a place; Unavailable if there is none."""
    if place.lower().endswith(_ENDING) and not os.path.isdir(place):
        return RecordedTensors(place)
    return Recorded(place, timeout)


class Recorded(Implementation):
    """An exported folder after it was run elsewhere; cases are found in it by their desc and inputs, not by name."""

    name = "recorded"
    is_directml = True

    def __init__(self, place: str, timeout: float | None = None) -> None:  # noqa: ARG002 - nothing takes time
        """Read the manifest; Unavailable if the folder has none, or one of another format."""
        self.root = os.path.realpath(place)
        try:
            manifest = read_manifest(place)
        except OSError as error:
            raise Unavailable(f"{place} is no export: {error.strerror or error}; {_MAKE}") from None
        except ValueError as error:
            raise Unavailable(f"{place} is no export: {error}; {_MAKE}") from None
        entries = manifest.get("entries")
        if manifest.get("format") != "dxdispatch" or not isinstance(entries, list):
            raise Unavailable(f"{place} is no export to dxdispatch; {_MAKE}")
        self.folders: dict[str, str] = {
            entry["digest"]: entry["folder"]
            for entry in entries
            if isinstance(entry, dict)
            and isinstance(entry.get("digest"), str)
            and _FOLDER.fullmatch(str(entry.get("folder")))
        }
        if self.folders and not any(map(self.was_run, self.folders.values())):
            raise Unavailable(f"{place} has no outputs: run.cmd, or run.sh, in it runs its models")

    def was_run(self, folder: str) -> bool:
        """Whether a folder of the export has files that a run wrote."""
        left = (exporter.EXIT_CODE, exporter.OUTPUTS)
        return any(os.path.exists(os.path.join(self.root, folder, name)) for name in left)

    @property
    def version(self) -> str:
        """The executable's name for itself, "" if it was not recorded."""
        found = VERSION.search(self.text("", exporter.ABOUT))
        return found[1] if found else ""

    @property
    def device(self) -> str:
        """The device that the models ran on, "" if it was not recorded."""
        for folder in list(self.folders.values())[:_LOOKS]:
            found = DEVICE.search(self.text(folder, exporter.LOG))
            if found:
                return found[1]
        return ""

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why a desc cannot have been exported."""
        return exporter.unsupported(desc)

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs that were recorded for a desc and its inputs."""
        folder = self.folders.get(exporter.digest_of(desc, inputs))
        if folder is None:
            raise Failure("has nothing for this desc and these inputs: the case is new or has changed since the export")
        full = os.path.realpath(os.path.join(self.root, folder))
        if not is_inside(full, self.root):
            raise Failure(f"has nothing for the case: {folder} lies outside of the folder of the export")
        code = self.text(folder, exporter.EXIT_CODE).strip()
        printed = self.text(folder, exporter.LOG)
        if not self.was_run(folder):
            raise Failure(f"has no outputs in {folder}: run.cmd, or run.sh, did not get to it")
        if code and not _CODE.fullmatch(code):
            raise Failure(f"has no exit code in {folder}/{exporter.EXIT_CODE}: {code[:40]!r} is none")
        if code and int(code) != 0:
            raise Failure(f"has a run in {folder} that {code_text(int(code))}{sentence_end(printed)}")
        try:
            return exporter.read_outputs(desc, full)
        except ValueError as error:
            raise Failure(str(error) + sentence_end(printed)) from None

    def text(self, folder: str, name: str) -> str:
        """Return the end of a text file in a folder of the export, "" when there is none in it."""
        path, problem = find(self.root, f"{folder}/{name}" if folder else name)
        if problem is not None:
            return ""
        try:
            with open_plain(path) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MOST))
                return file.read(MOST).decode("utf-8", "replace")
        except OSError:
            return ""


_MAKE = "`dmlcheck export --to dxdispatch CASES -o DIR` makes one"
_FOLDER = re.compile(r"[a-z0-9_]+-[0-9a-f]{16}")
_CODE = re.compile(r"-?[0-9]{1,10}")


# ---- the tensors of a model that was run elsewhere, in a `.npz` file by their names, as an implementation


PROVIDER = "dmlcheck.provider"  # the name of an array with the name of the provider that ran the model
_DIRECTML = "DmlExecutionProvider"
_MOST_NAME = 1000  # bytes of that array
_WRONG = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


class RecordedTensors(Implementation):
    """The tensors of a file, each read when it is asked for."""

    name = "recorded"

    def __init__(self, place: str) -> None:
        """Read the names; Unavailable if the file cannot be read."""
        self.place = place
        try:
            self.tensor_names = frozenset(names_in(place))
            self.device = self._provider()
        except _WRONG as error:
            problem = reason(error) if isinstance(error, OSError) else error
            raise Unavailable(f"{place} has no tensors of a model: {problem}") from None
        self.is_directml = self.device == _DIRECTML if self.device else None

    def _provider(self) -> str:
        if PROVIDER not in self.tensor_names:
            return ""
        return str(read_array(self.place, PROVIDER, _MOST_NAME).reshape(-1)[0])[:100]

    def tensor(self, name: str) -> Array | None:
        """Return a tensor, or None if the file has none of its name; Failure if it cannot be read."""
        if name not in self.tensor_names:
            return None
        try:
            array: Array = read_array(self.place, name, available_bytes())
        except _WRONG as error:
            raise Failure(f"cannot be read for {name}: {error}") from None
        return array

    def unsupported(self, desc: OperatorDesc) -> str | None:  # noqa: ARG002 - as other implementations have it
        """Return the reason why it runs no desc."""
        return "it has the tensors of a model, and runs no cases"

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:  # noqa: ARG002
        """Fail: nothing is run."""
        raise Failure("has the tensors of a model, and runs no cases")
