"""Paths to cases: which files a path stands for, and what each of them holds."""

from __future__ import annotations

import os

from dmlcheck import cases, dxdispatch, yamlfile
from dmlcheck.cases import CaseFile
from dmlcheck.document import Document

_ENDINGS = (".yaml", ".yml", ".json")


def find_files(path: str) -> list[str] | None:
    """Return the YAML and JSON files of a folder tree in order, or the file itself; None when there is neither."""
    if not os.path.isdir(path):
        return [path] if os.path.exists(path) else None
    found: list[str] = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        wanted = (name for name in sorted(files) if name.lower().endswith(_ENDINGS) and not name.startswith("."))
        found.extend(os.path.join(folder, name) for name in wanted)
    return found


def read_file(path: str, name: str | None = None) -> CaseFile:
    """Read a case file, a plain desc or a DxDispatch model; `name` is the path that ids start with."""
    return read_document(yamlfile.read(path), name)


def read_document(document: Document, name: str | None = None) -> CaseFile:
    """Read a document as what it is: a DxDispatch model, or else a case file."""
    if dxdispatch.is_model(document.value):
        return dxdispatch.case_file(dxdispatch.read_model(document), name)
    return cases.read_cases(document, name)
