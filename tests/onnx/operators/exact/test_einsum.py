"""Einsum, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import agrees, node

from dmlcheck.onnx.descs.node import Counterpart, Refused
from dmlcheck.onnx.operators.exact.mapping import imported

SIZES = dict(zip("abcdijk", (1, 2, 3, 4, 5, 6, 7), strict=True))


def numbers(*sizes: int) -> Any:
    return np.random.default_rng(len(sizes)).uniform(-1, 1, sizes).astype(np.float32)


def of_letters(term: str) -> Any:
    """Return an operand whose sizes are those of the letters; an ellipsis has two dimensions."""
    letters = term.replace("...", "bc").replace(" ", "")
    return numbers(*(SIZES[letter] for letter in letters))


def einsum(equation: str, *inputs: Any) -> Counterpart:
    inputs = inputs or tuple(map(of_letters, equation.partition("->")[0].split(",")))
    return imported(node("Einsum", inputs, np.asarray(np.einsum(equation, *inputs)), equation=equation))


@pytest.mark.parametrize(
    ("equation", "operator"),
    [
        ("ij->ij", "ELEMENT_WISE_IDENTITY"),
        ("ij->ji", "ELEMENT_WISE_IDENTITY"),
        ("ji", "ELEMENT_WISE_IDENTITY"),
        ("...ii -> ...i", "ELEMENT_WISE_IDENTITY"),
        ("ijij->ji", "ELEMENT_WISE_IDENTITY"),
        ("->", "ELEMENT_WISE_IDENTITY"),
        ("ij->i", "REDUCE"),
        ("aibj->jb", "REDUCE"),
        ("i->", "REDUCE"),
        ("ii", "REDUCE"),
        ("...k->...", "REDUCE"),
        ("i,j->ij", "ELEMENT_WISE_MULTIPLY"),
        ("ij,j->ji", "ELEMENT_WISE_MULTIPLY"),
        ("ij,ij->ij", "ELEMENT_WISE_MULTIPLY"),
        ("ii,i->i", "ELEMENT_WISE_MULTIPLY"),
        (",i->i", "ELEMENT_WISE_MULTIPLY"),
        ("ij,jk->ik", "GEMM"),
        ("ij,jk", "GEMM"),
        ("ij,kj->ki", "GEMM"),
        ("ji,jk->ki", "GEMM"),
        ("bij, bjk -> bik", "GEMM"),
        ("ibj,jbk->kbi", "GEMM"),
        ("abi,ci->acb", "GEMM"),
        ("aj,bcj->bac", "GEMM"),
        ("...ij,...jk->...ik", "GEMM"),
        ("bcij,ckj->bcik", "GEMM"),
        ("i,i", "GEMM"),
        ("ij,j->i", "GEMM"),
        ("j,ij->i", "GEMM"),
        ("bi,bi->b", "GEMM"),
    ],
)
def test_one_operator_gives_what_numpy_gives(equation: str, operator: str) -> None:
    made = einsum(equation)
    assert made.operator == operator
    assert agrees(made)


def test_sizes_of_1_in_an_ellipsis_repeat() -> None:
    assert agrees(einsum("...ij,...jk->...ik", numbers(3, 1, 2, 4), numbers(5, 4, 3)))
    assert agrees(einsum("...ij,...jk->...ik", numbers(5, 2, 4), numbers(3, 1, 4, 3)))
    assert agrees(einsum("...i,...i->...i", numbers(3, 1, 4), numbers(4)))


def test_values_that_are_not_in_their_order_in_memory_are_right() -> None:
    assert agrees(einsum("ij->ji", numbers(3, 2).T))


def test_a_label_of_two_sizes_is_refused() -> None:
    with pytest.raises(Refused, match=r"one label for several of the sizes \[2, 3\]"):
        imported(node("Einsum", [numbers(2, 3)], numbers(3), equation="ii->i"))
    with pytest.raises(Refused, match=r"Einsum with 2 labels for sizes \[3\]"):
        imported(node("Einsum", [numbers(3)], numbers(3), equation="ij->i"))


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("i,j,k->ijk", "Einsum of 3 inputs, of which DirectML multiplies two"),
        ("ij,ij->", "adds up other than one dimension of both inputs"),
        ("ij,k->ik", "adds up other than one dimension of both inputs"),
    ],
)
def test_what_several_operators_compute_is_refused(equation: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        einsum(equation)
