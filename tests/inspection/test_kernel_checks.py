"""The checks of the kernels' rows: nothing is wrong with those that are shipped, and what is planted is found."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck.inspection.selfcheck import kernel_problems, kernel_row_problems
from dmlcheck.reference.bindings import row
from dmlcheck.reference.rows import RANKS, Spread
from dmlcheck.specs.load import load_spec, operator_names

GEMM, REDUCE, GATHER = (load_spec(f"DML_OPERATOR_{name}") for name in ("GEMM", "REDUCE", "GATHER"))


def test_every_shipped_row_has_what_it_needs() -> None:
    assert list(kernel_problems([load_spec(operator) for operator in operator_names()])) == []


@pytest.mark.parametrize(
    ("spec", "fields", "words"),
    [
        (GEMM, {"sums": ""}, "the row has tiles of sums of products, and does not say that it has such sums"),
        (GEMM, {"sums": "product"}, "the row says product, which is none of products, variance"),
        (GEMM, {"jumps": "far"}, "the row says far, which is none of whole steps, choices, remainders"),
        (GEMM, {"overflow": "wide"}, "the row says wide, which is none of narrow, all"),
        (GEMM, {"algorithms": ("strassen",)}, "the row has the algorithm strassen, which no option names"),
        (GEMM._replace(range=(1.0, 0.0)), {}, "the range from 1.0 to 0.0 has no numbers"),
        (GEMM._replace(domain=(2.0, 2.0)), {}, "the domain from 2.0 to 2.0 has no numbers"),
        (GEMM, {"seeks": "all"}, "the row says all, which is none of place, mark"),
        (GATHER, {"spread": Spread("far")}, "the row spreads errors as far, which is not possible"),
        (GATHER, {"spread": Spread(places=("index",))}, "the row spreads errors by index, which is no input"),
        (
            GATHER,
            {"spread": Spread(multiplied=("InputTensor",))},
            "the row spreads errors by InputTensor, which is no input",
        ),
        (GATHER, {"spread": Spread(RANKS)}, "the row sorts elements, and there is no OutputValueTensor"),
    ],
)
def test_what_is_wrong_with_a_row_is_found(spec: Any, fields: dict[str, Any], words: str) -> None:
    problems = list(kernel_row_problems(spec, row(spec.operator).kernel._replace(**fields)))
    assert words in problems
