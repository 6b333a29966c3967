"""Reports: what happened, written for people and for programs. They take results and decide nothing."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from dmlcheck.model import OUTCOMES, CaseResult


class Summary(NamedTuple):
    """How a run ended: the number of cases by outcome, and the seconds it took.

    `digest` stands for the whole case set, of which a shard runs a part; None where the run did not see all of it.
    """

    counts: dict[str, int]
    seconds: float
    interrupted: bool = False
    digest: str | None = None

    @property
    def total(self) -> int:
        """The number of cases that have a result."""
        return sum(self.counts.values())

    @classmethod
    def empty(cls) -> Summary:
        """Return the summary of a run that has not begun."""
        return cls(dict.fromkeys(OUTCOMES, 0), 0.0)


class RunInfo(NamedTuple):
    """What a run is of: the implementation, the feature level that it was limited to, and its shard (1 of 3).

    `version` and `device` are what the implementation says of itself, "" where it says nothing.
    """

    implementation: str
    feature_level: str | None = None
    shard: tuple[int, int] | None = None
    version: str = ""
    device: str = ""


class Reporter(Protocol):
    """Takes the results of a run one by one, in order.

    A reporter keeps no results: a run may have any number of cases. Where it writes a file it goes through
    `reports.files.ReportFile`, as `file`.
    """

    def case(self, result: CaseResult) -> None:
        """Take the result of one case."""

    def finish(self, summary: Summary) -> None:
        """Take the end of the run; called on interruption too."""


def tally(summary: Summary) -> str:
    """Return the outcomes in words: `12 passed, 1 failed`."""
    counted = [f"{count} {outcome}" for outcome, count in summary.counts.items() if count]
    return ", ".join(counted) or "nothing ran"
