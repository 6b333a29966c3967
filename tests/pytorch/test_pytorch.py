"""PyTorch's CPU passes the shipped cases and random draws of its operators, but for what is known of it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck, json_of

torch = pytest.importorskip("torch", reason="PyTorch is not installed: python -m pip install torch")

from pytorch.implementation import OPERATORS, PyTorch  # noqa: E402 - which imports PyTorch
from pytorch.wide import divided, turned  # noqa: E402

from dmlcheck.specs.load import load_spec, operator_names  # noqa: E402

TESTS = Path(__file__).parent.parent
CASES = TESTS.parent / "cases"
KNOWN = TESTS / "expectations" / "pytorch_cpu.yaml"
NAME = "python:pytorch.implementation:PyTorch"
JUDGED = ("--implementation", NAME, "--expectations", str(KNOWN))
# Folders of cases that are run without being asked for the slow tests: some of every family.
SAMPLE = ("element_wise_divide", "element_wise_bit_count", "cast", "reduce", "gather_nd1", "padding", "fold", "top_k1",
          "max_pooling2", "convolution_integer", "element_wise_clip", "gru")  # fmt: skip

pytestmark = pytest.mark.usefixtures("folder")


def outcomes(*folders: Path) -> tuple[int, dict[str, set[str]]]:
    """Run cases, and return how that ends, with the operators of each outcome."""
    result = dmlcheck("run", *map(str, folders), *JUDGED, "--timeout", "0", "--json", "report.json")
    found: dict[str, set[str]] = {}
    for case in json_of("report.json")["cases"]:
        found.setdefault(case["outcome"], set()).add(case["operator"])
    return result.exit_code, found


def test_pytorch_computes_most_operators() -> None:
    names = {load_spec(name).short for name in operator_names()}
    assert OPERATORS.keys() <= names
    assert len(OPERATORS) == 168


@pytest.mark.slow
def test_the_cases_of_a_sample_pass() -> None:
    code, found = outcomes(*(CASES / name for name in SAMPLE))
    assert code == 0
    assert {f"DML_OPERATOR_{name.upper()}" for name in SAMPLE} <= found["passed"]


@pytest.mark.slow
def test_all_cases_pass_but_for_what_is_known() -> None:
    code, found = outcomes(CASES)
    assert code == 0
    assert len(found["passed"]) >= 160
    assert found.keys() <= {"passed", "xfailed", "skipped"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 8])
def test_draws_find_nothing_but_what_is_known(seed: int) -> None:
    result = dmlcheck("fuzz", *JUDGED, "--examples", "531", "--seed", str(seed), "--timeout", "0")
    assert "0 findings" in result.output, result.output
    assert result.exit_code == 0


class Wrong(PyTorch):
    """Adds one to each output."""

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        return {name: x + x.dtype.type(1) for name, x in super().run(desc, inputs).items()}


def test_what_is_wrong_is_found() -> None:
    words = ("--implementation", "python:pytorch.test_pytorch:Wrong", "--expectations", str(KNOWN))
    result = dmlcheck("fuzz", "TILE", "--examples", "8", "--timeout", "0", *words)
    assert "FOUND TILE: output-mismatch" in result.output, result.output


# ---- UINT64 as INT64 of the same bits

SOME = [0, 1, 2, 3, 7, 2**31, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 2, 2**64 - 1]


def of(*numbers: int) -> Any:
    return torch.from_numpy(np.array(numbers, np.uint64).view(np.int64))


def test_uint64_is_divided_and_ordered() -> None:
    pairs = [(a, b) for a, b in product(SOME, SOME) if b]
    a, b = of(*(pair[0] for pair in pairs)), of(*(pair[1] for pair in pairs))
    assert divided(a, b).numpy().view(np.uint64).tolist() == [a // b for a, b in pairs]
    assert (turned(a, True) < turned(b, True)).tolist() == [a < b for a, b in pairs]
