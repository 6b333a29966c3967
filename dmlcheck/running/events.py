"""The events of a run: the selected cases of a file one after the other, each with its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from dmlcheck.cases.records import Case, CaseFile, FileOrigin, Origin
from dmlcheck.cases.select import matcher
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import ERROR, MAX_PROBLEMS, Diagnostic
from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.running.expectations import from_any_folder, names_of
from dmlcheck.running.results import ERRORED, FAILED, PASSED, Bisected, CaseResult
from dmlcheck.running.settings import Settings
from dmlcheck.specs.names import DATA_TYPE_PREFIX, DATA_TYPES

DEFAULT_TIMEOUT = 60.0  # seconds of a case


class Selection(NamedTuple):
    """The conditions for cases, all to be met: a `-k` expression, one of some tags, a tensor of one of some types.

    `only` has the ids of an earlier run; they name their cases from any folder, as expectations do.
    """

    expression: str | None = None
    tags: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    @property
    def is_all(self) -> bool:
        """Whether nothing is asked."""
        return self == Selection()

    def of(self, target: Target) -> Callable[[Case], bool]:
        """Return the filter of a file's selected cases."""
        tests: list[Callable[[Case], bool]] = []
        if self.expression is not None:
            by_id = matcher(self.expression)
            tests.append(lambda case: by_id(case.id))
        if self.tags:
            tests.append(lambda case: not self.tags.isdisjoint(case.tags))
        if self.types:
            tests.append(lambda case: not self.types.isdisjoint(_types(case.desc)))
        if self.only is not None:
            tests.append(_named(self.only, target))
        return lambda case: all(test(case) for test in tests)


def _named(only: frozenset[str], target: Target) -> Callable[[Case], bool]:
    """Return the filter of a file's cases that an earlier run names, or of all cases if it names the file."""
    whole = only.union(map(from_any_folder, only))
    is_whole = _is_named(target.name, target, whole)
    return lambda case: is_whole or _is_named(case.id, target, whole)


def _is_named(case_id: str, target: Target, only: Collection[str]) -> bool:
    names = names_of(case_id, target.name, target.file)
    return any(name in only for name in (*names.whole, *names.ends))


def parse_type(text: str) -> str | None:
    """Return the data type of a name, however it is spelt, or None."""
    name = text.upper().removeprefix(DATA_TYPE_PREFIX)
    return name if name in DATA_TYPES else None


def _types(raw: Any) -> Iterator[str]:
    """Yield the data types of the tensors in the desc of a file, including nested operators' tensors."""
    waiting: list[Any] = [raw]
    while waiting:
        value = waiting.pop()
        parts: Iterable[Any] = ()
        if isinstance(value, Mapping):
            data_type = value.get("DataType")
            if isinstance(data_type, str) and "Sizes" in value:
                yield data_type.removeprefix(DATA_TYPE_PREFIX)
            parts = value.values()
        elif isinstance(value, (list, tuple)):
            parts = value
        waiting.extend(part for part in parts if isinstance(part, (Mapping, list, tuple)))


class Plan(NamedTuple):
    """The plan of a run: plain values, which every process of the run is given.

    `details` asks for the desc and the inputs of passed cases too, if the run may still fail for them; `digests` asks
    for the digests of the case set; a case that fails runs again up to `retries` times. `against` is a second
    implementation, which runs the same cases.
    """

    implementation: str = "reference"
    settings: Settings = Settings()
    selection: Selection = Selection()
    shard: tuple[int, int] | None = None
    timeout: float | None = None
    details: bool = False
    digests: bool = False
    retries: int = 0
    against: str | None = None

    @property
    def names(self) -> str:
        """The implementations, of which one may have ended a process."""
        return self.implementation if self.against is None else f"{self.implementation} or {self.against}"

    @property
    def runs_of_a_case(self) -> int:
        """How often a case runs, each time with a time limit of its own."""
        return 1 if self.against is None else 2


class Done(NamedTuple):
    """A case with its result."""

    result: CaseResult


class NotRun(NamedTuple):
    """A case that is there and does not run, by its id and its file: not selected, or another shard's."""

    id: str
    file: str = ""


class Ended(NamedTuple):
    """The end of a file, with the digest of the ids of its selected cases if the run needs it.

    `empty` is the name of a file that has no case at all; `bisected` is the result of the search for nodes of a model
    that are wrong only together.
    """

    digest: bytes | None
    empty: str | None = None
    bisected: Bisected | None = None


Event = Done | NotRun | Ended


class Running(Protocol):
    """A run: the number of its cases, its events, and the case that has run longest."""

    @property
    def total(self) -> int:
        """The number of cases."""

    def events(self) -> Iterator[Event]:
        """Yield the events."""

    def slowest(self) -> tuple[str, float] | None:
        """Return the case that has run longest, and for how many seconds."""


class Executor(Protocol):
    """Runs the cases of files elsewhere: in processes of this machine, or on the workers of a cluster."""

    def events(self) -> Iterator[Event]:
        """Yield the events, in the order of the files and their cases."""

    def running(self) -> list[tuple[Case, float]]:
        """Return the cases that are known to run, and since when."""


def file_events(
    file: CaseFile,
    target: Target,
    plan: Plan,
    implementation: Implementation,
    begin: Callable[[Case], object],
    skip: int = 0,
    tried: tuple[str, ...] = (),
) -> Iterator[Event]:
    """Run the selected cases of a file, without the first few; a file that is wrong as a whole is one result.

    `begin` is called with each case before it runs. `tried` are the earlier outcomes of the first case that runs.
    """
    if (file.problems or not file.cases) and target.part is not None and target.part[0]:
        yield Ended(digest([]) if plan.digests else None)  # the first part has what there is to say
        return
    if file.problems:
        yield from _of_wrong_file(file, plan, skip)
        return
    from dmlcheck.running.one_case import Run, run_case  # with NumPy, which listing cases does without

    run = partial(run_case, run=Run(implementation, plan.settings, plan.timeout))
    told = ProblemCount()
    ids = []
    number = 0
    for case, is_selected, is_here in chosen(file, target, plan):
        if is_selected:
            ids.append(case.id)
        if not is_here:
            yield NotRun(case.id, case.file)
            continue
        number += 1
        if number > skip:
            yield Done(told.limited(_result(case, file, run, begin, plan.retries, tried)))
            tried = ()
    yield Ended(digest(ids) if plan.digests else None, None if file.cases else target.name)


def number_of_cases(file: CaseFile, target: Target, plan: Plan) -> int:
    """Return how many results a file has in a run."""
    if file.problems:
        return int(in_shard(file.document.name, plan.shard))
    return sum(is_here for _, _, is_here in chosen(file, target, plan))


def chosen(file: CaseFile, target: Target, plan: Plan) -> Iterator[tuple[Case, bool, bool]]:
    """Yield the cases of a file, whether each is selected, and whether it also belongs to this shard."""
    selected = None if plan.selection.is_all else plan.selection.of(target)
    cases = file.cases if target.part is None else _part(file.cases, *target.part)
    for case in [case for case in cases if asks_for(target, case.name)]:
        is_selected = selected is None or selected(case)
        yield case, is_selected, is_selected and in_shard(case.id, plan.shard)


def asks_for(target: Target, name: str) -> bool:
    """Whether a target asks for a case: by its name, or by that before its matrix, of `k[K=16]` by `k`."""
    return target.case is None or is_named(name, target.case)


def is_named(name: str, asked: str) -> bool:
    """Whether a case is called so, its matrix aside."""
    return name == asked or name.startswith(f"{asked}[")


def _part(cases: Sequence[Case], number: int, count: int) -> Sequence[Case]:
    return cases[len(cases) * number // count : len(cases) * (number + 1) // count]


def ids(target: Target, plan: Plan) -> tuple[list[str], CaseFile]:
    """Return the ids of the cases of a file that would run, and the file."""
    file = read_file(target.file, target.name)
    return [case.id for case, _, is_here in chosen(file, target, plan) if is_here], file


def _result(
    case: Case,
    file: CaseFile,
    run: Callable[[Case], CaseResult],
    begin: Callable[[Case], object],
    retries: int,
    tried: tuple[str, ...],
) -> CaseResult:
    broken = file.broken.get(case.id)
    if broken is not None:
        from dmlcheck.running.legality import all_problems

        return malformed(case, "not a well-formed case", all_problems(case, broken))
    while True:
        begin(case)
        result = run(case)
        if result.outcome not in (FAILED, ERRORED) or not result.is_computed or len(tried) >= retries:
            break
        tried = (*tried, how_it_ended(result))
    if tried and result.outcome == PASSED:
        return result._replace(is_flaky=True, reason=f"flaky: {', '.join(tried)}, then passed")
    return result


def how_it_ended(result: CaseResult) -> str:
    """Return how a case that runs again failed before: `failed by output-mismatch`."""
    rules = dict.fromkeys(found.rule for found in result.diagnostics if found.severity == ERROR)
    return f"{result.outcome} by {' and '.join(rules)}"


def malformed(case: Case, reason: str, problems: tuple[Diagnostic, ...]) -> CaseResult:
    """Return the result of a case or a file that cannot be used."""
    return CaseResult(case, ERRORED, reason, problems, level=case.feature_level, is_malformed=True, is_unrun=True)


class ProblemCount:
    """The number of reported problems of a file's descs and values; a matrix can make very many of one mistake."""

    def __init__(self) -> None:
        self.count = 0

    def limited(self, result: CaseResult) -> CaseResult:
        """Return a result for the reports: beyond the limit without its diagnostics, and with a note about that."""
        if result.outputs or result.outcome not in (FAILED, ERRORED) or any(map(_is_of_run, result.diagnostics)):
            return result
        if self.count > MAX_PROBLEMS:
            left_out = f"not listed: the file has more than {MAX_PROBLEMS:,} problems"
            return result._replace(reason=f"{result.reason} ({left_out})", diagnostics=())
        self.count += len(result.diagnostics)
        return result


def _is_of_run(found: Diagnostic) -> bool:
    """Whether a diagnostic is about the run of a case, and not about its file."""
    rule = RULES.get(found.rule)
    return rule is None or rule.group == "run"


def _of_wrong_file(file: CaseFile, plan: Plan, skip: int) -> Iterator[Event]:
    """Yield the result of a file whose cases cannot be read."""
    name = file.document.name
    if in_shard(name, plan.shard) and not skip:
        problems = (*file.problems, *(problem for found in file.broken.values() for problem in found))
        yield Done(malformed(case_of_file(name, FileOrigin(file.document, ((),))), WRONG_FILE, problems))
    yield Ended(digest([name]) if plan.digests else None)


WRONG_FILE = "the file cannot be used"


def case_of_file(name: str, origin: Origin) -> Case:
    """Return the case that stands for a file as a whole in reports."""
    return Case(name, os.path.basename(name), name, operator="", feature_level=None, desc={}, origin=origin)


# ---- shards, and the digest of a case set


def in_shard(case_id: str, shard: tuple[int, int] | None) -> bool:
    """Whether a case belongs to a shard; that follows only from its id."""
    if shard is None:
        return True
    digest = _sha256(_encoded(case_id))
    return int.from_bytes(digest[:8], "big") % shard[1] == shard[0] - 1


_DIGEST = 32  # bytes


def digest(ids: Iterable[str]) -> bytes:
    """Return the digest of some cases: the sum of the digests of their ids, so that parts of a set add up to it."""
    return _sum(_sha256(_encoded(case_id)) for case_id in ids)


def digest_of(digests: Iterable[bytes]) -> str:
    """Return the digest of a case set from its parts' digests."""
    return _sha256(_sum(digests)).hex()


def _sum(digests: Iterable[bytes]) -> bytes:
    total = sum(int.from_bytes(part, "big") for part in digests)
    return (total % (1 << 8 * _DIGEST)).to_bytes(_DIGEST, "big")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _sha256(data: bytes) -> bytes:
    import hashlib  # which takes a few milliseconds to import, and few runs need it

    return hashlib.sha256(data).digest()
