"""Which planted faults the shipped cases notice: `python tests/faults.py [FAULT...] [OPERATOR...]`.

For each fault and operator it draws valid descs with values, to see whether the fault matters there: whether it changes
a result by more than its tolerance. Then it runs the shipped cases with the fault, until one notices it, as `run
--strict` would. It prints the share that is noticed and every pair that is not; `-v` every pair. `--page` writes the
tables of the guide's page (guide/faults.md).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import drawn_descs
import faults_page
import numpy as np
from planted import Fault, equal, faults_of
from shipped import cases_of

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import Limit, limit_for
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.drawing.units import laid
from dmlcheck.drawing.values import STYLES, drawn_values
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.running.undefined_elements import masks_of
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.records import OUTPUT

Array = np.ndarray[Any, Any]
DRAWS = 120
MOST = 1 << 23  # elements of a case that is tried


class Judged(NamedTuple):
    """A desc with inputs, and what is right of it."""

    name: str
    desc: OperatorDesc
    inputs: dict[str, Any]
    expected: Mapping[str, tuple[TensorDesc, Array]]
    undefined: Mapping[str, Array]
    limit: Limit

    def fails(self, actual: Mapping[str, Array]) -> bool:
        """Whether outputs are beyond the tolerance, or beyond the likely error."""
        if all(equal(values, actual[label]).all() for label, (_, values) in self.expected.items()):
            return False

        def bounds_of(asked: Mapping[str, Any], *, is_likely: bool = False) -> Any:
            return bounds(self.desc, self.inputs, asked, self.limit.precision, is_likely=is_likely)

        with np.errstate(all="ignore"):
            compared = compare(self.expected, actual, self.limit, bounds_of, self.undefined)
        found = [output for output, _ in compared.values()]
        return any(output.mismatches or output.unlikely or output.systematic for output in found)

    def notices(self, fault: Fault) -> bool:
        """Whether the outputs with a fault fail."""
        actual = fault.act(self.desc, self.inputs)
        return actual is not None and self.fails(actual)


class Pair(NamedTuple):
    """A fault and an operator: whether it matters, and the case that notices it."""

    fault: str
    operator: str
    matters: bool
    case: str | None = None

    @property
    def is_missed(self) -> bool:
        """Whether the fault matters, and no case notices it."""
        return self.matters and self.case is None


def draws(operator: str, count: int = DRAWS) -> Iterator[Judged]:
    """Yield random descs with values."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    profiles = (drawn_descs.SMALL, drawn_descs.LARGE, drawn_descs.LONG)
    for number in range(count):
        desc = drawn_descs.drawn(operator, generator, profiles[number % 3])
        if desc is None:
            continue
        if number % 4 == 3:
            desc = laid(desc, drawn_descs.from_generator(generator))
        inputs = drawn_values(desc, generator, STYLES[number // 3 % 4])
        if inputs is not None:
            judged = right_of(f"draw {number}", desc, inputs)
            if judged is not None:
                yield judged


def right_of(name: str, desc: OperatorDesc, inputs: dict[str, Any]) -> Judged | None:
    """Return a desc with what the reference gives, None where it gives nothing."""
    try:
        computed = engine.evaluate(desc, inputs)
    except Exception:  # noqa: BLE001 - a desc that the engine has no result for decides nothing
        return None
    expected = {part.label: (part.tensor, computed[part.label].values) for part in desc.tensors(OUTPUT)}
    return Judged(name, desc, inputs, expected, masks_of(computed), limit_for(desc, None))


def shipped(operator: str) -> Iterator[Judged]:
    """Yield the shipped cases of an operator that run, those with random values first."""
    cases = [case for case in cases_of(operator) if case.inputs is not None and not case.is_negative]
    for case in sorted(cases, key=lambda case: case.outputs is not None):
        judged = of_case(case)
        if judged is not None:
            yield judged


def of_case(case: Case) -> Judged | None:
    """Return a case with what it expects, or else what the reference gives."""
    prepared = prepare(case)
    if prepared.desc is None or prepared.findings:
        return None
    if sum(part.tensor.element_count for part in prepared.desc.tensors()) > MOST:
        return None
    found = right_of(case.id, prepared.desc, prepared.inputs)
    if found is None:
        return None
    limit = limit_for(prepared.desc, case.tolerance)
    undefined = {**found.undefined}
    for label, mask in prepared.is_any.items():
        undefined[label] = mask | undefined[label] if label in undefined else mask
    return found._replace(expected=prepared.expected or found.expected, limit=limit, undefined=undefined)


def first_noticing(some: Iterator[Judged], faults: Mapping[str, Fault]) -> dict[str, str]:
    """Return which faults are noticed by any, each with the first that does."""
    left, found = dict(faults), {}
    for judged in some:
        for name, fault in list(left.items()):
            if judged.notices(fault):
                found[name] = judged.name
                del left[name]
        if not left:
            break
    return found


def measured(operator: str, chosen: tuple[str, ...] = (), count: int = DRAWS) -> list[Pair]:
    """Return all pairs of an operator."""
    warnings.simplefilter("ignore")
    faults = {name: fault for name, fault in faults_of(operator).items() if is_chosen(fault, chosen)}
    with np.errstate(all="ignore"):
        noticed = first_noticing(shipped(operator), faults)
        rest = {name: fault for name, fault in faults.items() if name not in noticed}
        mattering = first_noticing(draws(operator, count), rest) if rest else {}
    short = load_spec(operator).short
    return [Pair(name, short, name in noticed or name in mattering, noticed.get(name)) for name in faults]


def is_chosen(fault: Fault, chosen: tuple[str, ...]) -> bool:
    """Whether a fault is one of those that were asked for."""
    return not chosen or fault.name in chosen or fault.kind in chosen


def measure(operators: list[str], chosen: tuple[str, ...], count: int, jobs: int) -> Iterator[list[Pair]]:
    """Yield the pairs of each operator, from several processes."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(measured, chosen=chosen, count=count), operators)


def main(arguments: list[str] | None = None) -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FAULT|OPERATOR")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every pair")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=DRAWS, help="how many descs decide whether a fault matters")
    parser.add_argument("--page", action="store_true", help="write the tables of the guide's page")
    options = parser.parse_args(arguments)
    operators = [name for name in map(full_name, options.names) if name is not None] or list(operator_names())
    chosen = tuple(name for name in options.names if full_name(name) is None)
    start = time.perf_counter()
    pairs: list[Pair] = []
    for found in measure(operators, chosen, options.draws, options.jobs):
        pairs.extend(found)
        sys.stdout.write("".join(line_of(pair) for pair in found if pair.is_missed or options.verbose))
        sys.stdout.flush()
    sys.stdout.write(f"{counted(pairs)}, in {time.perf_counter() - start:.0f} s\n")
    if options.page:
        faults_page.write(pairs)


def counted(pairs: list[Pair]) -> str:
    """Return how many of the pairs that matter are noticed, in words."""
    mattering = [pair for pair in pairs if pair.matters]
    noticed = sum(not pair.is_missed for pair in mattering)
    share = noticed / max(1, len(mattering))
    return f"{noticed:,} of {len(mattering):,} pairs that matter are noticed ({share:.2%})"


def line_of(pair: Pair) -> str:
    """Return a line about a pair."""
    verdict = f"noticed by {pair.case}" if pair.case else "MISSED" if pair.matters else "does not matter"
    return f"{pair.operator:40} {pair.fault:34} {verdict}\n"


if __name__ == "__main__":
    main()
