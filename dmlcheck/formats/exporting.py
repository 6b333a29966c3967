"""Cases on their way to another format, or from one: those that can go, and what became of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from dmlcheck import validation
from dmlcheck.cases.prepare import content_findings, read_inputs, too_large
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import Document
from dmlcheck.formats.export_folder import Folder
from dmlcheck.specs.names import NEWEST_LEVEL


class Unavailable(ValueError):
    """A format that cannot be written or read here; the message says why, and how to get what it takes."""


class Exported(NamedTuple):
    """What became of one case: the folder that it went to, or why it did not, with what is wrong where it is wrong."""

    case: str
    folder: str | None = None
    reason: str | None = None
    problems: tuple[Diagnostic, ...] = ()


class Imported(NamedTuple):
    """What became of one file: the case file that was written, or None, remarks, and what is wrong with the file."""

    source: str
    file: str | None = None
    cases: int = 0
    remarks: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    document: Document | None = None


def finish(place: Folder, imported: Iterable[Imported]) -> None:
    """End the folder of an import with what became of each file."""
    entries: list[dict[str, Any]] = []
    left_out: list[dict[str, str]] = []
    for one in imported:
        if one.file is not None:
            entries.append({"source": one.source, "file": one.file})
        left_out.extend({"source": one.source, "reason": remark} for remark in one.remarks)
    place.finish(entries, left_out)


class Ready(NamedTuple):
    """A case that can be run anywhere: its valid desc, and its inputs as an implementation takes them."""

    case: Case
    desc: OperatorDesc
    inputs: dict[str, Any]


def each(cases: Iterable[Case], export: Callable[[Case], Exported]) -> list[Exported]:
    """Export cases one by one, and say what became of each; one that this machine cannot hold ends none of the others.

    So much memory was asked for at once that there is enough again for what follows.
    """
    exported = []
    for case in cases:
        try:
            exported.append(export(case))
        except MemoryError:
            params = {"tensors": "its tensors", "need": "did not fit into memory", "have": "too little"}
            problem = case.origin.diagnostic(Finding("tensor-too-large", ("desc",), params))
            exported.append(Exported(case.id, reason="it does not fit into memory", problems=(problem,)))
    return exported


def ready(case: Case) -> Ready | Exported:
    """Return a case with its inputs, or why there is nothing of it to run."""
    from dmlcheck.values.literals import Source

    if case.invalid is not None:
        return Exported(case.id, reason="a negative case: nothing to run")
    if case.is_plain_desc:
        return Exported(case.id, reason="a plain desc: nothing to run")
    level = case.feature_level or NEWEST_LEVEL
    desc, findings = validation.validate(case.operator, case.desc, level)
    inputs: dict[str, Any] = {}
    if desc is not None and not findings:
        excess = too_large(desc, case.inputs or {}, {})
        findings = [excess] if excess is not None else []
    if desc is not None and not findings:
        source = Source(os.path.dirname(case.file), case.origin.literal)
        inputs = read_inputs(desc, case.inputs or {}, source, findings)
        if not findings:
            findings.extend(content_findings(desc, inputs, level))
    if desc is None or findings:
        problems = sorted((case.origin.diagnostic(finding) for finding in findings), key=Diagnostic.place)
        return Exported(case.id, reason="it is not valid", problems=tuple(problems))
    return Ready(case, desc, inputs)
