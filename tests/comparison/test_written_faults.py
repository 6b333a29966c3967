"""Implementations wrong as people are wrong: no failure is given a wrong cause, and many are given the right one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from valid_descs import valid
from written_faults import FAULTS, WrittenFault

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case
from dmlcheck.running.verdict import Limits, judge
from dmlcheck.specs.records import OUTPUT


def causes(name: str, fault: WrittenFault) -> Iterator[str | None]:
    """Yield the help of each failure of an implementation."""
    for given in fault.given():
        desc = valid(fault.operator, given.fields)
        with np.errstate(all="ignore"):
            found = fault.run(*given.inputs.values())
        (part,) = desc.tensors(OUTPUT)
        assert found.shape == tuple(part.tensor.sizes)
        case = Case(name, name, name, fault.operator, None, given.fields)
        verdict = judge(case, Prepared(desc, dict(given.inputs)), {part.label: found}, Limits())
        yield from (one.help for one in verdict.findings if one.rule == "output-mismatch")


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_no_failure_is_given_a_wrong_cause(name: str) -> None:
    fault = FAULTS[name]
    found = list(causes(name, fault))
    assert found, "it never fails"
    for help in found:
        named = [] if help is None else help.removeprefix("likely cause: ").split("; or ")
        assert all(fault.right and re.search(fault.right, one) for one in named), help
        assert named or not fault.is_named
