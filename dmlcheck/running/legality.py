"""The descs of a file checked against their operators' specs: the findings of `dmlcheck validate` about each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dmlcheck.cases.records import Case, CaseFile, in_order
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import ERROR, MAX_PROBLEMS, NOTE, WARNING, Diagnostic, Finding
from dmlcheck.diagnostics.wording import counted, is_or_are
from dmlcheck.files.document import Document
from dmlcheck.formats.registry import Opened, cases_in
from dmlcheck.running.negatives import check_invalid, lists_values
from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import LEVELS
from dmlcheck.validation import check, deviations, minimum_level, validate

if TYPE_CHECKING:
    from dmlcheck.implementations import LibraryAnswer


class AtLevel(NamedTuple):
    """Whether a desc is valid at a level, and if not the first reason why."""

    level: str
    is_valid: bool
    reason: str | None = None


class Validated(NamedTuple):
    """One desc that was validated; findings and notes about a file as a whole have no operator.

    `notes` are about a valid desc, which stays valid. `node` and `onnx_operator` (`Softmax-13`) name the part of an
    ONNX model that the desc comes from, and `desc` is the desc in the notation of a case file. `answer` is that of
    DirectML's library, if it was asked. `accepted_by` has the releases of DirectML that take the desc, `differing` says
    which of them do otherwise than the documentation has it.
    """

    file: str
    name: str
    operator: str | None
    feature_level: str | None
    minimum: str | None
    diagnostics: tuple[Diagnostic, ...]
    is_plain: bool = True
    levels: tuple[AtLevel, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    node: str | None = None
    onnx_operator: str | None = None
    desc: Mapping[str, Any] | None = None
    answer: LibraryAnswer | None = None
    accepted_by: tuple[str, ...] = ()
    differing: str | None = None

    @property
    def is_valid(self) -> bool:
        """Whether the desc is valid at its level; an entry with only notes, which is no desc, is not wrong."""
        noted = NOTE if self.operator is None else None
        return all(diagnostic.severity == noted for diagnostic in self.diagnostics)

    @property
    def label(self) -> str:
        """The name that reports give the desc."""
        return self.file if self.is_plain else f"{self.file}::{self.name}"

    @property
    def errors(self) -> int:
        """The number of diagnostics that are errors, without those that a negative case lists."""
        return sum(1 for diagnostic in self.diagnostics if diagnostic.severity == ERROR)


class WholeCheck(Protocol):
    """The check of a graph or a model as a whole."""

    @property
    def file(self) -> str:
        """The file that it is in."""

    @property
    def entries(self) -> tuple[Validated, ...]:
        """Its entries in reports."""

    @property
    def is_wrong(self) -> bool:
        """Whether the file is no graph or model, or breaks the rules of its format."""

    @property
    def is_refused(self) -> bool:
        """Whether ONNX Runtime does not load it, regardless of its nodes."""

    @property
    def checked(self) -> int:
        """The number of nodes whose descs were checked."""


class ValidatedFile(NamedTuple):
    """The check of a file: its descs by themselves, and its graphs and models as wholes.

    `named` are the names of sizes that `--dim` can give; `unavailable` names the missing package that reads it.
    """

    document: Document
    descs: tuple[Validated, ...] = ()
    wholes: tuple[WholeCheck, ...] = ()
    is_wrong: bool = False
    is_empty: bool = False
    named: frozenset[str] = frozenset()
    unavailable: str | None = None


def errors_in(descs: Iterable[Validated]) -> int:
    """Return the number of errors among validated descs."""
    return sum(desc.errors for desc in descs)


class LevelRequest(NamedTuple):
    """The request of a check: a level (None: each desc's own), whether to check all levels, and a version of DirectML.

    `directml_version` limits the notes of known deviations to one version; None stands for all. `library` is
    DirectML's library to be asked about each desc, as an implementation. `with_releases` asks for the releases that
    take each desc.
    """

    level: str | None = None
    all_levels: bool = False
    directml_version: str | None = None
    library: Any = None
    with_releases: bool = False


def validated_file(file: Opened, asked: LevelRequest, _: Mapping[str, int]) -> ValidatedFile:
    """Validate the descs of a case file."""
    return validated_cases(cases_in(file), asked)


def validated_cases(file: CaseFile, asked: LevelRequest, wholes: tuple[WholeCheck, ...] = ()) -> ValidatedFile:
    """Validate the descs of cases; `wholes` are the checks of graphs and models in their file."""
    is_empty = not (file.cases or file.problems or file.broken or wholes)
    is_wrong = bool(file.problems or file.broken) or any(whole.is_wrong for whole in wholes)
    return ValidatedFile(file.document, tuple(validated(file, asked)), wholes, is_wrong, is_empty)


def validated(file: CaseFile, asked: LevelRequest) -> Iterator[Validated]:
    """Validate every desc of a file; findings about the file itself come first."""
    name = file.document.name
    if file.problems:
        yield Validated(name, os.path.splitext(os.path.basename(name))[0], None, None, None, file.problems)
    for note in file.notes:
        yield Validated(name, str(note.pointer).rpartition(".")[2], None, None, None, (note,), is_plain=False)
    errors = 0
    for number, case in enumerate(file.cases):
        if errors > MAX_PROBLEMS:
            rest = len(file.cases) - number
            yield unchecked_rest(name, f"{counted(rest, 'more desc')} {is_or_are(rest)} not checked")
            return
        broken = file.broken.get(case.id)
        desc = _validated_case(case, asked) if broken is None else _broken_case(case, asked.level, broken)
        errors += desc.errors
        yield desc._replace(is_plain=not file.is_list)


def unchecked_rest(name: str, rest: str) -> Validated:
    """Return the note that the rest of a file is not checked after too many findings."""
    finding = Finding("too-many-problems", (), {"path": name, "most": MAX_PROBLEMS, "rest": rest})
    diagnostic = finding.diagnostic()._replace(severity=WARNING, file=name)
    return Validated(name, os.path.splitext(os.path.basename(name))[0], None, None, None, (diagnostic,))


def _validated_case(case: Case, asked: LevelRequest) -> Validated:
    level = asked.level or case.level
    reading = read_desc(case.operator, case.desc)
    findings = check(reading, level)
    found = in_order(case.origin, findings)
    if case.is_negative and level == case.level:
        found = _against_its_list(case, findings, found)
    levels = _at_levels(case, reading) if asked.all_levels else ()
    operator = full_name(case.operator) or case.operator
    notes = () if findings or reading.desc is None else _notes(case, reading.desc, asked.directml_version)
    made = Validated(case.file, case.name, operator, level, minimum_level(reading), found, levels=levels, notes=notes)
    if findings or asked.with_releases:
        from dmlcheck.validation.deviations import accepted_by, difference

        releases = accepted_by(reading) if asked.with_releases else ()
        made = made._replace(accepted_by=releases, differing=difference(reading, findings))
    if asked.library is None:
        return made
    answer, doubts = answer_to(reading, asked.library)
    told = tuple(doubt._replace(severity=WARNING) for doubt in in_order(case.origin, doubts))
    return made._replace(answer=answer, notes=(*notes, *told))


def answer_to(reading: Reading, library: Any) -> tuple[LibraryAnswer | None, tuple[Finding, ...]]:
    """Return the answer of DirectML's library to a desc, and the finding that it is unforeseen, or that there is none.

    A desc with a mistake in its notation cannot be said in C, and the library is not asked about it.
    """
    from dmlcheck.running.computed import NoOutputs, asked
    from dmlcheck.running.refusals import can_be_asked, unforeseen
    from dmlcheck.validation.deviations import asked_release, is_accepted

    if reading.desc is None or not can_be_asked(reading):
        return None, ()
    answer = asked(reading.desc, library)
    if isinstance(answer, NoOutputs):
        return None, () if answer.finding is None else (answer.finding,)
    if asked_release(answer.version) is None or answer.is_accepted == is_accepted(reading, answer.version):
        return answer, ()
    return answer, (unforeseen(answer),)


def _notes(case: Case, desc: OperatorDesc, version: str | None) -> tuple[Diagnostic, ...]:
    """Return the notes about a valid desc: the known deviations of versions of DirectML."""
    found = in_order(case.origin, deviations.notes(desc, version))
    return tuple(note._replace(severity=NOTE) for note in found)


def _broken_case(case: Case, level: str | None, of_form: tuple[Diagnostic, ...]) -> Validated:
    """Return the findings about a malformed case, and about its desc if it has one."""
    asked = level or case.level
    operator = full_name(case.operator) or case.operator or None
    return Validated(case.file, case.name, operator, asked, None, all_problems(case, of_form, asked))


def all_problems(case: Case, of_form: tuple[Diagnostic, ...], level: str | None = None) -> tuple[Diagnostic, ...]:
    """Return the findings about a malformed case: its form, and its desc if it can be read."""
    if not (case.operator and case.desc):
        return of_form
    _, findings = validate(case.operator, case.desc, level or case.level)
    return tuple(sorted([*of_form, *in_order(case.origin, findings)], key=Diagnostic.place))


def _against_its_list(case: Case, findings: list[Finding], found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return the findings about a negative case: as notes if it lists exactly these, else with the mismatch."""
    # Values are not read here, so a negative case that is about them cannot be judged.
    is_of_values = not findings and (bool(case.inputs) or lists_values(case))
    mismatch = None if is_of_values else check_invalid(case, findings)
    if mismatch is None:
        return tuple(diagnostic._replace(severity=NOTE) for diagnostic in found)
    return in_order(case.origin, [mismatch, *findings])


def _at_levels(case: Case, reading: Reading) -> tuple[AtLevel, ...]:
    """Return for every level whether it accepts a desc, and if not the first reason in the order of the file."""
    found = []
    for level in LEVELS:
        first = next(iter(in_order(case.origin, check(reading, level))), None)
        found.append(AtLevel(level, first is None, None if first is None else f"{first.rule}: {first.message}"))
    return tuple(found)
