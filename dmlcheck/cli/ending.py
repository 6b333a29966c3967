"""The end of a run: its last messages, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dmlcheck.cases.records import Case
from dmlcheck.cli.console import Console, say, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.reporters import finish_reports
from dmlcheck.cli.selection import meant_case, say_no_cases
from dmlcheck.diagnostics.wording import counted
from dmlcheck.reports.outcome import Outcome
from dmlcheck.reports.records import Summary
from dmlcheck.running.expectations import names_of


def why_vain(summary: Summary) -> str:
    """Return why a run that has cases has checked nothing."""
    if summary.checked:
        return f"the implementation computed nothing; {counted(summary.checked, 'desc')} checked without it"
    if summary.for_implementations == summary.total:
        return "every case is for implementations; choose one with --implementation NAME"
    return "every case was skipped"


_NONE_OF_THESE = "the earlier report has none of these cases; ids begin with the path as the command line gives it"


def finish(
    outcome: Outcome, cases_of: Callable[[str, str], Iterable[Case]], *, allows_no_results: bool = False
) -> Exit:
    """Finish the reports, and return how the command ends.

    `cases_of` returns the cases of a file. `allows_no_results` makes a run good whose cases have no results to compare.
    """
    summary, is_whole = outcome.summary, outcome.is_whole
    is_written = finish_reports(outcome.reporters, summary)
    if outcome.is_interrupted:
        return Exit.INTERRUPTED
    is_stale = is_whole and _has_stale_entries(outcome)
    is_vain = is_whole and not outcome.is_shard and _is_compared_in_vain(outcome, summary)
    is_lacking = is_whole and not outcome.has_wrong_file and _lacks_cases(outcome, cases_of)
    if outcome.seen and outcome.empty:
        say_no_cases(outcome.empty)
    if outcome.has_wrong_file or is_stale or is_vain or is_lacking or not is_written:
        return Exit.WRONG_INPUT
    if summary.failures:
        return Exit.FAILED
    if not summary.is_vain or (allows_no_results and summary.total):
        return Exit.GOOD
    if summary.total or not outcome.missing:
        write(f"dmlcheck: nothing was checked: {_why_nothing(outcome, summary)}", to_errors=True)
    return Exit.NOTHING_CHECKED


def _why_nothing(outcome: Outcome, summary: Summary) -> str:
    """Return why a run without failures has checked no case."""
    if summary.total:
        return why_vain(summary)
    return f"none of {counted(outcome.seen, 'case')} is selected" if outcome.seen else "there is no case"


def _lacks_cases(outcome: Outcome, cases_of: Callable[[str, str], Iterable[Case]]) -> bool:
    """Print which single cases do not exist; return whether others ran: the run is then not whole."""
    for case_id, problem in outcome.missing.items():
        name, _, case = case_id.partition("::")
        meant = meant_case(case, cases_of(outcome.paths[name], name)) if name in outcome.paths else ""
        say(f"dmlcheck: {problem}{meant}", to_errors=True)
    return bool(outcome.missing and outcome.tally.total)


def _has_stale_entries(outcome: Outcome) -> bool:
    """Print which known results name no case of a file that was read whole, and return whether there are any."""
    if outcome.unmatched is None:
        return False
    whole = [target for target in outcome.files if target.case is None]
    problems = outcome.unmatched.problems(names_of(target.name, target.name, target.file) for target in whole)
    Console().problems(problems, outcome.unmatched.document)
    return bool(problems)


def _is_compared_in_vain(outcome: Outcome, summary: Summary) -> bool:
    """Return whether the earlier report has none of the cases of a run, after printing so."""
    compared = summary.compared
    if compared is None or compared.cases or not compared.new or outcome.watch.knows_cases:
        return False
    write(f"dmlcheck: --compare-to: {_NONE_OF_THESE}", to_errors=True)
    return True
