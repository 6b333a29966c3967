"""Every attribute of every operator at its extremes, with little memory: `python tests/extremes.py [OPERATOR...]`.

Prints a line for each valid desc that is neither computed nor refused as too much work, and the number of those that
were computed. tests/test_extremes.py runs it in a process of its own.
"""

from __future__ import annotations

import copy
import math
import re
import resource
import signal
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import dmlcheck
from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import ENUMS
from dmlcheck.specs.records import Field

CASES = Path(__file__).parents[1] / "cases"
MEMORY = 3 << 29  # bytes of address space beside what the process has when it begins
SECONDS = 5
PAIRS = 16  # of an operator's extremes, drawn
MOST_OUTPUTS = 2_000  # elements of an output that is made to fit

LARGEST = 3.4028234663852886e38
COUNTS = [0, 1, 2, 30_000, 2**31 - 1, 2**32 - 1]
NUMBERS: dict[str, list[Any]] = {
    "UINT": COUNTS,
    "INT": [0, 1, -1, 2**31 - 1, -(2**31)],
    "UINT64": [0, 1, 2**63, 2**64 - 1],
    "FLOAT": [0.0, 1.0, -1.0, LARGEST, -LARGEST, 1e-45, math.nan, math.inf, -math.inf],
    "SCALAR_UNION": [0, 1, 255, -128, 2**31 - 1, 2**63 - 1, -(2**63), 2**64 - 1, LARGEST, math.nan, math.inf],
    "SCALE_BIAS": [{"Scale": scale, "Bias": bias} for scale in (0.0, LARGEST, math.nan) for bias in (0.0, math.inf)],
    "SIZE_2D": [{"Width": width, "Height": height} for width in (0, 1, 2**32 - 1) for height in (1, 30_000)],
}


def extremes(field: Field, now: Any) -> list[Any]:
    """Return the extreme values of an attribute, of an array with all elements and with the first one so."""
    if field.boolean:
        return [False, True]
    if field.enum is not None:
        return list(ENUMS[field.enum])
    numbers = NUMBERS.get(field.type.removesuffix("_ARRAY"), [])
    if field.type.endswith("_ARRAY") and isinstance(now, list):
        return [made for x in numbers for made in ([x] * len(now), [x, *now[1:]])]
    return numbers


def changes(operator: str, desc: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what to change of a desc: one attribute, without an optional one, and some pairs of numbers."""
    attributes = [field for field in load_spec(operator).fields.values() if not field.is_tensor]
    numbers = []
    for field in attributes:
        for value in extremes(field, desc.get(field.name)):
            numbers.append((field.name, value))
            yield {field.name: value}
        if field.optional:
            yield {field.name: None}
    pairs = [{**dict([first]), **dict([second])} for first, second in combinations(numbers, 2) if first[0] != second[0]]
    count = min(len(pairs), PAIRS * (4 if "StartPadding" in desc else 1))
    yield from (pairs[at] for at in np.random.default_rng(1).permutation(len(pairs))[:count])


def fitting(desc: dict[str, Any]) -> dict[str, Any] | None:
    """Return a desc of windows with outputs of the sizes that these leave, unless they are large."""
    size = desc.get("WindowSize") or desc.get("WindowSizes") or desc.get("FilterTensor", {}).get("Sizes", [])[2:]
    if not size or desc.get("Direction") == "BACKWARD" or "OutputTensor" not in desc:
        return None
    ones, zeros = [1] * len(size), [0] * len(size)
    rows = [desc.get(name) or other for name, other in (("Strides", ones), ("Dilations", ones))]
    rows += [desc.get(name) or zeros for name in ("StartPadding", "EndPadding")]
    sizes = desc["InputTensor"]["Sizes"]
    given = zip(sizes[2:], size, *rows, strict=True)
    counts = [(x + start + end - (w - 1) * gap - 1) // max(1, s) + 1 for x, w, s, gap, start, end in given]
    own = desc["OutputTensor"]["Sizes"]
    found = [*own[:2], *counts]
    if "WindowSizes" in desc:
        found = [own[0], sizes[1] * math.prod(size), math.prod(counts)]
    if min(counts) < 1 or math.prod(found) > MOST_OUTPUTS:
        return None
    tensors = {name: desc[name] for name in ("OutputTensor", "OutputIndicesTensor") if desc.get(name)}
    return desc | {name: {"DataType": of["DataType"], "Sizes": found} for name, of in tensors.items()}


def smallest(operator: str) -> Case:
    """Return the shipped case with the smallest valid desc and values for all inputs, outputs of all fields first."""
    found = []
    for case in dmlcheck.load_cases(CASES / operator.removeprefix("DML_OPERATOR_").lower()):
        if not (case.is_negative or case.is_plain_desc):
            prepared = prepare(case)
            if prepared.desc is not None and not prepared.findings:
                tensors = prepared.desc.tensors()
                found.append((-len(tensors), sum(part.tensor.element_count for part in tensors), len(found), case))
    return min(found)[-1]


class Late(BaseException):
    """A desc that takes too long."""


def late(*_: Any) -> None:
    raise Late


def outcome(operator: str, desc: dict[str, Any], inputs: Any) -> str | None:
    """Return how a desc ends, with its bounds: `computed`, `refused`, what is wrong, or None if it is not valid."""
    prepared = prepare(Case("", "", "", operator, None, desc, inputs))
    if prepared.desc is None or prepared.findings:
        return None
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        found = engine.evaluate(prepared.desc, prepared.inputs)
        asked = {label: np.ones(output.values.shape, bool) for label, output in found.items()}
        for is_likely in (False, True):
            for _ in bounds(prepared.desc, prepared.inputs, asked, is_likely=is_likely):
                pass
    except engine.TooMuchWork:
        return "refused"
    except Late:
        return f"takes more than {SECONDS} s"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "computed"


def tried(operator: str, desc: dict[str, Any], inputs: Any) -> str | None:
    """Return how a desc ends, or one of windows with outputs that fit, where it is not valid as it is."""
    found = outcome(operator, desc, inputs)
    fits = fitting(desc) if found is None else None
    return found if fits is None else outcome(operator, fits, inputs)


def limit_memory() -> None:
    """Let this process have no more address space than MEMORY beside what it has."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"VmSize:\s+(\d+) kB", status)
    assert match is not None
    resource.setrlimit(resource.RLIMIT_AS, (int(match[1]) * 1024 + MEMORY, resource.RLIM_INFINITY))


def main(operators: list[str]) -> None:
    """Try the operators, or all of them."""
    limit_memory()
    signal.signal(signal.SIGALRM, late)
    computed = 0
    for operator in operators or [folder.name.upper() for folder in sorted(CASES.iterdir())]:
        case = smallest(operator)
        desc = copy.deepcopy(dict(case.desc))
        for change in changes(case.operator, desc):
            found = tried(case.operator, desc | change, case.inputs)
            computed += found == "computed"
            if found not in (None, "computed", "refused"):
                sys.stdout.write(f"{operator} {change}: {found}\n")
    sys.stdout.write(f"{computed}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
