"""A campaign of draws as text: each finding when it is made, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dmlcheck import __version__
from dmlcheck.diagnostics.wording import counted, cut, visible
from dmlcheck.fuzzing.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.fuzzing.reducing import Failing, Reduced, Taken
from dmlcheck.reports.layout import Style
from dmlcheck.specs.names import level_name, short_operator

_MOST_REASONS = 5
_LONG = 110  # characters of a reason


def head_lines(asked: CampaignRequest, judged: str) -> Iterator[str]:
    """Yield the head of a campaign: the implementation, the operators, the level and the seed."""
    named = asked.operators
    which = ", ".join(map(short_operator, named)) if len(named) <= _MOST_REASONS else counted(len(named), "operator")
    invalid = ", every second desc invalid" if asked.with_invalid else ""
    yield f"dmlcheck {__version__}, {visible(judged)}"
    kind = "all inputs" if asked.is_exhaustive else "graphs" if asked.is_of_graphs else "draws"
    yield f"{kind} of {which} at {level_name(asked.level)}, seed {asked.seed}{invalid}"


def finding_lines(found: CampaignFinding, style: Style) -> Iterator[str]:
    """Yield a finding: what is wrong, why it may be, and where its case or its model is."""
    rule = found.answer.difference.rule if found.answer.difference is not None else ""
    yield style(f"FOUND {short_operator(found.operator)}: {rule}", "red")
    yield f"  {visible(found.answer.message)}"
    if found.answer.cause:
        yield f"  likely cause: {visible(found.answer.cause)}"
    flaky = "; it failed only now and then" if found.is_flaky else ""
    reduced = "" if found.is_flaky or not found.trials else f"; reduced by {counted(found.trials, 'trial')}"
    reduced += "" if found.is_whole or found.is_flaky else " before the time ran out"
    yield f"  {visible(found.path)}: {visible(found.work)}{reduced}{flaky}"


def summary_lines(
    tally: CampaignTally, expected: Counter[str] | None = None, *, again: str, is_interrupted: bool = False
) -> Iterator[str]:
    """Yield how a campaign ended; `expected` has the draws that failed as an entry expects, by its reason.

    `again` is the command that runs what was written, "" without any.
    """
    for reason, count in _grouped(tally.reasons).most_common(_MOST_REASONS):
        yield f"skipped {counted(count, 'draw')}: {visible(cut(reason, _LONG))}"
    if tally.undrawn:
        yield f"no valid desc came of {counted(tally.undrawn, 'draw')}"
    for reason, count in (expected or Counter()).most_common():
        yield f"{counted(count, 'draw')} failed as expected: {visible(cut(reason, _LONG))}"
    draws = f"{counted(tally.draws, 'draw')}, {_counts(tally)}, in {tally.seconds:.2f} s"
    repeated = sum(tally.repeated.values())
    if repeated:
        yield f"{counted(repeated, 'more draw')} failed by the same faults, or by faults past the limit for an operator"
    yield f"interrupted: {draws}" if is_interrupted else draws
    if again:
        yield f"to see them fail: {again}"


def progress_text(tally: CampaignTally) -> str:
    """Return the progress of a campaign: `1,000 draws in 12 s (83 a second), 950 compared, 1 finding`."""
    rate = f"{tally.draws / tally.seconds:,.0f} a second" if tally.seconds > 0 else "now"
    return f"{counted(tally.draws, 'draw')} in {tally.seconds:.0f} s ({rate}), {_counts(tally)}"


def _counts(tally: CampaignTally) -> str:
    invalid = f", {tally.invalid:,} of them invalid" if tally.invalid else ""
    return f"{tally.compared:,} compared{invalid}, {counted(len(tally.findings), 'finding')}"


def _grouped(reasons: Counter[str]) -> Counter[str]:
    """Return reasons by their first words, since the rest of them names the tensors of each desc."""
    found: Counter[str] = Counter()
    for reason, count in reasons.items():
        found[" ".join(reason.split())] += count
    return found


def reduced_lines(name: str, start: Failing | Taken, found: Reduced) -> Iterator[str]:
    """Yield the result of the reduction of a case."""
    rule = start.answer.difference.rule if start.answer.difference is not None else ""
    yield f"{name}: {rule}: {found.failing.answer.message}"
    counts = (sum(part.tensor.element_count for part in one.desc.tensors()) for one in (start, found.failing))
    sizes = " to ".join(f"{count:,}" for count in counts)
    if found.is_interrupted:
        ending = "interrupted: more may go"
    elif found.is_whole:
        ending = "nothing more can go"
    else:
        ending = "the time was up: more may go with a larger --seconds"
    yield f"from {sizes} elements by {counted(found.trials, 'trial')}; {ending}"
