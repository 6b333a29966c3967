"""The limits of errors in ULP, hard and likely, for a random case of each operator, as a table.

Run: python tests/ulp_limits.py > tests/ulp_limits.txt. A limit is the median of those of about 64 elements.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bounds_of import gathered

from dmlcheck.api import load_cases
from dmlcheck.cases.prepare import LegalDescs, prepare
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference.bounds import Bound
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.number_formats import FORMATS, ulp

CASES = Path(__file__).parents[1] / "cases"
TABLE = Path(__file__).with_suffix(".txt")
_ELEMENTS = 64
_TRIED = 8  # cases
_LARGEST = 1 << 14  # elements of a desc's tensors


class Limits(NamedTuple):
    """The limits of an output in ULP: beyond the hard one a case fails, beyond the likely one it has a warning."""

    hard: float
    likely: float


def measured(operator: str) -> dict[str, Limits]:
    """Return the limits of an operator's outputs, by label, in its first random case with other errors than the last
    rounding; without such a case in the first few, none.
    """
    found = (_limits(desc, inputs) for desc, inputs in islice(_descs(operator), _TRIED))
    return next(filter(None, found), {})


def _limits(desc: OperatorDesc, inputs: Any) -> dict[str, Limits]:
    types = {part.label: part.tensor.data_type for part in desc.tensors(OUTPUT) if part.tensor.data_type in FORMATS}
    asked = {part.label: _some(part.tensor.sizes) for part in desc.tensors(OUTPUT) if part.label in types}
    if not asked:
        return {}
    hard, likely = (gathered(desc, inputs, asked, is_likely=is_likely) for is_likely in (False, True))
    found = {name: Limits(_in_ulp(hard[name], of), _in_ulp(likely[name], of)) for name, of in types.items()}
    return {name: limits for name, limits in found.items() if limits.hard > 0}


def _descs(operator: str) -> Iterator[tuple[OperatorDesc, Any]]:
    """Yield the small descs with FLOAT32 tensors among the random cases, with their inputs."""
    for case in load_cases(CASES / operator.lower() / "random.yaml"):
        desc, inputs, *_ = prepare(case, LegalDescs()) if case.is_generated else (None, {})
        tensors = [] if desc is None else [part.tensor for part in desc.tensors()]
        is_small = sum(math.prod(tensor.sizes) for tensor in tensors) < _LARGEST
        if desc is not None and is_small and "FLOAT32" in {tensor.data_type for tensor in tensors}:
            yield desc, inputs


def _some(sizes: tuple[int, ...]) -> Any:
    mask = np.zeros(math.prod(sizes), bool)
    mask[:: max(1, mask.size // _ELEMENTS)] = True
    return mask.reshape(sizes)


def _in_ulp(bound: Bound, data_type: str) -> float:
    with np.errstate(all="ignore"):
        found = bound.radius / ulp(bound.value, data_type)
    return float(np.median(found[np.isfinite(found)])) if np.isfinite(found).any() else math.inf


def read() -> dict[str, dict[str, Limits]]:
    """Return the table: the limits of outputs, by operator and label."""
    found: dict[str, dict[str, Limits]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        operator, label, hard, likely = line.split()
        found.setdefault(operator, {})[label] = Limits(float(hard), float(likely))
    return found


def main() -> None:
    """Print the table."""
    for folder in sorted(CASES.iterdir()):
        for label, limits in measured(folder.name.upper()).items():
            sys.stdout.write(f"{folder.name.upper()} {label} {limits.hard:.4g} {limits.likely:.4g}\n")


if __name__ == "__main__":
    main()
