"""DxDispatch models as case files: a case for each dispatch of a DirectML operator, with what it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dmlcheck import __version__, validation
from dmlcheck.cases.records import FileOrigin
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files import yaml
from dmlcheck.formats.case_file import FORM, Written, free_name, one_line, safe_name, write_cases
from dmlcheck.formats.dxdispatch import models, writing
from dmlcheck.formats.dxdispatch.evaluate import ModelProblem, Resource, bound_inputs, filled_resources
from dmlcheck.formats.dxdispatch.models import Model
from dmlcheck.formats.export_folder import Folder
from dmlcheck.formats.exporting import Imported, finish
from dmlcheck.specs.names import NEWEST_LEVEL


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a case file for each model among files, and say what became of each file.

    OSError when the folder cannot be written, Occupied when it holds something else than an earlier import.
    """
    with Folder(folder, FORM) as place:
        taken: set[str] = set()
        imported = [_Import(path).result(place, taken) for path in paths]
        finish(place, imported)
    return imported


class _Import:
    """One model on its way to a case file."""

    def __init__(self, path: str) -> None:
        self.document = yaml.read(path)
        self.source = self.document.name
        self.remarks: list[str] = []
        self.problems: list[Diagnostic] = list(self.document.problems)

    def result(self, place: Folder, taken: set[str]) -> Imported:
        cases: list[Written] = []
        if models.is_model(self.document.value):
            cases = self.read()
        elif not self.problems:
            self.remarks.append("not a DxDispatch model: left out")
        file = None
        if cases:
            comment = (
                f"From the DxDispatch model {one_line(self.source)} by dmlcheck {__version__}: descs and inputs.\n"
                "A model says nothing of what is right; what an implementation gives is compared with the reference."
            )
            stem = free_name(safe_name(_stem(self.source)), taken)
            source = f"DxDispatch model {os.path.basename(self.source)}"
            file = write_cases(place, stem, cases, comment, source=source)
        remarks = tuple(dict.fromkeys(self.remarks))
        return Imported(self.source, file, len(cases), remarks, tuple(self.problems), self.document)

    def read(self) -> list[Written]:
        """Return the cases of a model, none where something is wrong with it as a whole."""
        model = models.read_model(self.document)
        resources, findings = filled_resources(model) if not model.problems else ({}, [])
        self.problems = [*model.problems, *map(FileOrigin(self.document, ((),)).diagnostic, findings)]
        return [] if self.problems else list(self.cases(model, resources))

    def cases(self, model: Model, resources: Mapping[str, Resource]) -> Iterator[Written]:
        """Yield the case of each dispatch; what cannot be one is remarked upon."""
        written: dict[str, str] = {}
        names: set[str] = set()
        for command in model.commands:
            if command.kind != "dispatch":
                continue
            if command.target in model.others:
                self.remarks.append(f"{command.target} is not imported: {model.others[command.target]} is not DirectML")
                continue
            case = model.operators[command.target]
            desc, findings = validation.validate(case.operator, case.desc, NEWEST_LEVEL)
            if desc is None or findings:
                self.problems.extend(map(case.origin.diagnostic, findings))
                continue
            bindings = model.bindings(command)
            reason = writing.unsupported(desc) or _stale(desc, bindings, written)
            for field in desc.spec.outputs:
                written.update(dict.fromkeys(_names(bindings, field.name), command.target))
            if reason is not None:
                self.remarks.append(f"{command.target} is not imported: {reason}")
                continue
            try:
                inputs = bound_inputs(desc, bindings, command, resources)
            except ModelProblem as problem:
                self.problems.extend(map(FileOrigin(self.document, ((),)).diagnostic, problem.findings))
                continue
            yield Written(free_name(case.name, names), desc, inputs)


def _stem(path: str) -> str:
    """Return what a case file is named after: the model, or its folder where an export has put it."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) or name if name == writing.MODEL else os.path.splitext(name)[0]


def _names(bindings: Mapping[str, Any], field: str) -> Iterator[str]:
    """Yield the resources that a dispatch binds to a field."""
    given = bindings.get(field)
    for source in given if isinstance(given, list) else [given]:
        name = source.get("name") if isinstance(source, dict) else source
        if isinstance(name, str):
            yield name


def _stale(desc: OperatorDesc, bindings: Mapping[str, Any], written: Mapping[str, str]) -> str | None:
    """Return why the inputs of a dispatch are not known: a dispatch before it writes one of them."""
    for field in desc.spec.inputs:
        for name in _names(bindings, field.name) if desc.parts[field.name] else ():
            if name in written:
                return f"it reads {name}, which {written[name]} writes before"
    return None
