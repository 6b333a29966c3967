"""The library's functions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dmlcheck import validation
from dmlcheck.cases.form import wrong_type
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import NOTE, Diagnostic, Finding
from dmlcheck.files.scalars import MAX_DEPTH
from dmlcheck.formats.find import find_files
from dmlcheck.formats.registry import read_file
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.running.results import CaseResult
from dmlcheck.specs.names import LEVELS, NEWEST_LEVEL, parse_level, parse_version
from dmlcheck.validation import deviations
from dmlcheck.validation.deviations import is_accepted

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


class InvalidInput(ValueError):
    """A desc, values or a file that cannot be used; `diagnostics` has the reasons."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(map(_brief, self.diagnostics)))


def _brief(diagnostic: Diagnostic) -> str:
    place = "".join(f"{part}:" for part in (diagnostic.file, diagnostic.line, diagnostic.column) if part is not None)
    return f"{place} {diagnostic.rule}: {diagnostic.message}".lstrip()


def validate(operator: str, desc: Mapping[str, Any], feature_level: Any = None) -> list[Diagnostic]:
    """Return everything that is wrong with a desc at a feature level (the newest by default); nothing when it is valid.

    The operator's name may leave out its prefix, the level may be spelt `4_1`, `4.1`, `DML_FEATURE_LEVEL_4_1` or
    0x4100. ValueError for a level that does not exist.
    """
    return [finding.diagnostic() for finding in validation.validate(operator, _plain(desc), _level(feature_level))[1]]


def accepted(operator: str, desc: Mapping[str, Any], directml_version: str) -> bool:
    """Return whether CreateOperator of a release of DirectML takes a desc, as measured.

    `directml_version` (`1.13.1`) stands for the nearest release, no later, that was asked: 1.4.0, 1.5.1, 1.7.0, 1.8.2,
    1.9.1, 1.10.1, 1.12.1, 1.13.1, 1.14.2 and 1.15.4. ValueError for an earlier one, and for a text that is no version.
    """
    return is_accepted(read_desc(operator, _plain(desc)), directml_version)


def known_deviations(operator: str, desc: Mapping[str, Any], directml_version: str | None = None) -> list[Diagnostic]:
    """Return the known deviations of DirectML for a valid desc, as notes: of a version (`1.8.0`), or of any.

    The desc stays valid, so `validate` has none of them. A desc that is valid at no level has no notes. ValueError for
    a text that is no version.
    """
    if directml_version is not None and parse_version(directml_version) is None:
        raise ValueError(f"{directml_version!r} is not a version of DirectML; write 1.8.0")
    legal, findings = validation.validate(operator, _plain(desc), NEWEST_LEVEL)
    if legal is None or findings:
        return []
    return [note.diagnostic()._replace(severity=NOTE) for note in deviations.notes(legal, directml_version)]


def minimum_feature_level(operator: str, desc: Mapping[str, Any]) -> str | None:
    """Return the lowest feature level (`4_1`) at which a desc is valid, or None when it is at none."""
    return validation.minimum_level(read_desc(operator, _plain(desc)))


def evaluate(operator: str, desc: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Return the outputs of the reference engine, by name, as arrays of the desc's sizes and data types.

    Inputs are arrays of the sizes and data types of the desc's input tensors, or any values of a case file, rounded
    once. InvalidInput if the desc is not valid at the newest feature level, the inputs do not fit it, or they need more
    work or memory than the engine accepts.
    """
    from dmlcheck.cases.prepare import out_of_memory, prepare
    from dmlcheck.reference import engine

    if not (inputs is None or isinstance(inputs, Mapping)):
        raise InvalidInput([wrong_type(("inputs",), "inputs", inputs, "a mapping of tensors to values").diagnostic()])
    case = Case("", "", "", operator, None, _plain(desc), _lists(inputs))
    prepared = prepare(case)
    if prepared.desc is None or prepared.findings:
        raise InvalidInput(finding.diagnostic() for finding in prepared.findings)
    try:
        return engine.run(prepared.desc, prepared.inputs)
    except TooMuchWork as error:
        raise InvalidInput([Finding("too-much-work", ("desc",), {"problem": str(error)}).diagnostic()]) from None
    except MemoryError:
        raise InvalidInput([out_of_memory(prepared.desc).diagnostic()]) from None


def load_cases(path: str | os.PathLike[str]) -> list[Case]:
    """Return the cases of a file, or of all case files of a folder, matrices expanded.

    InvalidInput if a file cannot be read or a case is not well formed.
    """
    files = find_files(os.fspath(path))
    if files is None:
        raise InvalidInput([Diagnostic("file-not-found", "no such file or folder", file=os.fspath(path))])
    cases: list[Case] = []
    problems: list[Diagnostic] = []
    for file in files:
        loaded = read_file(file)
        problems.extend(loaded.problems)
        problems.extend(diagnostic for found in loaded.broken.values() for diagnostic in found)
        cases.extend(loaded.cases)
    if problems:
        raise InvalidInput(problems)
    return cases


def run_cases(cases: Iterable[Case], implementation: Any = None, feature_level: Any = None) -> list[CaseResult]:
    """Run cases and return their results in order.

    `implementation` is the one under test, the reference engine by default; cases that need a higher level than
    `feature_level` are skipped. TypeError for anything but cases.
    """
    from dmlcheck.running import one_case

    given = list(cases)
    if not all(isinstance(case, Case) for case in given):  # the path of a file, or the fields of a single case
        raise TypeError("run_cases takes a list of cases, as load_cases returns it")
    return one_case.run_cases(given, implementation, None if feature_level is None else _level(feature_level))


def _plain(desc: Any, depth: int = 0) -> Any:
    """Return a desc with Python's own numbers and lists in the place of NumPy's."""
    _check_depth(depth)
    if isinstance(desc, Mapping):
        return {key: _plain(value, depth + 1) for key, value in desc.items()}
    if isinstance(desc, (list, tuple)):
        return [_plain(value, depth + 1) for value in desc]
    return desc.tolist() if hasattr(desc, "tolist") else desc


def _lists(values: Any, depth: int = 0) -> Any:
    """Return the values of tensors with lists in the place of tuples."""
    _check_depth(depth)
    if isinstance(values, Mapping):
        return {key: _lists(value, depth + 1) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [_lists(value, depth + 1) if isinstance(value, (list, tuple)) else value for value in values]
    return values


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels; does it contain itself?")


def _level(value: Any) -> str:
    if value is None:
        return NEWEST_LEVEL
    level = parse_level(value)
    if level is None:
        raise ValueError(f"{value!r} is not a feature level; the levels are {' '.join(LEVELS)}")
    return level
