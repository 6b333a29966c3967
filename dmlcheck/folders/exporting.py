"""Cases on their way to another format, or from one: which of them can go, and the result for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case, in_order
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import Document
from dmlcheck.folders.export_folder import Folder


class MissingRequirement(ValueError):
    """A package or a service that a command needs and does not find; the message says how to get it."""


class Exported(NamedTuple):
    """The result for one case: its folder, or the reason why it has none, with the diagnostics if it is wrong."""

    case: str
    folder: str | None = None
    reason: str | None = None
    problems: tuple[Diagnostic, ...] = ()


class Imported(NamedTuple):
    """The result for one file: the case file that was written, or None, remarks, and the diagnostics of the file."""

    source: str
    file: str | None = None
    cases: int = 0
    remarks: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    document: Document | None = None


Source = TypeVar("Source")


def import_all(
    sources: Iterable[Source], folder: str, form: str, convert: Callable[[Source, Folder, set[str]], Imported]
) -> list[Imported]:
    """Write the files of an import to a folder, and return the result for each source.

    `convert` writes the files of a source; it gets the folder, and the set of names that are taken in it. OSError if
    the folder cannot be written, Occupied if it has other contents than an earlier import.
    """
    with Folder(folder, form) as place:
        taken: set[str] = set()
        imported = [convert(source, place, taken) for source in sources]
        left_out: list[dict[str, str]] = []
        for one in imported:
            if one.file is not None:
                place.entries[one.file] = {"source": one.source, "file": one.file}
            left_out.extend({"source": one.source, "reason": remark} for remark in one.remarks)
        place.finish(left_out)
    return imported


class Ready(NamedTuple):
    """A case that can be run anywhere: its valid desc, its inputs as an implementation takes them, and its outputs.

    `has_any` says that some expected elements are `any`.
    """

    case: Case
    desc: OperatorDesc
    inputs: dict[str, Any]
    expected: Mapping[str, Any]
    has_any: bool = False


def each(cases: Iterable[Case], export: Callable[[Case], Exported]) -> list[Exported]:
    """Export cases one by one, and return the result for each; a case too large for this machine is reported as such.

    A failed request for that much memory leaves enough for the next cases.
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


def ready(case: Case, *, with_outputs: bool = False) -> Ready | Exported:
    """Return a case with its inputs, and with the outputs that it gives, or why there is nothing of it to run."""
    if case.is_negative:
        return Exported(case.id, reason="a negative case: nothing to run")
    if case.is_plain_desc:
        return Exported(case.id, reason="a plain desc: nothing to run")
    prepared = prepare(case if with_outputs else case._replace(outputs=None))
    if prepared.desc is None or prepared.findings:
        return Exported(case.id, reason="it is not valid", problems=in_order(case.origin, prepared.findings))
    return Ready(case, prepared.desc, prepared.inputs, prepared.expected, bool(prepared.is_any))
