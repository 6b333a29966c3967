"""The tensors of a model that was run elsewhere, in a `.npz` file by their names, as an implementation."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.npz import names_in, read_array
from dmlcheck.files.plain import reason
from dmlcheck.implementations import Failure, Unavailable
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.reference.engine import Array
from dmlcheck.values.memory import available_bytes

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
