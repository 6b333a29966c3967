"""`dmlcheck merge`: the shards of one run put together."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import click

from dmlcheck.cli.console import Console, write
from dmlcheck.cli.ending import why_vain
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.reporters import ReportRequest, finish_reports, open_reporters, report_options
from dmlcheck.diagnostics.wording import brief
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.accuracy import Compared
from dmlcheck.reports.reading import (
    NUMBER,
    NUMBER_OR_NONE,
    TEXT,
    TEXT_OR_NONE,
    WHOLE,
    ReportError,
    case_result,
    read_report,
    texts_of,
    value_of,
)
from dmlcheck.reports.records import Earlier, RunInfo, Summary, Tally
from dmlcheck.running.events import digest, digest_of
from dmlcheck.running.results import OUTCOMES, CaseResult
from dmlcheck.running.settings import EXPECTED_WITHIN, Settings


@click.command(
    epilog=examples(
        "run cases/ --shard 1/2 --json 1.json",
        "run cases/ --shard 2/2 --json 2.json",
        "merge 1.json 2.json --html report.html",
    )
)
@click.argument("reports", nargs=-1, required=True, metavar="REPORT.json...", shell_complete=complete_files)
@report_options
def merge(*, reports: tuple[str, ...], wanted: ReportRequest) -> None:
    """Join the JSON reports of all shards of a run, and write any report of the whole run."""
    try:
        merged = whole_run(reports)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    reporters = open_reporters(Console(), wanted, merged.info, reports, lambda: len(merged.results))
    for result in merged.results:
        for reporter in reporters:
            reporter.case(result)
    if not finish_reports(reporters, merged.summary):
        sys.exit(Exit.WRONG_INPUT)
    if merged.summary.failures:
        sys.exit(Exit.FAILED)
    if not merged.summary.is_vain:
        sys.exit(Exit.GOOD)
    if merged.summary.total:
        write(f"dmlcheck: nothing was checked: {why_vain(merged.summary)}", to_errors=True)
    sys.exit(Exit.NOTHING_CHECKED)


# ---- the shards of one run put together from their reports


_ALIKE = {
    "implementation": "implementation",
    "feature_level": "feature level",
    "tool": "version",
    "accumulate": "--accumulate",
    "inputs": "--input-precision",
    "algorithms": "--algorithms",
    "strict": "--strict",
    "expected_within": "--expected-within",
    "directml_version": "--directml-version",
    "warn_above": "--warn-above",
    "compared_to": "--compare-to",
}


_MOST_NAMED = 20  # missing shards


class WholeRun(NamedTuple):
    """A run whose shards are all there."""

    info: RunInfo
    results: list[CaseResult]
    summary: Summary


class _Shard(NamedTuple):
    path: str
    report: dict[str, Any]
    number: int
    of: int


def whole_run(paths: Iterable[str]) -> WholeRun:
    """Return the run whose shards some files are; ReportError if they are not one run's, all of it."""
    shards = _shards([(path, read_report(path)) for path in paths])
    _check_case_set(shards)
    cases = [case for shard in shards for case in shard.report["cases"]]
    results = [case_result(case) for case in sorted(cases, key=lambda case: case.get("ordinal", 0))]
    infos = [_info_of(shard) for shard in shards]
    versions = dict.fromkeys(info.version for info in infos if info.version)
    devices = dict.fromkeys(info.device for info in infos if info.device)
    info = infos[0]._replace(version=" and ".join(versions), device=" and ".join(devices))
    return WholeRun(info, results, _summary(shards, results, is_of_reference=info.is_of_reference))


def _shards(parts: list[tuple[str, dict[str, Any]]]) -> list[_Shard]:
    first = _shard(*parts[0])
    found: dict[int, _Shard] = {}
    for path, report in parts:
        shard = _shard(path, report)
        _check_same_run(shard, first)
        if shard.number in found:
            raise ReportError(f"{path}: shard {shard.number} again, as {found[shard.number].path}")
        found[shard.number] = shard
    if len(found) < first.of:
        missing = (str(index) for index in range(1, first.of + 1) if index not in found)
        more = first.of - len(found) - _MOST_NAMED
        named = ", ".join(islice(missing, _MOST_NAMED)) + (f" and {more:,} more" if more > 0 else "")
        raise ReportError(f"shard {named} of {first.of} is missing")
    return list(found.values())


def _shard(path: str, report: dict[str, Any]) -> _Shard:
    """Return the number of a report's shard and how many there are; ReportError if the report cannot be merged."""
    shard = report.get("shard")
    index, count = (shard.get("index"), shard.get("count")) if isinstance(shard, dict) else (None, None)
    if type(index) is not int or type(count) is not int or not 1 <= index <= count:
        raise ReportError(f"{path}: not a shard of a run; run with --shard I/N")
    if report.get("digest") is None or report.get("interrupted") or report.get("not_run"):
        raise ReportError(f"{path}: a run that did not get to its end")
    if not all(isinstance(case.get("ordinal", 0), int) for case in report["cases"]):
        raise ReportError(f"{path}: its cases are not as `dmlcheck run` writes them")
    _check_counts(path, report)
    return _Shard(path, report, index, count)


def _check_counts(path: str, report: dict[str, Any]) -> None:
    """Refuse a report that holds other cases than it counted when it was written."""
    cases, summary = report["cases"], report.get("summary")
    if not isinstance(summary, dict):
        raise ReportError(f"{path}: its summary is not as `dmlcheck run` writes it")
    held = {"total": len(cases), **dict.fromkeys(OUTCOMES, 0), **Counter(case["outcome"] for case in cases)}
    for key, number in held.items():
        if summary.get(key) != number:
            told = f"its summary says {key}: {brief(summary.get(key))}, and its cases {number}"
            raise ReportError(f"{path}: {told}; it is not as `dmlcheck run` wrote it")


def _check_case_set(shards: list[_Shard]) -> None:
    """Refuse shards that do not hold, each case once, the case set of their digest."""
    held = (digest(case["id"] for case in shard.report["cases"]) for shard in shards)
    if digest_of(held) != shards[0].report["digest"]:
        paths = ", ".join(shard.path for shard in shards[:_MOST_NAMED])
        raise ReportError(f"{paths}: not the cases of the run: their ids do not add up to its digest")


def _check_same_run(shard: _Shard, first: _Shard) -> None:
    for key, name in _ALIKE.items():
        here, there = shard.report.get(key), first.report.get(key)
        if here != there:
            raise ReportError(f"{shard.path}: another {name} than {first.path}: {brief(here)}, {brief(there)}")
    if shard.report["digest"] != first.report["digest"]:
        raise ReportError(f"{shard.path}: a shard of another case set than {first.path}")
    if shard.of != first.of:
        raise ReportError(f"{shard.path}: one of {shard.of} shards, and {first.path} one of {first.of}")


def _summary(shards: list[_Shard], results: list[CaseResult], *, is_of_reference: bool) -> Summary:
    """Return how the whole run ended."""
    tally = Tally(is_of_reference=is_of_reference)
    for result in results:
        tally.add(result)
    seconds, compared = 0.0, None
    for path, report, *_ in shards:
        try:
            seconds += value_of(report["summary"], "seconds", NUMBER, 0.0)
            if report.get("compared_to") is not None:
                here, before = Compared(**report["compared"]), compared or Compared()
                for key in Compared._fields:
                    value_of(here._asdict(), key, WHOLE)
                compared = Compared(before.cases + here.cases, before.new + here.new)
        except (AttributeError, KeyError, TypeError):
            raise ReportError(f"{path}: its end is not as `dmlcheck run` writes it") from None
    return tally.summary(seconds, digest=shards[0].report["digest"], compared=compared)


def _word_of(report: Mapping[str, Any], key: str, words: tuple[str, ...]) -> str:
    """Return the one of some words that a report has under a key, by default the first."""
    found: str = value_of(report, key, TEXT, words[0])
    if found not in words:
        raise TypeError(key)
    return found


def _info_of(shard: _Shard) -> RunInfo:
    report = shard.report
    try:
        settings = Settings(
            value_of(report, "feature_level", TEXT_OR_NONE),
            precision=Precision(
                _word_of(report, "accumulate", ("float32", "float16")).upper(),
                _word_of(report, "inputs", ("float32", "tf32", "bfloat16")).upper(),
                texts_of(report, "algorithms", []),
            ),
            is_strict=report.get("strict") is True,
            directml_version=value_of(report, "directml_version", TEXT_OR_NONE),
            expected_within=value_of(report, "expected_within", NUMBER, EXPECTED_WITHIN),
        )
        return RunInfo(
            report["implementation"],
            settings,
            version=value_of(report, "implementation_version", TEXT_OR_NONE) or "",
            device=value_of(report, "device", TEXT_OR_NONE) or "",
            warn_above=value_of(report, "warn_above", NUMBER_OR_NONE),
            compared_to=_earlier(report.get("compared_to")),
            options=texts_of(report, "options", []),
            is_selection=report.get("selection") is True,
        )
    except (AttributeError, TypeError):
        raise ReportError(f"{shard.path}: its head is not as `dmlcheck run` writes it") from None


def _earlier(given: Any) -> Earlier | None:
    if given is None:
        return None
    value_of(given, "file", TEXT)
    value_of(given, "implementation", TEXT, "")
    value_of(given, "version", TEXT_OR_NONE)
    value_of(given, "max_drift", NUMBER_OR_NONE)
    return Earlier(**given)
