"""A wrong desc for each constraint, the output of `validate` for it, and the lines that make it valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from difflib import SequenceMatcher
from itertools import chain
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case, in_order
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.descs import made_valid
from dmlcheck.drawing.draft import SMALL
from dmlcheck.files import yaml
from dmlcheck.files.document import Document
from dmlcheck.files.yaml_text import flow
from dmlcheck.formats.registry import read_document
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.validation import validate

FILE = "desc.yaml"


class DescLine(NamedTuple):
    """A line of two descs: "-" of only the wrong one, "+" of only the right one, " " of both."""

    mark: str
    text: str


class Mistake(NamedTuple):
    """A desc that breaks one constraint, compared with a valid one; the rule, and what `validate` prints of it."""

    lines: tuple[DescLine, ...]
    rule: str
    output: str


def mistakes(spec: OperatorSpec, cases: Iterable[Case]) -> dict[str, Mistake]:
    """Return a mistake by constraint id, for every constraint that a negative case of the operator breaks."""
    candidates = _candidates(spec, cases)
    found = {label: _mistake(spec, label, given) for label, given in candidates.items()}
    return {label: mistake for label, mistake in found.items() if mistake is not None}


def _candidates(spec: OperatorSpec, cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return the negative cases of each constraint: those that break nothing else first, then the shortest."""
    labels = {f"{spec.short}/{row.id}": row.id for row in spec.constraints}
    found: dict[str, list[Case]] = {}
    for case in cases:
        for label in case.invalid or ():
            if label in labels:
                found.setdefault(labels[label], []).append(case)
    return {label: sorted(given, key=_length) for label, given in found.items()}


def _length(case: Case) -> tuple[int, int]:
    return len(case.invalid or ()), len(flow(case.desc))


def _mistake(spec: OperatorSpec, label: str, cases: list[Case]) -> Mistake | None:
    """Return the first of the first few cases that can be corrected; where none can, the first without a correction.

    None for a constraint on values, which `validate` does not see.
    """
    corrected = ((case, _corrected(spec, case)) for case in cases[:_MOST_CASES])
    case, lines = next(((case, lines) for case, lines in corrected if lines), (cases[0], []))
    wrong = list(_lines(spec, case.desc, case.feature_level))
    constraint = f"{spec.short}/{label}"
    document, every = _validated("\n".join(wrong))
    own = next((diagnostic for diagnostic in every if diagnostic.constraint == constraint), None)
    found = None if own is None else (own.rule, diagnostic_text(own, document.line))
    if found is None:
        return None
    return Mistake(tuple(_shortened(lines or [DescLine(" ", text) for text in wrong])), *found)


_MOST_CASES, _MOST_WAYS = 5, 3


def _corrected(spec: OperatorSpec, case: Case) -> list[DescLine]:
    """Return the lines of a case's desc and of its correction, of a few the one with the fewest changed lines."""
    best: list[DescLine] = []
    wrong = list(_lines(spec, case.desc, case.feature_level))
    for way in range(_MOST_WAYS):
        chance = seeded(f"{case.name} {way}")
        right = made_valid(spec, deepcopy(dict(case.desc)), chance, SMALL, case.level)
        if right is not None:
            lines = list(_compared(wrong, list(_lines(spec, right, case.feature_level))))
            best = min(best or lines, lines, key=_changes)
        if best and _changes(best) <= _FEWEST:
            break
    return best


_FEWEST = 2  # changed lines: one of the wrong desc, one of the right one


def _changes(lines: list[DescLine]) -> int:
    return sum(line.mark != " " for line in lines)


def _lines(spec: OperatorSpec, fields: Mapping[str, Any], level: str | None) -> Iterator[str]:
    yield f"operator: {spec.operator}"
    if level is not None:
        yield f'feature_level: "{level}"'
    yield "desc:"
    yield from (f"  {name}: {flow(value)}" for name, value in fields.items())


def _compared(wrong: list[str], right: list[str]) -> Iterator[DescLine]:
    """Yield the lines of both descs, each removed line before those that replace it."""
    for kind, first, last, begin, end in SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (DescLine(" ", text) for text in wrong[first:last])
        else:
            yield from (DescLine("-", text) for text in wrong[first:last])
            yield from (DescLine("+", text) for text in right[begin:end])


def _shortened(lines: list[DescLine]) -> Iterator[DescLine]:
    """Yield the lines of a desc; of a long one those that change, with dots for the others."""
    changed = [at for at, line in enumerate(lines) if line.mark != " "] or [0]
    for at, line in enumerate(lines):
        if len(lines) <= _LONG or at in changed:
            yield line
        elif at == 0 or at - 1 in changed:
            yield DescLine(" ", "  ...")


_LONG = 10  # lines of a desc that is shown whole


def output_of(text: str, rule: str) -> str:
    """Return the text that `validate desc.yaml` prints of a rule for a file, "" where it does not find that mistake."""
    document, every = _validated(text)
    own = next((diagnostic for diagnostic in every if diagnostic.rule == rule), None)
    return "" if own is None else diagnostic_text(own, document.line)


def _validated(text: str) -> tuple[Document, list[Diagnostic]]:
    """Return the document of a text, and everything that `validate` finds in it."""
    document = yaml.parse(f"{text}\n".encode(), FILE)
    read = read_document(document)
    checked = (in_order(case.origin, validate(case.operator, case.desc, case.level)[1]) for case in read.cases)
    return document, [*read.problems, *chain.from_iterable(checked)]
