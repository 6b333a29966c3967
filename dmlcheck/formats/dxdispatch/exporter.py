"""Cases as DxDispatch models in a folder, with scripts that run them elsewhere and a manifest of the cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.folders.export_folder import Folder
from dmlcheck.folders.exporting import Exported, each, ready
from dmlcheck.formats.dxdispatch.descs import unsupported
from dmlcheck.formats.dxdispatch.outputs import outputs_of
from dmlcheck.formats.dxdispatch.scripts import README, RUN_CMD, RUN_SH
from dmlcheck.formats.dxdispatch.write import digest_of, folder_name, model_files

FORM = "dxdispatch"


def export(cases: Iterable[Case], folder: str) -> list[Exported]:
    """Write a model for each distinct operator, desc and inputs among cases, and return the result for each case.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier export.
    """
    with Folder(folder, FORM) as place:
        exported = each(cases, lambda case: _exported(case, place))
        place.write("README.md", README.encode())
        place.write("run.cmd", RUN_CMD.replace("\n", "\r\n").encode())
        place.write("run.sh", RUN_SH.encode())
        left_out = [{"case": one.case, "reason": one.reason} for one in exported if one.reason is not None]
        place.finish(left_out)
    return exported


def _exported(case: Case, place: Folder) -> Exported:
    going = ready(case)
    if isinstance(going, Exported):
        return going
    reason = unsupported(going.desc)
    if reason is not None:
        return Exported(case.id, reason=reason)
    digest = digest_of(going.desc, going.inputs)
    name = folder_name(going.desc, digest)
    if name not in place.entries:
        for file, data in model_files(going.desc, going.inputs):
            place.write(f"{name}/{file}", data)
        place.entries[name] = _entry(name, digest, going.desc)
    place.entries[name]["cases"].append(case.id)
    return Exported(case.id, name)


def _entry(name: str, digest: str, desc: OperatorDesc) -> dict[str, Any]:
    outputs = [
        {"name": output.name, "file": output.file, "type": output.data_type, "sizes": list(output.sizes)}
        for output in outputs_of(desc)
    ]
    return {"folder": name, "digest": digest, "operator": desc.spec.operator, "cases": [], "outputs": outputs}
