"""Right implementations pass, and numeric faults are noticed: a sample of what acceptance_page.py measures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: python -m pip install torch")

from acceptance import drawn  # noqa: E402 - which import PyTorch
from acceptance.faults import faults, of_operator  # noqa: E402
from acceptance.judging import Judge  # noqa: E402
from acceptance.known import MISSED, STRICTLY_REFUSED, why_missed  # noqa: E402
from acceptance.measuring import SHARES, tally  # noqa: E402
from acceptance.ways import OPERATORS, WAYS, ByTorch, computed  # noqa: E402

from dmlcheck import run_cases  # noqa: E402

PAGE = Path(__file__).parent.parent.parent / "dmlcheck" / "guide" / "acceptance.md"
SMALL = 20_000  # elements of the cases that are run here
# Operators of every family whose faults are judged in a second or two.
SAMPLE = (
    "ACTIVATION_SIGMOID",
    "ACTIVATION_SWISH",
    "AVERAGE_POOLING1",
    "CONVOLUTION",
    "ELEMENT_WISE_DIVIDE",
    "ELEMENT_WISE_EXP",
    "GEMM",
    "MULTIHEAD_ATTENTION",
    "RESAMPLE1",
)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def small_cases(short: str) -> list[drawn.Case]:
    cases = drawn.cases(short)
    return [case for case in cases if sum(x.size for x in case.inputs.values() if hasattr(x, "size")) <= SMALL]


@pytest.mark.parametrize("short", OPERATORS)
def test_right_ways_pass(short: str) -> None:
    cases = small_cases(short)
    assert len(cases) >= 3
    for way in range(len(WAYS[short])):
        results = run_cases(cases, ByTorch(way))
        assert [result.case.id for result in results if result.outcome != "passed"] == []
        doubtful = [result.case.id for result in results if result.diagnostics]
        assert doubtful == [] or (short, way) in STRICTLY_REFUSED


@pytest.mark.parametrize("short", SAMPLE)
def test_faults_are_noticed(short: str) -> None:
    judges = [Judge(case) for case in small_cases(short)]
    tallies = [tally(fault, short, judges) for fault in of_operator(short)]
    assert sum(found.matters > 0 for found in tallies) >= 4
    missed = [found.fault for found in tallies if found.matters and not found.fails_strictly]
    assert [name for name in missed if why_missed(name, short) is None] == []


def test_an_output_of_zeros_passes_no_normalization_strictly() -> None:
    fault = faults()["nothing-written"]
    for short in ("MEAN_VARIANCE_NORMALIZATION1", "BATCH_NORMALIZATION_TRAINING"):
        found = tally(fault, short, [Judge(case) for case in drawn.cases(short)])
        assert found.matters >= 12
        assert found.fails_strictly == found.matters


def test_a_smaller_fault_than_the_smallest_is_not_noticed() -> None:
    judge = Judge(drawn.cases("ELEMENT_WISE_EXP")[0])
    exponent = judge.smallest_noticed(is_strict=False)
    assert exponent is not None
    assert judge.of(judge.disturbed(exponent)).fails
    assert not judge.of(judge.disturbed(exponent + 1)).fails


# ---- the guide's page


def rows() -> dict[str, list[str]]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^\| ([A-Z0-9_]+) \| (\d+) \| (\d+) \| (.+?) \|$", text, re.MULTILINE)
    return {name: [cases, ways, *rest.split(" | ")] for name, cases, ways, rest in found}


def test_the_page_has_every_operator_and_fault() -> None:
    found = rows()
    assert tuple(found) == OPERATORS
    assert len(found) >= 60
    assert sum(int(cells[0]) for cells in found.values()) >= 400
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `([^`]+)` \| .+? \| \d+ \| \d+ \| \d+ \|$", text, re.MULTILINE) == list(faults())


def test_right_ways_use_less_than_the_tolerance_by_the_page() -> None:
    assert all(float(cell) <= 1 for cells in rows().values() for cell in cells[2:5])


def test_the_page_gives_a_reason_for_every_fault_that_is_not_noticed() -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([^`]+)` \| ([A-Z0-9_, ]+) \| (.+?) \|$", text, re.MULTILINE)
    for name, operators, why in listed:
        assert {why_missed(name, operator) for operator in operators.split(", ")} == {why}
    assert {name for name, _ in MISSED} <= {name for name, *_ in listed}


@pytest.mark.parametrize("short", SAMPLE)
def test_the_page_is_true_of_a_sample(short: str) -> None:
    cases, ways, *shares, smallest, strictly = rows()[short]
    assert (int(cases), int(ways)) == (len(drawn.cases(short)), len(WAYS[short]))
    for judge in map(Judge, small_cases(short)):
        for way in WAYS[short]:
            judged = judge.of(computed(way, judge.desc, judge.inputs))
            if not judged.fails_strictly:  # other processors add up in other orders
                assert all(
                    getattr(judged, name) <= 2 * float(cell) + 0.05 for name, cell in zip(SHARES, shares, strict=True)
                )
        for is_strict, cell in ((False, smallest), (True, strictly)):
            exponent = judge.smallest_noticed(is_strict=is_strict)
            assert exponent is None or exponent <= int(cell.removeprefix("2^-"))
