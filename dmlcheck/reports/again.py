"""The command that runs a case again."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dmlcheck.diagnostics.record import ERROR
from dmlcheck.formats.find import inputs_file_of, located, real_path
from dmlcheck.reports.accuracy import INACCURATE, UNLIKELY, UNLIMITED
from dmlcheck.reports.records import RunInfo
from dmlcheck.running.results import FAILED, CaseResult
from dmlcheck.running.settings import EXPECTED_WITHIN


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
