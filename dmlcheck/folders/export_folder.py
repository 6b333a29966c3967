"""The folder of an export: its files, their names, and the manifest that names them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dmlcheck import __version__
from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case, in_order
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic, Finding
from dmlcheck.files.document import Document
from dmlcheck.files.plain import MAX_REPORT, is_inside, read_plain

if TYPE_CHECKING:
    from typing_extensions import Self

SCHEMA = "dmlcheck-export/1"
MANIFEST = "manifest.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_MAX_NAME = 80  # characters of a file's name


class Occupied(ValueError):
    """A folder with other contents than an earlier export."""


class Folder:
    """The folder of an export: it writes files, remembers them, and ends with a manifest that names them.

    `entries` has the entry of each folder or file that was written whole, by its name.

    Occupied if the folder exists and has contents that no earlier export wrote; of an earlier export it first removes
    the files that its manifest names, and nothing else. OSError if it cannot be written.
    """

    def __init__(self, path: str, form: str) -> None:
        self.path = path
        self.form = form
        self.files: list[str] = []
        self.entries: dict[str, dict[str, Any]] = {}
        self.is_finished = False
        self.replaced = check(path, form)
        if self.replaced:
            self._clear()
        os.makedirs(path, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write a manifest of the whole entries if the work was cut off; a later export may clear the folder by it."""
        if not self.is_finished:
            with contextlib.suppress(OSError):
                self.finish([])

    def write(self, name: str, data: bytes) -> None:
        """Write a new file at a path relative to the folder, with / between its parts.

        OSError if a file is there already, or a link leads out of the folder.
        """
        full = os.path.join(self.path, *name.split("/"))
        if not _is_in(full, os.path.realpath(self.path)):
            raise OSError(errno.ELOOP, "a link leads out of the folder", full)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "xb") as file:  # which follows no link either
            self.files.append(name)
            file.write(data)

    def finish(self, left_out: list[dict[str, str]]) -> None:
        """Write the manifest: the entries, and those that could not be written, with the reasons."""
        import json

        manifest = {
            "schema": SCHEMA,
            "tool": {"name": "dmlcheck", "version": __version__},
            "format": self.form,
            "entries": list(self.entries.values()),
            "left_out": left_out,
            "files": [*self.files, MANIFEST],
        }
        self.write(MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")
        self.is_finished = True

    def _clear(self) -> None:
        root = os.path.realpath(self.path)
        for name in (*(read_manifest(self.path).get("files") or ()), MANIFEST):
            full = os.path.join(root, *name.split("/"))
            if _is_in(full, root) and os.path.isfile(full) and not os.path.islink(full):
                os.remove(full)
                folder = os.path.realpath(os.path.dirname(full))
                while folder != root and is_inside(folder, root) and not os.listdir(folder):
                    os.rmdir(folder)
                    folder = os.path.dirname(folder)


def check(path: str, form: str) -> bool:
    """Return whether a folder holds an earlier export to a format; Occupied if it has other contents."""
    if not os.path.lexists(path):
        return False
    if not os.path.isdir(path):
        raise Occupied(f"{path} is not a folder")
    if not os.listdir(path):
        return False
    try:
        manifest = read_manifest(path)
    except (OSError, ValueError):
        manifest = {}
    if manifest.get("format") != form:
        raise Occupied(f"{path} is not empty, and is no folder of this kind that dmlcheck wrote; name a new folder")
    return True


def read_manifest(path: str) -> dict[str, Any]:
    """Return the manifest of an export; OSError or ValueError if there is none that can be read."""
    import json

    data = read_plain(os.path.join(path, MANIFEST), MAX_REPORT)
    try:
        manifest = json.loads(data)
    except RecursionError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise ValueError(f"{MANIFEST} is not of the schema {SCHEMA}")
    files = manifest.get("files")
    if files is not None and not (isinstance(files, list) and all(map(_is_path, files))):
        raise ValueError(f"{MANIFEST} has files that are not a list of paths")
    return manifest


def _is_path(name: Any) -> bool:
    """Whether a file may have a name: no null character, and no half of a surrogate pair."""
    if not isinstance(name, str) or "\0" in name:
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_in(path: str, root: str) -> bool:
    """Whether the folder of a file lies in another, all links followed."""
    return is_inside(os.path.realpath(os.path.dirname(path)), root)


# ---- names of files


def safe_name(name: str) -> str:
    """Return a name that every file system takes."""
    safe = _UNSAFE.sub("-", name)[:_MAX_NAME].strip("-") or "case"
    return f"{safe}-" if _DEVICES.fullmatch(safe) else safe


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, ignoring case, and take it."""
    free, number = name, 1
    while free.lower() in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free.lower())
    return free


def tensor_file(label: str) -> str:
    """Return the name of a tensor's file: `OutputTensors[1]` is in `OutputTensors.1.npy`."""
    return label.replace("[", ".").replace("]", "") + ".npy"


# ---- cases on their way to another format, or from one: which of them can go, and the result for each


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
