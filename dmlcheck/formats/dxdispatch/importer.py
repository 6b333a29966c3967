"""DxDispatch models as case files: a case for each dispatch of a DirectML operator, with its inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic, collected
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, apart, write_cases
from dmlcheck.folders.export_folder import Folder, Imported, free_name, import_all, read_manifest, safe_name
from dmlcheck.formats.dxdispatch.exporter import unsupported
from dmlcheck.formats.dxdispatch.form import MODEL
from dmlcheck.formats.dxdispatch.model import DxModel, ModelCommand
from dmlcheck.formats.dxdispatch.read import read_model
from dmlcheck.formats.dxdispatch.resources import Resource, bound_bytes, filled_resources
from dmlcheck.formats.registry import text_format
from dmlcheck.graphs.compute import step_inputs
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT
from dmlcheck.validation import check

_COMMENT = """\
From the DxDispatch model {} by dmlcheck {}: descs and inputs.
A model has no expected results; an implementation's results are compared with the reference."""

Found = Written | str | Diagnostic  # a case, a remark, or a diagnostic


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a case file for each model among files, and return the result for each file.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier import.
    """
    return import_all(paths, folder, FORM, _imported)


def _imported(path: str, place: Folder, taken: set[str]) -> Imported:
    document = yaml.read(path)
    name = document.name
    found = list(_found(document))
    cases = apart(_as_exported(name, [case for case in found if isinstance(case, Written)]))
    remarks = tuple(dict.fromkeys(remark for remark in found if isinstance(remark, str)))
    problems = tuple(problem for problem in found if isinstance(problem, Diagnostic))
    file = None
    if cases:
        stem = free_name(safe_name(_stem(name)), taken)
        source = f"DxDispatch model {os.path.basename(name)}"
        file = write_cases(place, stem, cases, _COMMENT.format(one_line(name), __version__), source=source)
    return Imported(name, file, len(cases), remarks, problems, document)


def _as_exported(path: str, cases: list[Written]) -> list[Written]:
    """Return the cases of a model; for one that `export` wrote, with the name of each exported case."""
    folder, name = os.path.split(path)
    if name != MODEL or len(cases) != 1:
        return cases
    try:
        entries = read_manifest(os.path.dirname(folder)).get("entries")
    except (OSError, ValueError):
        return cases
    own = [entry for entry in _listed(entries) if isinstance(entry, dict) and entry.get("folder") == _stem(path)]
    ids = [one for entry in own[:1] for one in _listed(entry.get("cases")) if isinstance(one, str)]
    names = [one.partition("::")[2] for one in ids]
    return [cases[0]._replace(name=name) for name in names if name] or cases


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _stem(path: str) -> str:
    """Return the name of a case file: that of the model, or of its folder if an export has put it there."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) or name if name == MODEL else os.path.splitext(name)[0]


def _found(document: Document) -> Iterator[Found]:
    """Yield the cases of a file; none if the file as a whole is wrong."""
    if text_format(document.value).word != "dxdispatch":
        yield from document.problems or ("not a DxDispatch model: left out",)
        return
    model = read_model(document)
    problems = list(model.problems)
    resources: dict[str, Resource] = {}
    if not problems:
        resources, findings = collected(filled_resources(model))
        problems.extend(map(model.origin.diagnostic, findings))
    yield from problems or _of_dispatches(model, resources)


def _of_dispatches(model: DxModel, resources: Mapping[str, Resource]) -> Iterator[Found]:
    """Yield the case of each dispatch; add a remark for each dispatch that cannot be a case."""
    written: dict[str, str] = {}  # the resources that a dispatch writes, each with the last that does
    for command in model.commands:
        if command.kind != "dispatch":
            continue
        target = command.target
        if target in model.others:
            yield f"{target} is not imported: {model.others[target]} is not DirectML"
            continue
        if target in model.graphs:
            yield f"{target} is not imported: `dmlcheck import graph` makes cases of {model.graphs[target].file}"
            continue
        case = model.operators[target]
        desc, findings = model.descs[target].desc, check(model.descs[target], NEWEST_LEVEL)
        if desc is None or findings:
            yield from map(case.origin.diagnostic, findings)
            continue
        yield from _of_dispatch(desc, command, model, resources, written)
        written.update({name: target for field in desc.spec.outputs for name in _names(command, field.name)})


def _of_dispatch(
    desc: OperatorDesc,
    command: ModelCommand,
    model: DxModel,
    resources: Mapping[str, Resource],
    written: Mapping[str, str],
) -> Iterator[Found]:
    reason = unsupported(desc) or _stale(desc, command, written)
    if reason is not None:
        yield f"{command.target} is not imported: {reason}"
        return
    bound, findings = collected(bound_bytes(desc.tensors(INPUT), command, resources))
    yield from map(model.origin.diagnostic, findings)
    if not findings:
        yield Written(command.target, desc, step_inputs(desc, bound))


def _stale(desc: OperatorDesc, command: ModelCommand, written: Mapping[str, str]) -> str | None:
    """Return why the inputs of a dispatch are not known: a dispatch before it writes one of them."""
    for field in desc.spec.inputs:
        for name in _names(command, field.name) if desc.parts[field.name] else ():
            if name in written:
                return f"it reads {name}, which {written[name]} writes before"
    return None


def _names(command: ModelCommand, field: str) -> list[str]:
    """Return the resources that a dispatch binds to a field."""
    binding = command.bindings.get(field)
    return [] if binding is None else [source.name for source in binding.sources if source is not None]
