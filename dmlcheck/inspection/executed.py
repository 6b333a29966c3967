"""How many of the shipped cases agree with DirectML itself: the runs on it that executed.yaml has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.files import yaml
from dmlcheck.specs.names import short_operator

FILE = os.path.join(os.path.dirname(__file__), "executed.yaml")


class CaseCounts(NamedTuple):
    """How cases with values ended on DirectML: those that agree, and those that do not or were not computed."""

    agreed: int = 0
    known_deviations: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    @property
    def asked(self) -> int:
        """The number of cases that were not skipped."""
        return sum(self) - self.skipped


class ExecutedRun(NamedTuple):
    """A run of the shipped cases on a release of DirectML, on a device: its counts by the operators' short names."""

    directml: str
    device: str
    date: str
    operators: Mapping[str, CaseCounts]

    def counts(self, operator: str | None = None) -> CaseCounts:
        """Return the counts of an operator, or of all."""
        if operator is not None:
            return self.operators.get(short_operator(operator), CaseCounts())
        return CaseCounts(*map(sum, zip(*self.operators.values(), strict=True)))


@cache
def executed_runs() -> tuple[ExecutedRun, ...]:
    """Return the runs, the newest release first."""
    return read_runs(FILE)


def read_runs(path: str) -> tuple[ExecutedRun, ...]:
    """Return the runs that a file has."""
    document = yaml.read(path)
    if document.problems:
        raise ValueError(document.problems[0].message)
    return tuple(
        ExecutedRun(**{**row, "operators": {name: CaseCounts(**counts) for name, counts in row["operators"].items()}})
        for row in document.value or ()
    )


def runs_of(operator: str, runs: Iterable[ExecutedRun] | None = None) -> list[tuple[ExecutedRun, CaseCounts]]:
    """Return the runs, of all or of some, that have cases of an operator, with the counts of these."""
    among = executed_runs() if runs is None else runs
    return [(run, counts) for run in among if any(counts := run.counts(operator))]


def executed_dict(run: ExecutedRun, counts: CaseCounts) -> dict[str, Any]:
    """Return the counts of an operator in a run for JSON."""
    about = {name: value for name, value in run._asdict().items() if name != "operators"}
    return {**about, "cases": counts.asked, **counts._asdict()}
