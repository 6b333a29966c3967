"""A case that fails, of a file or of a model, on its way to the simplest that fails in the same way."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case, in_order
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.folders.export_folder import safe_name
from dmlcheck.formats.find import find_files
from dmlcheck.formats.registry import Opened, read_file
from dmlcheck.fuzzing.answers import TrialAnswer
from dmlcheck.fuzzing.campaign import failing_of
from dmlcheck.fuzzing.reducing import Failing, Taken
from dmlcheck.fuzzing.trials import Bench, Trial
from dmlcheck.running.negatives import check_invalid


class NotReducible(ValueError):
    """A case that cannot be reduced; the message says why."""


class UnusableFile(ValueError):
    """A file or a case with mistakes, and the findings about them."""

    def __init__(self, problems: tuple[Diagnostic, ...], file: Any) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems
        self.document = file.document


class Start(NamedTuple):
    """The start of a reduction: the name of the case, its level, and how it fails."""

    name: str
    level: str
    failing: Failing | Taken


def start_of(
    file: Opened, name: str | None, bench: Bench, options: Mapping[str, Any], most: str | None = None
) -> Start:
    """Return the first case of a file that fails; the cases of a model or a graph are its nodes.

    `options` are the options of `import graph` for a model, and `most` is the implementation's feature level, at which
    a case is tried that names none. NotReducible if none fails, UnusableFile if the file is wrong.
    """
    if "graph" not in file.format.imported:
        return _first((_at_most(case, most) for case in _named(_cases(file.path), name)), bench)
    with tempfile.TemporaryDirectory() as folder:
        nodes = os.path.join(folder, "nodes")
        found = file.format.call_import("graph", [file.path], nodes, **options)
        problems = tuple(problem for one in found for problem in one.problems)
        if problems:
            raise UnusableFile(problems, file)
        paths = {os.path.splitext(os.path.basename(path))[0]: path for path in find_files(nodes) or []}
        if name is not None and safe_name(name) not in paths:
            remarks = "; ".join(remark for one in found for remark in one.remarks)
            raise NotReducible(f"there is no node {name} that is a case{f': {remarks}' if remarks else ''}")
        chosen = paths.values() if name is None else [paths[safe_name(name)]]
        return _first((_at_most(case, most) for path in chosen for case in _cases(path)), bench)


def _cases(path: str) -> list[Case]:
    """Return the cases of a file; UnusableFile where it or one of them is not well formed."""
    file = read_file(path)
    broken = tuple(problem for found in file.broken.values() for problem in found)
    if file.problems or broken:
        raise UnusableFile((*file.problems, *broken), file)
    return list(file.cases)


def _at_most(case: Case, level: str | None) -> Case:
    """Return a case at a level if it names none itself; what is wrong with a negative one is said at the newest."""
    return case if case.feature_level is not None or case.is_negative else case._replace(feature_level=level)


def _named(cases: list[Case], name: str | None) -> list[Case]:
    """Return the case of a name; all of them without one."""
    found = [case for case in cases if name is None or case.name == name]
    if name is not None and not found:
        hint = did_you_mean(name, [case.name for case in cases])
        raise NotReducible(f"there is no case {name}" + (f"; {hint}" if hint else ""))
    return found


def _first(cases: Iterable[Case], bench: Bench) -> Start:
    """Return the first case that fails."""
    reasons = []
    for case in cases:
        for trial in _trials(case):
            answer = bench.answer(trial._replace(is_explained=True))
            if answer.is_finding:
                return Start(case.name, case.level, failing_of(trial, answer))
            reasons.append(f"{case.name}: {_why(case, answer)}")
    more = f"; and {len(reasons) - 1:,} more that do not fail" if len(reasons) > 1 else ""
    raise NotReducible((reasons[0] if reasons else "there is no case with inputs") + more)


def _why(case: Case, answer: TrialAnswer) -> str:
    """Return the reason why a case that does not fail is not reduced."""
    if not answer.is_compared:
        return f"nothing was compared: {answer.reason}"
    if case.gives_outputs:
        return "the implementation agrees with the reference engine; only the outputs that the case gives may differ"
    return "the implementation passes"


def _trials(case: Case) -> Iterator[Trial]:
    """Yield the trial of a case that can run; the values that it expects are the reference's."""
    prepared = prepare(case._replace(outputs=None))
    if case.is_negative and prepared.excess is None:
        mismatch = check_invalid(case, prepared.findings)
        if mismatch is None and len(case.invalid or ()) == 1:
            yield Trial(case.operator, case.desc, {}, case.level, case.invalid)
        return
    if case.is_plain_desc and prepared.desc is not None and prepared.desc.spec.inputs:
        yield Trial.of(prepared.desc, {}, case.level)
        return
    if prepared.desc is None or prepared.findings:
        raise NotReducible(
            f"{case.name}: " + "; ".join(one.message for one in in_order(case.origin, prepared.findings))
        )
    if case.inputs is not None:
        yield Trial.of(prepared.desc, prepared.inputs, case.level)
