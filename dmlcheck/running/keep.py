"""The folder of a failed case: its case file, and its inputs, expected and actual outputs and tolerances as .npy."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.npy import npy_bytes
from dmlcheck.files.yaml_text import flow
from dmlcheck.folders.case_file import desc_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

CASE_FILE = "case.yaml"
ERROR_FILE = "stderr.txt"
_MOST = 60  # characters of a name
_FOLDERS = {"inputs": "inputs", "outputs": "expected"}


def folder_of(case_id: str) -> str:
    """Return a portable name for the folder that a case is kept in: letters and digits of its name, and a digest."""
    digest = hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", case_id.rpartition("::")[2])[:_MOST].strip("_")
    return f"{name or 'case'}-{digest}"


def keep(
    place: str,
    case: Case,
    desc: OperatorDesc,
    values: Mapping[str, Mapping[str, NDArray[Any]]],
    wrote: str = "",
) -> str:
    """Write the folder of a case and return its path; OSError if it cannot be written.

    `values` has arrays by their label, of `inputs`, `expected`, `allowed` and `actual`; `wrote` is the program's
    standard error. The folder of an earlier run for this case is replaced.
    """
    folder = Path(place) / folder_of(case.id)
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("inputs", "expected", "allowed", "actual"):
        for old in folder.glob(f"{kind}/*.npy"):
            old.unlink()
        for label, array in values.get(kind, {}).items():
            path = folder / kind / f"{label}.npy"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(npy_bytes(array))
    lines = "".join(f"{line}\n" for line in _case_lines(case, desc, values))
    (folder / CASE_FILE).write_text(lines, encoding="utf-8", newline="\n")
    (folder / ERROR_FILE).unlink(missing_ok=True)
    if wrote:
        (folder / ERROR_FILE).write_text(wrote, encoding="utf-8", errors="replace", newline="\n")
    return str(folder)


def _case_lines(case: Case, desc: OperatorDesc, kept: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the case file, whose values are the files next to it."""
    yield f"# {case.id!a}, kept by dmlcheck run --keep."
    yield f"operator: {desc.spec.operator}"
    if case.feature_level is not None:
        yield f"feature_level: {flow(case.feature_level)}"
    yield f"source: {flow(case.source or 'the case that was kept')}"
    if case.tolerance is not None:
        yield f"tolerance: {flow(case.tolerance.notation)}"
    yield from desc_lines(desc)
    yield from _value_lines("inputs", case.inputs or {}, desc, kept.get("inputs", {}))
    if case.outputs is not None and case.gives_outputs:
        given = {name: raw for name, raw in case.outputs.items() if desc.parts.get(name)}
        yield from _value_lines("outputs", given, desc, kept.get("expected", {}))


def _value_lines(section: str, given: Mapping[str, Any], desc: OperatorDesc, kept: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of inputs or outputs; an output without file and expected values is null."""
    folder = _FOLDERS[section]
    yield f"{section}:" if given else f"{section}: {{}}"
    for field in given:
        labels = [part.label for part in desc.parts[field]]
        files = [{"file": f"{folder}/{label}.npy"} if label in kept else None for label in labels]
        is_list = desc.spec.fields[field].type == "TENSOR_DESC_ARRAY"
        yield f"  {field}: {flow(files if is_list else files[0])}"
