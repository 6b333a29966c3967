"""The acceptance suite: right implementations must pass, and numeric faults must be noticed. Needs PyTorch.

`python tests/acceptance_page.py [OPERATOR...]` computes FLOAT32 cases of each operator by PyTorch in several right ways
and with planted faults, and judges what comes out. It prints a line for each operator, and everything that is not as it
should be, for which it exits with 1. `--page` writes the tables of the guide's page (guide/acceptance.md).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from acceptance.faults import faults
from acceptance.known import MISSED, STRICTLY_REFUSED, why_missed
from acceptance.measuring import Measured, Noticed, measured
from acceptance.ways import OPERATORS
from marked_lines import with_lines

PAGE = Path(__file__).parent.parent / "dmlcheck" / "guide" / "acceptance.md"
BEGIN, END = "<!-- the tables: written by tests/acceptance_page.py --page -->", "<!-- the end of the tables -->"


def problems(found: Measured) -> Iterator[str]:
    """Yield what is not as it should be of an operator."""
    for refused in found.refused:
        judged = refused.judged
        if judged.fails or (found.operator, refused.way) not in STRICTLY_REFUSED:
            verb = "fails" if judged.fails else "fails with --strict"
            shares = (
                f"tolerance {judged.share:.3g}, likely error {judged.likely:.3g}, as a whole {judged.systematic:.3g}"
            )
            yield f"right way {refused.way} {verb}: {refused.case}; {shares}"
    for noticed in found.noticed:
        if not noticed.fails_strictly and why_missed(noticed.fault, noticed.operator) is None:
            yield f"fault {noticed.fault} is noticed by none of {noticed.matters} cases"


def line_of(found: Measured) -> str:
    """Return a line about an operator, and what is not as it should be."""
    noticed = sum(bool(each.fails_strictly) for each in found.noticed)
    words = [
        f"{found.operator:34} {found.cases:3} cases, {found.ways} ways",
        f"tolerance {found.share:.2g}, likely error {found.likely:.2g}, as a whole {found.systematic:.2g}",
        f"smallest fault {power(found.smallest)}, with --strict {power(found.smallest_strictly)}",
        f"{noticed} of {len(found.noticed)} faults noticed",
    ]
    return "".join(f"{line}\n" for line in ("; ".join(words), *(f"    {problem}" for problem in problems(found))))


def power(exponent: int | None) -> str:
    """Return a power of two in words."""
    return "none" if exponent is None else f"2^-{exponent}"


def stale(every: list[Measured]) -> Iterator[str]:
    """Yield what is expected in acceptance/known.py, and is not so any more."""
    refused = {(each.operator, one.way) for each in every for one in each.refused}
    for operator, way in STRICTLY_REFUSED:
        if (operator, way) not in refused and any(each.operator == operator for each in every):
            yield f"{operator}: right way {way} is not refused"
    tallies = [tally for each in every for tally in each.noticed if not tally.fails_strictly]
    for fault, glob in MISSED if len(every) == len(OPERATORS) else ():
        if not any(tally.fault == fault and fnmatchcase(tally.operator, glob) for tally in tallies):
            yield f"{glob}: fault {fault} is noticed"


# ---- the page


def write(every: list[Measured]) -> None:
    """Replace the tables of the page."""
    text = with_lines(PAGE.read_text(encoding="utf-8"), BEGIN, tables(every), END)
    PAGE.write_text(text, encoding="utf-8", newline="\n")


def tables(every: list[Measured]) -> Iterator[str]:
    """Yield the lines of the tables."""
    cases, ways = sum(each.cases for each in every), sum(each.cases * each.ways for each in every)
    yield f"{len(every)} operators, {cases:,} cases, {ways:,} results of right implementations.\n"
    yield "| Operator | Cases | Ways | Tolerance | Likely error | Whole output | Smallest fault | With `--strict` |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for each in every:
        shares = map(share, (each.share, each.likely, each.systematic))
        cells = *shares, power(each.smallest), power(each.smallest_strictly)
        yield f"| {each.operator} | {each.cases} | {each.ways} | {' | '.join(cells)} |"
    by_fault: dict[str, list[Noticed]] = {name: [] for name in faults()}
    for each in every:
        for noticed in each.noticed:
            by_fault[noticed.fault].append(noticed)
    yield "\n| Fault | Where it happens | Operators | Noticed | With `--strict` |"
    yield "|---|---|---:|---:|---:|"
    for name, tallies in by_fault.items():
        counts = [sum(bool(getattr(tally, key)) for tally in tallies) for key in ("fails", "fails_strictly")]
        yield f"| `{name}` | {faults()[name].where} | {len(tallies)} | {counts[0]} | {counts[1]} |"
    yield "\nThese faults are not noticed, not even with `--strict`:\n"
    yield "| Fault | Operators | Reason |"
    yield "|---|---|---|"
    missed: dict[tuple[str, str], list[str]] = {}
    for tally in (tally for tallies in by_fault.values() for tally in tallies if not tally.fails_strictly):
        missed.setdefault((tally.fault, why_missed(tally.fault, tally.operator) or "?"), []).append(tally.operator)
    for (name, why), operators in missed.items():
        yield f"| `{name}` | {', '.join(operators)} | {why} |"


def share(value: float) -> str:
    """Return a share for the table."""
    return f"{value:.2g}" if value else "0"


def measure(operators: list[str], jobs: int, seed: int = 0) -> Iterator[Measured]:
    """Yield what is measured of each operator, from several processes."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(measured, seed=seed), operators)


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="draw other cases; the page has those of seed 0")
    parser.add_argument("--page", action="store_true", help="write the tables of the guide's page")
    options = parser.parse_args(arguments)
    start, every = time.perf_counter(), []
    for found in measure(options.operators or list(OPERATORS), options.jobs, options.seed):
        every.append(found)
        sys.stdout.write(line_of(found))
        sys.stdout.flush()
    gone = [] if options.seed else list(stale(every))
    sys.stdout.write("".join(f"known.py: {line}\n" for line in gone))
    count = len(gone) + sum(1 for each in every for _ in problems(each))
    sys.stdout.write(f"{count} problems, in {time.perf_counter() - start:.0f} s\n")
    if options.page and not options.seed:
        write(every)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
