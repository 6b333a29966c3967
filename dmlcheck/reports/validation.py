"""Validated descs as text: the findings about each, and the level from which it is valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dmlcheck.diagnostics.record import ERROR, NOTE
from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.files.document import Document
from dmlcheck.reports.diagnostics import ReportedMistakes, diagnostic_text, mistake_of, validated_problems
from dmlcheck.reports.layout import Style
from dmlcheck.running.legality import Validated
from dmlcheck.specs.names import level_and_version, level_name


def validation_lines(descs: list[Validated], documents: Mapping[str, Document], style: Style) -> Iterator[str]:
    """Yield the text of `validate`; `documents` are the files of the descs by name."""
    times = Counter(mistake_of(problem) for _, problem in validated_problems(descs) if problem.severity == ERROR)
    reported = ReportedMistakes()
    for desc in descs:
        yield from _desc_lines(desc, documents[desc.file], style, reported, times)
    errors = len(times.keys() - {None}) + times[None]
    if errors:
        rules = _rules(descs)
        more = (
            f"`dmlcheck explain {rules[0]}` says more." if len(rules) == 1 else "`dmlcheck explain RULE` explains each."
        )
        yield f"{counted(errors, 'error')} in {_where([desc for desc in descs if desc.errors])}. {more}"


def _where(wrong: list[Validated]) -> str:
    """Return in how many descs errors are; in how many files where any is in no desc."""
    if all(desc.operator is not None for desc in wrong):
        return counted(len(wrong), "desc")
    return counted(len({desc.file for desc in wrong}), "file")


def _desc_lines(
    desc: Validated, document: Document, style: Style, reported: ReportedMistakes, times: Mapping[Any, int]
) -> Iterator[str]:
    """Yield the text about a desc, without mistakes that an earlier one had."""
    for _, problem in validated_problems([desc]):
        if reported.earlier(problem, desc.label) is None:
            yield diagnostic_text(problem, document.line, style)
            mistake = mistake_of(problem)
            if mistake is not None and times[mistake] > 1:
                yield f"  the same in {counted(times[mistake] - 1, 'more case')}"
    if not desc.errors and desc.operator is not None and not document.problems:
        yield f"{visible(desc.label)}: {_verdict(desc)}"
    if desc.differing is not None:
        yield f"{visible(desc.label)}: {desc.differing}"
    if desc.answer is not None:
        yield f"{visible(desc.label)}: DirectML {desc.answer.version} {desc.answer.text}"
    for at in desc.levels:
        yield f"  {at.level}  {'valid' if at.is_valid else visible(at.reason or '')}"


def _rules(descs: Iterable[Validated]) -> list[str]:
    """Return the rules that are broken, each once."""
    found = (diagnostic for desc in descs for diagnostic in desc.diagnostics if diagnostic.severity != NOTE)
    return list(dict.fromkeys(diagnostic.rule for diagnostic in found))


def _verdict(desc: Validated) -> str:
    if desc.minimum is not None and desc.is_valid:
        return f"{desc.operator} is valid from {level_and_version(desc.minimum)}"
    listed = ", ".join(dict.fromkeys(diagnostic.constraint or diagnostic.rule for diagnostic in desc.diagnostics))
    if not listed:
        return f"{desc.operator} is a negative case about its values, which `dmlcheck run` reads"
    return f"{desc.operator} breaks {listed} at {level_name(desc.feature_level or '')}, as the case says"
