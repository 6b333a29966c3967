"""`dmlcheck compare`: the changes between the reports of two runs."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import click

from dmlcheck.cli.console import print_json, write
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import complete_files, examples
from dmlcheck.cli.run_options import Number
from dmlcheck.diagnostics.wording import counted, cut, figure, visible
from dmlcheck.reports.job_summary import markdown
from dmlcheck.reports.reading import NUMBER, TEXT_OR_NONE, Brief, ReportError, read_briefs, value_of
from dmlcheck.running.expectations import from_any_folder
from dmlcheck.running.results import PASSED, SKIPPED, XFAILED
from dmlcheck.specs.names import LEVELS, level_name

GROWTH = 2.0  # times that an error must grow to be reported
_LEAST_ERROR = 0.5  # ULP: a possible cost of correct rounding; smaller errors count as this


class ReportedRun(NamedTuple):
    """A run by its report: the report's file, the implementation, the number of cases, and whether it was completed.

    `judged` is in words: `onnxruntime 1.22.0 (CPUExecutionProvider), DML_FEATURE_LEVEL_5_0, dmlcheck 0.1.0`.
    """

    file: str
    implementation: str
    version: str | None
    device: str | None
    feature_level: str | None
    tool: str | None
    cases: int
    is_whole: bool


class Change(NamedTuple):
    """A case before and after: None in the run that does not have it."""

    id: str
    old: Brief | None
    new: Brief | None


class Growth(NamedTuple):
    """An output whose largest error grew, in ULP (units for integers)."""

    case: str
    output: str
    old_ulp: int | float
    new_ulp: int | float


class Changes(NamedTuple):
    """The changes between two runs of the same cases.

    A case that fails and is new is both in `newly_failing` and in `new`; any other is in one list only. `changed` has
    the cases with another outcome that neither fail newly nor are fixed, such as those that are skipped now. `compared`
    counts the cases that neither run skipped.
    """

    old: ReportedRun
    new: ReportedRun
    max_drift: float
    newly_failing: tuple[Change, ...]
    still_failing: tuple[Change, ...]
    fixed: tuple[Change, ...]
    changed: tuple[Change, ...]
    added: tuple[Change, ...]
    gone: tuple[Change, ...]
    grown: tuple[Growth, ...]
    compared: int


def changes(old_path: str, new_path: str, max_drift: float = GROWTH) -> Changes:
    """Return the changes from one report to another; ReportError if one is no report."""
    (old_run, old), (new_run, new) = _read(old_path), _read(new_path)
    old = _by_new_ids(old, new)
    both = [Change(name, old[name], case) for name, case in new.items() if name in old]
    added = tuple(Change(name, None, case) for name, case in new.items() if name not in old)
    everything = [Change(name, old.get(name), case) for name, case in new.items()]
    return Changes(
        old_run,
        new_run,
        max_drift,
        newly_failing=tuple(change for change in everything if _fails(change.new) and not _fails(change.old)),
        still_failing=tuple(change for change in both if _fails(change.new) and _fails(change.old)),
        fixed=tuple(change for change in both if _is_fixed(change)),
        changed=tuple(change for change in both if _is_other(change)),
        added=added,
        gone=tuple(Change(name, case, None) for name, case in old.items() if name not in new),
        grown=tuple(growth for change in both for growth in _growths(change, max_drift)),
        compared=sum(SKIPPED not in _outcomes(change) for change in both),
    )


def _by_new_ids(old: dict[str, Brief], new: dict[str, Brief]) -> dict[str, Brief]:
    """Return the cases of the old run by their ids in the new one, which may have started in another folder.

    The path in one id is the end of the path in the other then. A case keeps its id if several could be meant.
    """
    known: dict[str, set[str]] = {}
    for name in new.keys() - old.keys():
        for end in _ends(name):
            known.setdefault(end, set()).add(name)
    meant = {name: _meant(name, known) for name in old if name not in new}
    times = Counter(meant.values())
    renamed = {name: found for name, found in meant.items() if times[found] == 1}
    return {renamed.get(name, name): case for name, case in old.items()}


def _meant(name: str, known: Mapping[str, set[str]]) -> str:
    """Return the id that the new run has for a case, by the ends of its ids; its own for none or several."""
    whole, *ends = _ends(name)
    longer = known.get(whole, set())
    shorter = {each for end in ends for each in known.get(end, ()) if _ends(each)[0] == end}
    found = longer | shorter
    return found.pop() if len(found) == 1 else name


def _ends(case_id: str) -> list[str]:
    """Return an id without what leads out of a folder, and its ends after each slash of its path."""
    path, separator, name = from_any_folder(case_id).partition("::")
    parts = path.split("/")
    return ["/".join(parts[number:]) + separator + name for number in range(len(parts))]


def _read(path: str) -> tuple[ReportedRun, dict[str, Brief]]:
    report, cases = read_briefs(path)
    try:
        tool = value_of(report.get("tool") or {}, "version", TEXT_OR_NONE)
        version, device, level = (
            value_of(report, key, TEXT_OR_NONE) for key in ("implementation_version", "device", "feature_level")
        )
        is_whole = not report.get("interrupted") and not value_of(report, "not_run", NUMBER, 0)
    except (AttributeError, TypeError):
        raise ReportError(f"{path}: its head is not as `dmlcheck run` writes it") from None
    return ReportedRun(path, report["implementation"], version, device, level, tool, len(cases), is_whole), cases


def _fails(case: Brief | None) -> bool:
    return case is not None and case.fails


def _outcomes(change: Change) -> tuple[str, ...]:
    return tuple(case.outcome for case in (change.old, change.new) if case is not None)


def _is_fixed(change: Change) -> bool:
    """Whether a case was wrong, expected to be or not, and passes now."""
    was_wrong = _fails(change.old) or _outcomes(change)[0] == XFAILED
    return was_wrong and not _fails(change.new) and _outcomes(change)[-1] == PASSED


def _is_other(change: Change) -> bool:
    """Whether a case ended in another way, and neither fails now nor is fixed."""
    old, new = _outcomes(change)
    return old != new and not _fails(change.new) and not _is_fixed(change)


def _growths(change: Change, max_drift: float) -> Iterator[Growth]:
    """Yield the outputs of a case whose error grew by a given factor; none for a case that newly fails."""
    old, new = change.old, change.new
    if old is None or new is None or (new.fails and not old.fails):
        return
    before: Mapping[str, Any] = old.ulp
    for name, error in new.ulp.items():
        if name in before and error > before[name] and error >= max_drift * max(before[name], _LEAST_ERROR):
            yield Growth(change.id, name, before[name], error)


# ---- the changes as `compare` prints them: text, Markdown for a comment on a pull request, plain values


COMPARISON_SCHEMA = "dmlcheck-comparison/1"
MOST_CHARACTERS = 60_000  # of Markdown: GitHub takes 65,536 in a comment
_MOST_LISTED = 50  # cases under one heading
_MOST_NAME = 300  # characters
_END_OF_LIST = 200  # characters for the text after a shortened list

# The printed lists, the most important first: their key and their heading.
_LISTS = (
    ("newly_failing", "Newly failing"),
    ("fixed", "Fixed"),
    ("still_failing", "Still failing"),
    ("changed", "Other changes"),
    ("grown", "Larger errors"),
    ("added", "New"),
    ("gone", "Gone"),
)
_FOLDED = ("still_failing", "changed", "added", "gone")  # in Markdown: cases that are not due to this change


# ---- text


def changes_lines(found: Changes, *, is_whole: bool = False) -> Iterator[str]:
    """Yield the changes as text; with `is_whole`, lists of any length."""
    yield f"old: {_run_text(found.old)}"
    yield f"new: {_run_text(found.new)}"
    for key, title in _LISTS:
        rows: Sequence[Change | Growth] = getattr(found, key)
        if not rows:
            continue
        yield ""
        yield f"{title} ({len(rows):,})"
        shown = rows if is_whole else rows[:_MOST_LISTED]
        yield from (f"  {visible(_row_text(row))}" for row in shown)
        if len(rows) > len(shown):
            yield f"  and {len(rows) - len(shown):,} more; -v lists all"
    yield ""
    yield summary_text(found)


def _run_text(run: ReportedRun) -> str:
    named = " ".join(filter(None, (run.implementation, run.version)))
    device = f" ({run.device})" if run.device else ""
    level = run.feature_level
    parts = [
        f"{run.file}: {named}{device}",
        *([] if level is None else [level_name(level) if level in LEVELS else level]),
        *([] if run.tool is None else [f"dmlcheck {run.tool}"]),
        counted(run.cases, "case"),
        *([] if run.is_whole else ["not run to its end"]),
    ]
    return visible(", ".join(cut(part, _MOST_NAME) for part in parts))


def _row_text(row: Change | Growth) -> str:
    if isinstance(row, Growth):
        return f"{row.case} {row.output}  {_growth_text(row)}"
    return "  ".join(filter(None, (row.id, _outcome_text(row), _said(row))))


def _growth_text(row: Growth) -> str:
    """Return a largest error before and after, in ULP; in units for integers, of which older reports do not tell."""
    return f"largest error {figure(row.old_ulp)}, now {figure(row.new_ulp)}"


def _outcome_text(change: Change) -> str:
    """Return how a case ended before and after; one outcome if the case is in one run only."""
    old, new = (None if case is None else case.outcome for case in (change.old, change.new))
    if old is None:
        return f"new, {new}"
    if new is None:
        return f"was {old}"
    return str(new) if old == new else f"{old}, now {new}"


def _said(change: Change) -> str:
    """Return the reason for the outcome of a case that does not pass."""
    case = change.new
    if case is None or case.outcome == PASSED:
        return "" if case is None or not case.fails else "less accurate than its run allows"
    return f"{case.rule}: {case.message}" if case.rule else case.message


def summary_text(found: Changes) -> str:
    """Return the numbers of changes as a sentence: `12 cases compared: 1 newly failing, 2 fixed`."""
    counts = {
        "newly failing": found.newly_failing,
        "fixed": found.fixed,
        "still failing": found.still_failing,
        "otherwise changed": found.changed,
        "new": found.added,
        "gone": found.gone,
    }
    said = [f"{len(rows):,} {name}" for name, rows in counts.items() if rows]
    if found.grown:
        said.append(f"{counted(len(found.grown), 'output')} with an error {found.max_drift:g} times as large or more")
    return f"{counted(found.compared, 'case')} compared: {', '.join(said) or 'no change'}"


# ---- Markdown


def changes_markdown(found: Changes) -> str:
    """Return the changes as Markdown that fits into a comment of a pull request, with long lists shortened."""
    head = [
        f"## dmlcheck: {_marked(summary_text(found))}\n",
        "\n",
        f"- old: {_marked(_run_text(found.old))}\n",
        f"- new: {_marked(_run_text(found.new))}\n",
    ]
    lists = [(key, title, getattr(found, key)) for key, title in _LISTS if getattr(found, key)]
    room = MOST_CHARACTERS - sum(map(len, head)) - _END_OF_LIST * len(lists)
    parts = head
    for key, title, rows in lists:
        shown: list[str] = []
        for row in rows[:_MOST_LISTED]:
            if isinstance(row, Growth):
                cells = [f"<code>{_marked(row.case)}</code>", _marked(row.output), _marked(_growth_text(row))]
            else:
                outcomes = ("" if case is None else case.outcome for case in (row.old, row.new))
                cells = [f"<code>{_marked(row.id)}</code>", *outcomes, _marked(_said(row))]
            line = f"| {' | '.join(cells)} |\n"
            if len(line) > room:
                break
            room -= len(line)
            shown.append(line)
        parts += _section(key, f"{title} ({len(rows):,})", shown, len(rows) - len(shown))
    return "".join(parts)


def _section(key: str, title: str, shown: Sequence[str], left: int) -> Iterator[str]:
    is_folded = key in _FOLDED
    yield f"\n<details><summary>{title}</summary>\n\n" if is_folded else f"\n### {title}\n\n"
    if shown:
        head = ("case", "output", "error") if key == "grown" else ("case", "before", "now", "why")
        yield f"| {' | '.join(head)} |\n|{' --- |' * len(head)}\n"
        yield from shown
    if left:
        yield f"\n{left:,} more: see the JSON reports.\n"
    if is_folded:
        yield "\n</details>\n"


_ADDRESS = re.compile(r"(?<=\w):(?=//)|(?<=www)\.")


def _marked(text: str) -> str:
    """Return a text as Markdown shows it as it is: no markup, no name of a person, no address made a link."""
    return _ADDRESS.sub(lambda found: f"&#{ord(found[0])};", markdown(visible(cut(text, _MOST_NAME))))


# ---- plain values


def changes_dict(found: Changes) -> dict[str, Any]:
    """Return the report of `compare --format json`."""
    lists = {
        "newly_failing": found.newly_failing,
        "fixed": found.fixed,
        "still_failing": found.still_failing,
        "changed": found.changed,
        "new": found.added,
        "gone": found.gone,
    }
    counts = {name: len(rows) for name, rows in lists.items()}
    return {
        "schema": COMPARISON_SCHEMA,
        "runs": {"old": _run_dict(found.old), "new": _run_dict(found.new)},
        "max_drift": found.max_drift,
        "summary": {"compared": found.compared, **counts, "grown": len(found.grown)},
        **{name: [_change_dict(change) for change in rows] for name, rows in lists.items()},
        "grown": [growth._asdict() for growth in found.grown],
    }


def _run_dict(run: ReportedRun) -> dict[str, Any]:
    return {
        "file": run.file,
        "tool": run.tool,
        "implementation": run.implementation,
        "implementation_version": run.version,
        "device": run.device,
        "feature_level": run.feature_level,
        "cases": run.cases,
        "whole": run.is_whole,
    }


def _change_dict(change: Change) -> dict[str, Any]:
    old, new = change.old, change.new
    return {
        "id": change.id,
        "old": None if old is None else old.outcome,
        "new": None if new is None else new.outcome,
        "rule": None if new is None else new.rule,
        "message": None if new is None else new.message or None,
    }


# ---- the command


@click.command(
    epilog=examples(
        "run cases/ --json new.json",
        "compare old.json new.json",
        "compare old.json new.json --format markdown > comment.md",
    )
)
@click.argument("old", metavar="OLD.json", shell_complete=complete_files)
@click.argument("new", metavar="NEW.json", shell_complete=complete_files)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print it; markdown is for the comment of a pull request.",
)
@click.option(
    "--max-drift",
    type=Number(),
    default=GROWTH,
    show_default=True,
    metavar="X",
    help="Name the outputs whose largest error became X times as large or more.",
)
@click.option("-v", "--verbose", is_flag=True, help="List all cases, not the first 50 of a kind; for text.")
def compare(*, old: str, new: str, form: str, max_drift: float, verbose: bool) -> None:
    """Print the changes between the JSON reports of two runs: the cases that newly fail, and those that are fixed.

    A case is the same if its id is. Exits with 1 if a case fails that did not fail before.
    """
    if max_drift < 1:
        raise click.UsageError(f"--max-drift: {max_drift:g} is no growth; give a number from 1 on")
    try:
        found = changes(old, new, max_drift)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        print_json(changes_dict(found))
    elif form == "markdown":
        write(changes_markdown(found), end="")
    else:
        write("\n".join(changes_lines(found, is_whole=verbose)))
    if found.newly_failing:
        sys.exit(Exit.FAILED)
    if not found.compared:
        write(f"dmlcheck: nothing was compared: {_why_nothing(found)}", to_errors=True)
        sys.exit(Exit.NOTHING_CHECKED)
    sys.exit(Exit.GOOD)


def _why_nothing(found: Changes) -> str:
    if found.old.cases and found.new.cases and found.new.cases == len(found.added):
        return "no case is in both reports; ids begin with the path as the command line of the run gives it"
    return "no case was run, and not skipped, in both reports"
