"""After how many draws of `dmlcheck fuzz` the planted faults are found, of those that matter to an operator.

`python tests/fuzz_faults.py [--draws 2000] [OPERATOR...]` prints the faults that the shipped cases notice and no draw
does. A fault is found by the first draw whose outputs fail with it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator

import faults
import numpy as np
from planted import faults_of

from dmlcheck.drawing.units import Unit, drawn_unit
from dmlcheck.specs.load import full_name, load_spec, operator_names

DRAWS = 2000


def draws(operator: str, count: int, seed: int = 0) -> Iterator[faults.Judged]:
    """Yield the draws of a campaign, each with what is right, named by its number."""
    for number in range(count):
        drawn = drawn_unit(Unit(operator, seed, number))
        judged = None if drawn is None else faults.right_of(str(number), drawn.desc, drawn.inputs)
        if judged is not None:
            yield judged


def found(operator: str, count: int, chosen: tuple[str, ...] = ()) -> dict[str, int]:
    """Return the faults of an operator that draws find, each with the number of the first draw that does."""
    warnings.simplefilter("ignore")
    some = {name: fault for name, fault in faults_of(operator).items() if faults.is_chosen(fault, chosen)}
    with np.errstate(all="ignore"):
        return {name: int(at) for name, at in faults.first_noticing(draws(operator, count), some).items()}


def missed(operator: str, count: int) -> tuple[int, list[str]]:
    """Return how many faults the draws find, and which the shipped cases notice and the draws do not."""
    by_draws = found(operator, count)
    rest = {name: fault for name, fault in faults_of(operator).items() if name not in by_draws}
    with np.errstate(all="ignore"):
        return len(by_draws), sorted(faults.first_noticing(faults.shipped(operator), rest))


def main(arguments: list[str] | None = None) -> None:
    """Print what is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args(arguments)
    names = [name for name in map(full_name, options.names) if name] or operator_names()
    total, lost = 0, 0
    for name in names:
        count, without = missed(name, options.draws)
        total, lost = total + count, lost + len(without)
        sys.stdout.write(f"{load_spec(name).short}: {count} found; missed: {', '.join(without) or 'none'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total} of {total + lost} faults that matter are found within {options.draws} draws\n")


if __name__ == "__main__":
    main()
