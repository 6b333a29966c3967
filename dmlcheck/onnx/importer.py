"""ONNX's backend tests as case files: a model of one operator, and the values in the folders test_data_set_* beside it.

A model that dmlcheck exported becomes the case that it was; of any other, the operator is looked up. Needs the package
onnx.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from dmlcheck import __version__
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, free_name, safe_name
from dmlcheck.folders.exporting import Imported, import_all
from dmlcheck.onnx import exporter
from dmlcheck.onnx.backend_tests.foreign_models import foreign_case
from dmlcheck.onnx.backend_tests.own_models import own_case
from dmlcheck.onnx.backend_tests.read import BackendTest, tests_of
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.reading import Unreadable, opset_of, read_model


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a case file for each model with an operator of DirectML, and return the result for each model.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier import,
    MissingRequirement without onnx.
    """
    exporter.require()
    return import_all(paths, folder, FORM, _imported)


def _imported(path: str, place: Folder, taken: set[str]) -> Imported:
    source = path.replace(os.sep, "/")
    try:
        found = list(_cases(path))
    except Unreadable as wrong:
        return _unreadable(source, wrong)
    cases = [case for case in found if isinstance(case, Written)]
    remarks = tuple(dict.fromkeys(f"left out: {reason}" for reason in found if isinstance(reason, Unmapped)))
    if not cases:
        return Imported(source, remarks=remarks)
    free = free_name(safe_name(_name(path)), taken)
    if len(cases) == 1:
        cases = [cases[0]._replace(name=free)]
    comment = f"From {one_line(source)} by dmlcheck {__version__}."
    return Imported(source, write_cases(place, free, cases, comment), len(cases), remarks)


def _cases(path: str) -> Iterator[Written | Unmapped]:
    """Yield the case of each data set of a model, or why it is none."""
    name = _name(path)
    stem = safe_name(name)
    try:
        model = read_model(path)
        for number, test in enumerate(tests_of(path, model)):
            try:
                case = _case(test, _source(name, path, model))
                yield case._replace(name=stem if number == 0 else f"{stem}-{number}")
            except Unmapped as reason:
                yield reason
    except Unmapped as reason:
        yield reason


def _case(test: BackendTest, source: str) -> Written:
    """Return a test as a case; Unmapped where it cannot be one."""
    return own_case(test) or foreign_case(test, source)


def _unreadable(source: str, wrong: Unreadable) -> Imported:
    return Imported(source, problems=(wrong.diagnostic(),), document=Document(wrong.name, ""))


def _name(path: str) -> str:
    """Return the name of a test: that of its folder, as the format's rules name its model."""
    folder, file = os.path.split(os.path.abspath(path))
    return os.path.basename(folder) if file == exporter.MODEL else os.path.splitext(file)[0]


def _source(name: str, path: str, model: Any) -> str:
    """Return where a case is from; a model says its opset, but the version of onnx only if it came with it."""
    import onnx

    own = os.path.realpath(os.path.dirname(onnx.__file__))
    version = f", onnx {onnx.__version__}" if os.path.realpath(path).startswith(own + os.sep) else ""
    return f"ONNX backend test {one_line(name)}, opset {opset_of(model)}{version}"
