"""Validated descs as text: what is wrong with each, and from which level on it is valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dmlcheck.diagnostics.record import NOTE
from dmlcheck.diagnostics.wording import plural
from dmlcheck.files.document import Document
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.layout import Style
from dmlcheck.running.legality import Validated, errors_in
from dmlcheck.specs.names import level_and_version, level_name


def validation_lines(descs: list[Validated], documents: Mapping[str, Document], style: Style) -> Iterator[str]:
    """Yield what `validate` prints; `documents` are the files of the descs by name."""
    for desc in descs:
        yield from _desc_lines(desc, documents[desc.file], style)
    errors = errors_in(descs)
    if errors:
        wrong = sum(1 for desc in descs if desc.errors)
        explain = f"`dmlcheck explain {_last_rule(descs)}` says more."
        yield f"{errors} {plural(errors, 'error')} in {wrong} {plural(wrong, 'desc')}. {explain}"


def _desc_lines(desc: Validated, document: Document, style: Style) -> Iterator[str]:
    for diagnostic in desc.diagnostics:
        if diagnostic.severity != NOTE or desc.operator is None:
            yield diagnostic_text(diagnostic, document.line, style)
    if not desc.errors and desc.operator is not None and not document.problems:
        yield f"{desc.label}: {_verdict(desc)}"
    for at in desc.levels:
        yield f"  {at.level}  {'accepted' if at.is_valid else at.reason}"


def _last_rule(descs: Iterable[Validated]) -> str:
    """Return the last of the rules that are broken, by where each is broken first."""
    found = (diagnostic for desc in descs for diagnostic in desc.diagnostics if diagnostic.severity != NOTE)
    return next(reversed(dict.fromkeys(diagnostic.rule for diagnostic in found)))


def _verdict(desc: Validated) -> str:
    if desc.minimum is not None and desc.is_valid:
        return f"{desc.operator} is valid from {level_and_version(desc.minimum)}"
    listed = ", ".join(dict.fromkeys(diagnostic.constraint or diagnostic.rule for diagnostic in desc.diagnostics))
    if not listed:
        return f"{desc.operator} is a negative case about its values, which `dmlcheck run` reads"
    return f"{desc.operator} breaks {listed} at {level_name(desc.feature_level or '')}, as the case says"
