"""The formats of files: how each is recognised, and the functions that commands use for its files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from dmlcheck.cases.records import CaseFile
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.files.plain import open_plain

_HEAD = 16  # bytes that tell a format


class Format(NamedTuple):
    """A format. A file that is not text is recognised by its first bytes, else by its ending; text by its form.

    Each function is named as `module:function`, and imported when it is called; "" if commands cannot use the
    format.

    cases: (Document, name) -> CaseFile; name is the path that ids start with, None for the document's own
    validated: (Opened, LevelRequest, sizes) -> ValidatedFile
    evaluated: (Opened, EvaluationRequest) -> Iterator[Evaluated]
    imported: (paths, folder, **options) -> list[Imported], by the words that `import` has for it
    exported: (cases, folder) -> list[Exported]
    judged: (Target, Plan, ModelRequest) -> ModelExecution, of a model that `run` takes as its only path
    options: the options of a command for only files of the format, by the command
    """

    word: str
    one: str
    endings: tuple[str, ...]
    begins: bytes | None = None
    has_form: Callable[[Any], bool] | None = None
    cases: str = ""
    validated: str = ""
    evaluated: str = ""
    imported: Mapping[str, str] = {}
    exported: str = ""
    judged: str = ""
    options: Mapping[str, tuple[str, ...]] = {}

    @property
    def many(self) -> str:
        """The plural of the format's name."""
        return f"{self.one.partition(' ')[2]}s"

    @property
    def listed(self) -> str:
        """The plural of the format's name, and the endings of its files if these identify it."""
        return self.many if self.is_text else f"{self.many} ({', '.join(self.endings)})"

    @property
    def is_text(self) -> bool:
        """Whether it is YAML or JSON."""
        return self.has_form is not None

    @property
    def taken_by(self) -> str:
        """Which commands take files of the format, as the rest of a sentence."""
        uses = {
            "run": self.cases or self.judged,
            "validate": self.validated,
            "eval": self.evaluated,
            **{f"import {word}": function for word, function in self.imported.items()},
        }
        *most, last = (f"`dmlcheck {name}`" for name, use in uses.items() if use)
        return f"{', '.join(most)} and {last} take {self.many}" if most else f"{last} takes {self.many}"

    def call(self, use: str, *given: Any) -> Any:
        """Return the result of the function for a use: `call("cases", document, name)`."""
        return _function(getattr(self, use))(*given)

    def call_import(self, word: str, *given: Any, **options: Any) -> Any:
        """Return the result of the function for a word of `import`."""
        return _function(self.imported[word])(*given, **options)


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _has_dispatchables(value: Any) -> bool:
    return isinstance(value, dict) and "dispatchables" in value and "cases" not in value


_OF_MODELS = ("--dim", "--inputs", "--seed")
FORMATS = (
    Format(
        "cases",
        "a case file",
        (".yaml", ".yml", ".json"),
        has_form=lambda value: not _has_dispatchables(value),
        cases="dmlcheck.cases.read:read_cases",
        validated="dmlcheck.running.legality:validated_file",
        evaluated="dmlcheck.running.evaluate:evaluated_cases",
        options={"eval": ("-k", "--implementation", "PATH::NAME")},
    ),
    Format(
        "dxdispatch",
        "a DxDispatch model",
        (".json",),
        has_form=_has_dispatchables,
        cases="dmlcheck.formats.dxdispatch.read:read_cases",
        validated="dmlcheck.models.graphs:validated_dispatches",
        evaluated="dmlcheck.models.dispatches:evaluated_commands",
        imported={"dxdispatch": "dmlcheck.formats.dxdispatch.importer:import_"},
        exported="dmlcheck.formats.dxdispatch.exporter:export",
    ),
    Format(
        "onnx",
        "an ONNX model",
        (".onnx",),
        rb"\x08[\x01-\x7f][\x12\x1a\x22\x28\x32\x3a\x42]",  # ir_version, and a field that may follow it
        validated="dmlcheck.models.legality:validated_file",
        evaluated="dmlcheck.models.values:evaluated_model",
        imported={"onnx": "dmlcheck.onnx.importer:import_", "graph": "dmlcheck.models.nodes:import_"},
        exported="dmlcheck.onnx.exporter:export",
        judged="dmlcheck.models.run:ModelExecution",
        options={"validate": ("--dim",), "eval": _OF_MODELS, "import graph": _OF_MODELS},
    ),
    Format(
        "graph",
        "a DirectML graph",
        (".bin",),
        validated="dmlcheck.models.graphs:validated_file",
        evaluated="dmlcheck.models.graph_values:evaluated_graph",
        imported={"graph": "dmlcheck.formats.dml_graph.importer:import_"},
        options={"eval": ("--inputs",)},
    ),
    Format(
        "webnn",
        "a WebNN conformance test",
        (".any.js",),
        imported={"webnn": "dmlcheck.formats.webnn.importer:import_"},
    ),
)


class Opened(NamedTuple):
    """A file whose format is known: its path, and its document, which is empty if it is not text."""

    path: str
    format: Format
    document: Document


def binary_format(path: str) -> Format | None:
    """Return the format of a file that is not text, by its first bytes or else its name, or None."""
    lower = path.lower()
    named = next((one for one in FORMATS if lower.endswith(one.endings)), None)
    if named is not None and named.is_text:
        return None
    head = _head(path)
    return next((one for one in FORMATS if one.begins is not None and re.match(one.begins, head)), named)


def _head(path: str) -> bytes:
    try:
        with open_plain(path) as file:
            return file.read(_HEAD)
    except (OSError, ValueError):
        return b""


def text_format(value: Any) -> Format:
    """Return the format of a YAML or JSON file by its value."""
    return next(one for one in FORMATS if one.has_form is not None and one.has_form(value))


def opened(path: str) -> Opened:
    """Recognise a file, and read it if it is text; `-` is text from standard input."""
    if path == "-":
        document = yaml.parse(sys.stdin.buffer.read(yaml.MAX_BYTES + 1), "-")
    elif (binary := binary_format(path)) is not None:
        return Opened(path, binary, Document(path.replace(os.sep, "/"), ""))
    else:
        document = yaml.read(path)
    return Opened(path, text_format(document.value), document)


def not_accepted(file: Opened, use: str) -> Diagnostic:
    """Return the usage error about a file whose format has no function for a use, with the commands that take it."""
    *most, last = (one.one for one in FORMATS if getattr(one, use))
    params = {"what": "the file", "found": file.format.one, "expected": f"{', '.join(most)} or {last}"}
    return Finding("wrong-type", (), params, file.format.taken_by).diagnostic()._replace(file=file.document.name)


def takers(use: str) -> dict[str, Format]:
    """Return the formats that have a function for a use, by their words."""
    return {one.word: one for one in FORMATS if getattr(one, use)}


def importers() -> dict[str, list[Format]]:
    """Return the words that `import` has, with the formats that have a function for each."""
    words = dict.fromkeys(word for one in FORMATS for word in one.imported)
    return {word: [one for one in FORMATS if word in one.imported] for word in words}


def endings(use: str) -> tuple[str, ...]:
    """Return the endings of the files that have a function for a use."""
    return tuple(dict.fromkeys(ending for one in takers(use).values() for ending in one.endings))


# ---- cases of a file


def read_file(path: str, name: str | None = None) -> CaseFile:
    """Read the cases of a file; `name` is the path that ids start with."""
    return cases_in(opened(path), name)


def read_document(document: Document, name: str | None = None) -> CaseFile:
    """Read the cases of a document by its format."""
    found: CaseFile = text_format(document.value).call("cases", document, name)
    return found


def cases_in(file: Opened, name: str | None = None) -> CaseFile:
    """Return the cases of a file that is recognised; one of a format without cases has a problem."""
    if not file.format.cases:
        return CaseFile(file.document, (), {}, (not_accepted(file, "cases"),))
    return read_document(file.document, name)
