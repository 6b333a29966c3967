"""Files of any format to cases."""

from __future__ import annotations

from dmlcheck.cases.records import CaseFile
from dmlcheck.files.document import Document
from dmlcheck.formats.registry import Opened, not_accepted, opened, text_format


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
