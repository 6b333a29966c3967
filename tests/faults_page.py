"""The tables of the guide's page on planted faults: what is noticed, and what is not, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from marked_lines import with_lines
from planted import faults_of

from dmlcheck.specs.load import full_name

PAGE = Path(__file__).parent.parent / "dmlcheck" / "guide" / "faults.md"
BEGIN, END = "<!-- the tables: written by tests/faults.py --page -->", "<!-- the end of the tables -->"

REASONS: dict[tuple[str, str], str] = {}  # why a pair of a fault and an operator is not noticed


class Pair(Protocol):
    """What the page needs of a pair of a fault and an operator."""

    fault: str
    operator: str
    matters: bool
    is_missed: bool


def write(pairs: Iterable[Pair]) -> None:
    """Replace the tables of the page."""
    text = with_lines(PAGE.read_text(encoding="utf-8"), BEGIN, tables(list(pairs)), END)
    PAGE.write_text(text, encoding="utf-8", newline="\n")


def tables(pairs: list[Pair]) -> Iterator[str]:
    """Yield the lines of both tables."""
    kinds: dict[str, list[Pair]] = {}
    for pair in pairs:
        kinds.setdefault(pair.fault.partition(":")[0], []).append(pair)
    missed, mattering = (sum(getattr(pair, name) for pair in pairs) for name in ("is_missed", "matters"))
    share = 1 - missed / mattering
    yield f"{mattering - missed:,} of {mattering:,} pairs that matter are noticed ({share:.2%})."
    yield "\n| Fault | Where it happens | Pairs that matter | Noticed |"
    yield "|---|---|---:|---:|"
    for kind, found in kinds.items():
        of_kind = [pair for pair in found if pair.matters]
        noticed = sum(not pair.is_missed for pair in of_kind)
        yield f"| `{kind}` | {where(found[0])} | {len(of_kind)} | {noticed} |"
    if not missed:
        return
    yield "\nThese pairs are not noticed:\n"
    yield "| Fault | Operator | Reason |"
    yield "|---|---|---|"
    for pair in sorted((pair for pair in pairs if pair.is_missed), key=lambda pair: (pair.fault, pair.operator)):
        yield f"| `{pair.fault}` | {pair.operator} | {REASONS[pair.fault, pair.operator]} |"


def where(pair: Pair) -> str:
    """Return where a fault happens in real kernels."""
    return faults_of(str(full_name(pair.operator)))[pair.fault].where
