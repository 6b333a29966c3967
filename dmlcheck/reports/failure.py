"""A failed case as text: all that is needed to correct the case or the implementation; problems for other programs."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator, Sequence

from dmlcheck.diagnostics.record import ERROR, NOTE, WARNING, Diagnostic
from dmlcheck.diagnostics.wording import brief, cut, visible
from dmlcheck.formats.find import inputs_file_of, located, real_path
from dmlcheck.reports.accuracy import INACCURATE, UNLIKELY, UNLIMITED, drifts, near_bounds
from dmlcheck.reports.diagnostics import ReportedMistakes, diagnostic_text
from dmlcheck.reports.elements import mismatch_lines
from dmlcheck.reports.layout import PLAIN, Style, indent
from dmlcheck.reports.nodes import model_facts
from dmlcheck.reports.records import RunInfo
from dmlcheck.reports.visible import shown_result
from dmlcheck.running.results import FAILED, FAILURES, PASSED, CaseResult
from dmlcheck.running.settings import EXPECTED_WITHIN
from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import short_operator

Again = Callable[[CaseResult], str]

LIKELY = "likely cause: "
_MOST_REASON = 300  # characters of a failure's reason in one line


def causes(result: CaseResult) -> list[Diagnostic]:
    """Return the diagnostics of a case that fails its run."""
    return [*result.diagnostics, *drifts(result)]


def rules_text(result: CaseResult) -> str:
    """Return the rules of a failed case, each once, without the rules of its warnings."""
    return ", ".join(dict.fromkeys(found.rule for found in causes(result) if found.severity != WARNING))


def reason_text(result: CaseResult) -> str:
    """Return why a case failed: its first error, and how many more there are."""
    return errors_text(_errors(result))


def errors_text(errors: Sequence[Diagnostic], most: int | None = None) -> str:
    """Return the first of some errors, and how many more there are, in a line of limited length."""
    text = errors[0].message
    more = f" (and {len(errors) - 1:,} more)" if len(errors) > 1 else ""
    return (text if most is None else cut(text.split("\n", 1)[0], most - len(more))) + more


def _errors(result: CaseResult) -> list[Diagnostic]:
    """Return the diagnostics that made a case fail, at least one."""
    return [problem for problem in problems_of(result) if problem.severity == ERROR]


def short_line(result: CaseResult, style: Style = PLAIN, reported: ReportedMistakes | None = None) -> str:
    """Return a failure in one line: `FAILED PATH::NAME - REASON`.

    For a mistake that was reported for an earlier case, `reported`, the reason names that case.
    """
    errors = _errors(result)
    first = None if reported is None else reported.earlier(errors[0], result.case.id)
    if first not in (None, result.case.id):
        errors = [errors[0]._replace(message=f"{errors[0].rule}, as in {first}"), *errors[1:]]
    cause = named_cause(errors[0])
    also = "" if cause is None else f"; {cut(cause, _MOST_REASON)}"
    return f"{_head(result, style)} {result.case.id} - {errors_text(errors, _MOST_REASON)}{also}"


def named_cause(error: Diagnostic) -> str | None:
    """Return the likely cause of an error, None without one."""
    help = error.help or ""
    return help if help.startswith(LIKELY) else None


# What an implementation does wrong; other errors are mistakes of a file, of which each has its own line.
_OF_IMPLEMENTATIONS = {"implementation-error", "invalid-desc-accepted", "unforeseen-answer", "timeout"}


def shared_cause(result: CaseResult) -> str | None:
    """Return the cause that failures of one operator may share: the likely one, or the message, of all their errors.

    It is None where errors differ, for a wrong output without a cause, a mistake of a file, and a part of a model.
    """
    if not result.case.operator or result.node or result.output or result.together is not None:
        return None
    causes = {_cause(error) for error in _errors(result)}
    return causes.pop() if len(causes) == 1 else None


def _cause(error: Diagnostic) -> str | None:
    return error.message.split("\n", 1)[0] if error.rule in _OF_IMPLEMENTATIONS else named_cause(error)


def group_text(result: CaseResult, style: Style = PLAIN) -> str:
    """Return the operator and the cause of several failures, with {count} for their number."""
    operator = short_operator(full_name(result.case.operator) or result.case.operator)
    said = f" cases of {operator} - {cut(shared_cause(result) or '', _MOST_REASON)}"
    return f"{_head(result, style)} {{count}}{said.replace('{', '{{').replace('}', '}}')}"


def placed_line(result: CaseResult) -> str:
    """Return a failure in a line as editors and problem matchers read it: `FILE:LINE:COL: RULE: ID: message`."""
    errors = _errors(result)
    first = errors[0]
    start = result.case.position
    column = first.column or (start.column if first.line == start.line else 1)
    place = f"{first.file}:{first.line or 1}:{column}"
    return f"{place}: {first.rule}: {result.case.id}: {errors_text(errors, _MOST_REASON)}"


def again_by_id(result: CaseResult) -> str:
    """Return the command that runs a case again, where nothing is known of the run."""
    return f"dmlcheck run {result.case.id}"


def failure_text(result: CaseResult, again: Again | None) -> str:
    """Return the whole text of a failure, without colour."""
    return "\n".join(failure_lines(shown_result(result), again or again_by_id)).rstrip("\n")


def failure_lines(
    result: CaseResult,
    again: Again,
    *,
    style: Style = PLAIN,
    reported: ReportedMistakes | None = None,
    is_whole: bool = True,
) -> Iterator[str]:
    """Yield the text of a failure, with the command that runs the case again, and an empty line.

    A mistake that was reported for an earlier case, `reported`, is only named; `is_whole` asks for the traceback of an
    exception.
    """
    case = result.case
    yield f"{_head(result, style)} {style(case.id, 'bold')}   {rules_text(result) or result.reason or ''}"
    for diagnostic in result.diagnostics:
        first = None if reported is None else reported.earlier(diagnostic, case.id)
        if first is None:
            yield indent(diagnostic_text(diagnostic, case.origin.line, style))
        else:
            yield f"  {diagnostic.where}: {diagnostic.rule}, as in {first}"
    for diagnostic in drifts(result):
        yield indent(diagnostic_text(diagnostic, None, style))
    if result.traceback:
        lines = result.traceback.split("\n") if is_whole else ["the traceback: -v prints it"]
        yield from (f"  | {line}" for line in lines)
    if result.outputs:
        yield from ("  " + line for line in _what_ran(result))
    yield from (f"  {name}: {text}" for name, text in model_facts(result))
    if case.source and result.outcome == FAILED:
        yield f"  source: {case.source}"
    for known in result.known:
        yield f"  known of DirectML ({known.versions}): {known.text} ({known.source})"
    if result.kept:
        yield f"  kept: {visible(result.kept)}"
    yield f"  again: {visible(again(result))}"
    yield ""


def _head(result: CaseResult, style: Style) -> str:
    return style("DRIFTED" if result.drift else result.outcome.upper(), "red")


def _what_ran(result: CaseResult) -> Iterator[str]:
    """Yield the elements that are wrong, the desc and the inputs."""
    for name, output in result.outputs.items():
        yield from mismatch_lines(name, output)
    if result.case.operator:
        yield f"desc: {result.case.operator} {brief(result.case.desc)}"
    yield from (f"{name}: {brief(raw)}" for name, raw in (result.case.inputs or {}).items())


# ---- the problems of a result in reports for other programs, each at a place in a repository


_SURROGATE = "[\ud800-\udfff]"


def problems_of(result: CaseResult) -> list[Diagnostic]:
    """Return the diagnostics of a case to show: all that made it fail, at least one, or the warnings of a passed one.

    An expected failure has none, and neither has a negative case that breaks the rules that it lists.
    """
    case = result.case
    line = case.position.line
    problems = [
        diagnostic if diagnostic.file is not None else diagnostic._replace(file=case.file, line=line, column=None)
        for diagnostic in result.diagnostics
    ]
    if result.outcome == PASSED:
        return [*(problem for problem in problems if problem.severity != NOTE), *drifts(result), *near_bounds(result)]
    if result.outcome not in FAILURES:
        return []
    if not any(problem.severity == ERROR for problem in problems):
        reason = result.reason or f"the case ended as {result.outcome}"
        problems.insert(0, Diagnostic(result.outcome, reason, file=case.file, line=line))
    return problems


def full_message(diagnostic: Diagnostic) -> str:
    """Return the whole text of a diagnostic: its message with its constraint, the note, and the help."""
    label = f" ({diagnostic.constraint})" if diagnostic.constraint else ""
    lines = [f"{diagnostic.message}{label}"]
    if diagnostic.note:
        lines.append(diagnostic.note)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def repository_path(file: str) -> str:
    """Return a path from the root of the repository where a GitHub workflow runs, else the path that was given."""
    root = os.environ.get("GITHUB_WORKSPACE")
    if not file or file == "-":
        return file
    return (path_inside(file, root) if root else None) or posixpath.normpath(file.replace(os.sep, "/"))


def path_inside(file: str, folder: str) -> str | None:
    """Return the path of a file from a folder, / separated, or None if it is not in there."""
    place = os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))
    try:
        path = os.path.relpath(place, os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # on another drive
        return None
    return None if path == ".." or path.startswith("../") else path


def encodable(text: str) -> str:
    """Return a text without characters that no encoding has, such as half surrogates in a file's name."""
    return re.sub(_SURROGATE, "\N{REPLACEMENT CHARACTER}", text)


# ---- the command that runs a case again


def again(info: RunInfo, result: CaseResult) -> str:
    """Return the command that runs one case again, with the options that its result depends on."""
    case = result.case
    is_whole = result.is_malformed or result.together is not None
    path = case.path if real_path(located(case.path)) == real_path(case.file) else case.file
    target = path if is_whole else f"{path}::{case.name}"
    words = [*_options(info, result), *(["--"] if target.startswith("-") else []), target]
    return f"dmlcheck run {quoted(words)}"


def _options(info: RunInfo, result: CaseResult) -> Iterator[str]:
    settings = info.settings
    if not info.is_of_reference:
        yield from ("--implementation", info.implementation)
    yield from (*settings.words(), *info.options, *_of_model(info, result))
    rules = {found.rule for found in result.diagnostics}
    strict = {found.rule for found in result.diagnostics if found.severity == ERROR} & {UNLIKELY, UNLIMITED, INACCURATE}
    if result.outcome == FAILED and strict:
        yield "--strict"
    if INACCURATE in rules and settings.expected_within != EXPECTED_WITHIN:
        yield from ("--expected-within", f"{settings.expected_within:g}")
    if info.compared_to is not None and result.drift:
        yield from ("--compare-to", info.compared_to.file)
        if info.compared_to.max_drift is not None:
            yield from ("--max-drift", f"{info.compared_to.max_drift:g}")


def _of_model(info: RunInfo, result: CaseResult) -> Iterator[str]:
    """Yield the options for a model; one that was found in a folder has its inputs next to it."""
    if not info.model and any((result.node, result.output, result.together)):
        yield from ("--inputs", inputs_file_of(result.case.file))
    if result.together is not None:
        yield "--bisect"


def quoted(words: list[str]) -> str:
    """Return words as the shell of this system takes them."""
    if sys.platform == "win32":
        import subprocess

        return subprocess.list2cmdline(words)
    import shlex

    return shlex.join(words)
