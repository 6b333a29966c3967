"""How many planted faults are named by the likely cause: `python tests/named_faults.py [FAULT...] [OPERATOR...]`.

For each fault and operator it takes the first shipped case that fails, and looks whether the cause that is named there
is the one that was planted. It prints the shares, and every cause that is wrong; `-v` prints all.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import faults
import numpy as np
from planted import Fault, faults_of

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.known_faults import likely_cause
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.reference.bounds import bounds
from dmlcheck.specs.load import full_name, operator_names

_WRITTEN = r"nothing seems to be written"
_NONE_LEFT = r"denormal .* inputs seem to be flushed"  # where only denormals differ, and have no bit left
_FEW = r"the first \d+ bits only"
# What names each kind of fault; {} is the field that a fault is about.
WORDS = {
    "absent": r"{} were left out",
    "approximate-float16": _FEW,
    "approximate-float32": _FEW,
    "broadcast-ignored": r"strides of .* ignored",
    "earlier-output": _WRITTEN,  # where there was none before
    "exchanged": r"{}",
    "first-batch": r"every batch seems to be the first batch|every (batch|channel)",
    "first-channels": r"every channel seems to be the first",
    "first-group": _WRITTEN,
    "float16-denormals": r"denormal .* flushed",
    "halves-up": r"halves were rounded away",
    "ignored": r"{}",
    "index-in-16-bits": r"$^",
    "inputs-bfloat16": rf"inputs were rounded to BFLOAT16|BFLOAT16 inputs|{_FEW}|{_NONE_LEFT}",
    "inputs-float16": rf"inputs were rounded to FLOAT16|inputs were rounded to TF32|TF32 inputs|{_FEW}|{_NONE_LEFT}",
    "inputs-tf32": rf"inputs were rounded to (TF32|FLOAT16)|TF32 inputs|{_FEW}|{_NONE_LEFT}",
    "int64-as-float32": r"64-bit integers .* FLOAT32",
    "int64-as-int32": r"through 32 bits",
    "largest-for-infinity": r"replaced by the largest",
    "last-column": _WRITTEN,
    "last-element": _WRITTEN,
    "last-row": _WRITTEN,
    "lost-block": r"$^",
    "lost-nan": r"NaN in inputs seems to be ignored",
    "lost-term": r"last term",
    "negative-index": r"negative indices",
    "next-index": r"indices were counted from 1|every element is \+1 off",
    "nothing-written": _WRITTEN,
    "one-pass-variance": _FEW,
    "other-ties": r"of equal elements seems to be chosen",
    "saturating": r"limited to their type",
    "strides-ignored": r"strides of .* ignored",
    "sums-bfloat16": rf"BFLOAT16|{_FEW}",
    "sums-float16": rf"FLOAT16|{_FEW}",
    "swapped-lanes": r"of each vector of four",
    "tail-1024": _WRITTEN,
    "tail-128": _WRITTEN,
    "tail-256": _WRITTEN,
    "tail-32": _WRITTEN,
    "tail-64": _WRITTEN,
    "turned": r"{}",
    "unsigned-as-signed": r"read as signed",
    "vector-rest": _WRITTEN,
    "written-packed": r"strides of .* ignored",
    "zero-for-nan": r"NaN in inputs seems to be ignored",
}


class Named(NamedTuple):
    """A fault of an operator, the case that fails, and the cause that is named.

    `is_blank` says that the fault leaves nothing but zeros, which no one can tell from an output that is not written.
    """

    fault: str
    operator: str
    case: str
    cause: str | None
    is_blank: bool = False

    @property
    def is_right(self) -> bool:
        """Whether the cause is the fault."""
        kind, _, about = self.fault.partition(":")
        names = "|".join(about.split("-")) if about else ""
        if self.is_blank and self.cause is not None and _WRITTEN in self.cause:
            return True
        return self.cause is not None and re.search(WORDS[kind].replace("{}", f"({names})"), self.cause) is not None


def cause_of(judged: faults.Judged, actual: Mapping[str, Any]) -> tuple[bool, str | None]:
    """Return whether outputs fail, and which cause is named."""

    def bounds_of(asked: Mapping[str, Any], *, is_likely: bool = False) -> Any:
        return bounds(judged.desc, judged.inputs, asked, judged.limit.precision, is_likely=is_likely)

    with np.errstate(all="ignore"):
        compared = compare(judged.expected, actual, judged.limit, bounds_of, judged.undefined)
    causes, fails = [], False
    for label, (output, mask) in compared.items():
        if output.mismatches and mask is not None:
            fails = True
            tensor, expected = judged.expected[label]
            given = judged.desc, judged.inputs, label, tensor, expected, actual[label]
            causes.append(likely_cause(WrongOutput(*given, judged.limit, mask)))
    return fails, "; and ".join(filter(None, causes)) or None


def named(operator: str, chosen: tuple[str, ...] = ()) -> list[Named]:
    """Return what is named of all faults of an operator that make a case fail."""
    warnings.simplefilter("ignore")
    left: dict[str, Fault] = {
        name: fault for name, fault in faults_of(operator).items() if faults.is_chosen(fault, chosen)
    }
    found = []
    for judged in faults.shipped(operator):
        for name, fault in list(left.items()):
            with np.errstate(all="ignore"):
                actual = fault.act(judged.desc, judged.inputs)
            fails, cause = (False, None) if actual is None else cause_of(judged, actual)
            if fails:
                is_blank = not any(values.any() for values in (actual or {}).values())
                found.append(Named(name, judged.desc.spec.short, judged.name, cause, is_blank))
                del left[name]
        if not left:
            break
    return found


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FAULT|OPERATOR")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every cause")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    operators = [name for name in map(full_name, options.names) if name is not None] or list(operator_names())
    chosen = tuple(name for name in options.names if full_name(name) is None)
    every: list[Named] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for found in pool.map(partial(named, chosen=chosen), operators):
            every += found
            for one in found:
                if options.verbose or (one.cause is not None and not one.is_right):
                    verdict = "right" if one.is_right else "NONE" if one.cause is None else "WRONG"
                    sys.stdout.write(
                        f"{one.operator:36} {one.fault:30} {verdict:6} {one.case.split('/')[-1]} {one.cause}\n"
                    )
            sys.stdout.flush()
    right = sum(one.is_right for one in every)
    wrong = sum(one.cause is not None and not one.is_right for one in every)
    sys.stdout.write(
        f"{len(every):,} noticed: {right / len(every):.1%} named rightly, {wrong / len(every):.1%} wrongly\n"
    )


if __name__ == "__main__":
    main()
