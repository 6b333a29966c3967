"""Files to cases, whatever their format."""

from __future__ import annotations

from dmlcheck.cases.read import read_cases
from dmlcheck.cases.records import CaseFile
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.formats.dxdispatch.model import case_file, is_model


def read_file(path: str, name: str | None = None) -> CaseFile:
    """Read a case file, a plain desc or a DxDispatch model; `name` is the path that ids start with."""
    return read_document(yaml.read(path), name)


def read_document(document: Document, name: str | None = None) -> CaseFile:
    """Read a document as what it is: a DxDispatch model, or else a case file."""
    if is_model(document.value):
        from dmlcheck.formats.dxdispatch.read import read_model

        return case_file(read_model(document), name)
    return read_cases(document, name)
