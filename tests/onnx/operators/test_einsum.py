"""Einsum by its meaning, and the equations that DmlOperatorEinSum.cpp and EinSumHelper know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Desc, agrees, descs, node, only, zeros

from dmlcheck.onnx.descs.node import Counterpart, Unmapped
from dmlcheck.onnx.operators.einsum import equation_of, is_known
from dmlcheck.onnx.operators.table import provider_steps
from dmlcheck.onnx.provider.registrations import left_to_others

SIZES = dict(zip("abcdijk", (1, 2, 3, 4, 5, 6, 7), strict=True))


def numbers(*sizes: int) -> Any:
    return np.random.default_rng(len(sizes)).uniform(-1, 1, sizes).astype(np.float32)


def of_letters(term: str) -> Any:
    """Return an operand whose sizes are those of the letters; an ellipsis has two dimensions."""
    letters = term.replace("...", "bc").replace(" ", "")
    return numbers(*(SIZES[letter] for letter in letters))


def einsum(equation: str, *inputs: Any) -> Counterpart:
    inputs = inputs or tuple(map(of_letters, equation.partition("->")[0].split(",")))
    return only(node("Einsum", inputs, np.asarray(np.einsum(equation, *inputs)), equation=equation))


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
    with pytest.raises(Unmapped, match=r"one label for several of the sizes \[2, 3\]"):
        only(node("Einsum", [numbers(2, 3)], numbers(3), equation="ii->i"))
    with pytest.raises(Unmapped, match=r"Einsum with 2 labels for sizes \[3\]"):
        only(node("Einsum", [numbers(3)], numbers(3), equation="ij->i"))


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("i,j,k->ijk", "Einsum of 3 inputs, of which DirectML multiplies two"),
        ("ij,ij->", "adds up other than one dimension of both inputs"),
        ("ij,k->ik", "adds up other than one dimension of both inputs"),
    ],
)
def test_what_several_operators_compute_is_refused(equation: str, reason: str) -> None:
    with pytest.raises(Unmapped, match=reason):
        einsum(equation)


# ---- as the provider makes it

LETTERS = {"a": 2, "b": 3, "i": 4, "j": 5, "k": 6, "h": 7}


def of_provider(equation: str) -> Desc:
    """Return the desc of an equation whose letters have the sizes above."""
    inputs, _, output = equation.partition("->")
    shapes = [zeros(*(LETTERS[letter] for letter in term)) for term in (*inputs.split(","), output)]
    (made,) = descs("Einsum", shapes[:-1], shapes[-1], equation=equation)
    return made


def product(a: str, b: str, output: str, transposed: str = "") -> Desc:
    sides = {f"Trans{side}": "TRANSPOSE" if side in transposed else "NONE" for side in "AB"}
    tensors = {"ATensor": f"FLOAT32 {a}", "BTensor": f"FLOAT32 {b}", "OutputTensor": f"FLOAT32 {output}"}
    return Desc("GEMM", {**tensors, **sides, "Alpha": 1, "Beta": 0}, "1_0")


@pytest.mark.parametrize(
    ("equation", "desc"),
    [
        ("ij,jk->ik", product("1 1 4 5", "1 1 5 6", "1 1 4 6")),
        ("aij,ajk->aik", product("1 2 4 5", "1 2 5 6", "1 2 4 6")),
        ("abij,abjk->abik", product("2 3 4 5", "2 3 5 6", "2 3 4 6")),
        ("ji,jk->ik", product("1 1 5 4", "1 1 5 6", "1 1 4 6", "A")),
        ("aji,ajk->aik", product("1 2 5 4", "1 2 5 6", "1 2 4 6", "A")),
        ("abji,abjk->abik", product("2 3 5 4", "2 3 5 6", "2 3 4 6", "A")),
        ("ij,kj->ik", product("1 1 4 5", "1 1 6 5", "1 1 4 6", "B")),
        ("aij,akj->aik", product("1 2 4 5", "1 2 6 5", "1 2 4 6", "B")),
        ("abij,abkj->abik", product("2 3 4 5", "2 3 6 5", "2 3 4 6", "B")),
        ("i,i->", product("1 1 1 4", "1 1 1 4", "1 1 1 1", "B")),
        ("i,j->ij", product("1 1 4 1", "1 1 1 5", "1 1 4 5")),
        ("aihj,ajhk->aihk", product("2 7 4 5 by 140 5 35 1", "2 7 5 6 by 210 6 42 1", "2 7 4 6")),
        ("ajhi,ajhk->aihk", product("2 7 5 4 by 140 4 28 1", "2 7 5 6 by 210 6 42 1", "2 7 4 6", "A")),
        ("aihj,akhj->aihk", product("2 7 4 5 by 140 5 35 1", "2 7 6 5 by 210 5 35 1", "2 7 4 6", "B")),
    ],
)
def test_products_are_gemm(equation: str, desc: Desc) -> None:
    assert of_provider(equation) == desc


def test_a_product_of_equal_letters_is_element_by_element() -> None:
    whole = "FLOAT32 1 1 4 5"
    assert of_provider("ij,ij->ij") == Desc(
        "ELEMENT_WISE_MULTIPLY", {"ATensor": whole, "BTensor": whole, "OutputTensor": whole}, "1_0"
    )


def test_letters_in_another_order_are_read_through_strides() -> None:
    """The order that is there has four dimensions, another one those that it has."""
    made = of_provider("aij->jai")
    assert made == Desc(
        "ELEMENT_WISE_IDENTITY", {"InputTensor": "FLOAT32 5 2 4 by 1 20 5", "OutputTensor": "FLOAT32 5 2 4"}, "3_0"
    )
    assert of_provider("ij->ij").fields == {"InputTensor": "FLOAT32 1 1 4 5", "OutputTensor": "FLOAT32 1 1 4 5"}


@pytest.mark.parametrize(
    ("equation", "output", "axes"),
    [("ij->i", "4 1", [1]), ("ij->j", "1 5", [0]), ("ij->", "1 1", [0, 1]), ("aij->", "1 1 1", [0, 1, 2])],
)
def test_letters_that_are_gone_are_added_up(equation: str, output: str, axes: list[int]) -> None:
    made = of_provider(equation)
    assert (made.operator, made.fields["Function"], made.fields["Axes"]) == ("REDUCE", "SUM", axes)
    assert (made.fields["OutputTensor"], made.level) == (f"FLOAT32 {output}", "3_0")


@pytest.mark.parametrize(
    "equation",
    ["...ij,...jk->...ik", "aij->ai", "ij,jk,kh->ih", "ij,jk->ki", "ii->i", "iij,j->i", "ij,j->i", "i2->i", "ij-jk"],
)
def test_other_equations_run_elsewhere(equation: str) -> None:
    assert not is_known(equation)
    one = node("Einsum", [zeros(2, 2)], zeros(2), equation=equation)
    assert f"does not take Einsum of the equation {equation!r}" in str(left_to_others(one, 12, []))


def test_no_equation_at_all_runs_elsewhere() -> None:
    assert not any(map(is_known, (None, 2, ["ij"])))


def test_an_output_that_is_not_given_has_the_letters_that_occur_once() -> None:
    equation = equation_of("kj, jB")
    assert equation is not None
    assert (equation.inputs, equation.output) == (("kj", "jB"), "Bk")
    assert equation_of("ij -> ji") == equation_of("ij->ji")


@pytest.mark.parametrize(
    ("inputs", "equation", "said"),
    [
        ([zeros(2, 2)], "ii->", "a letter twice in one input"),
        ([zeros(2)], "i->j", "a letter that no input has"),
        ([zeros(2, 2, 2)], "ij->ji", r"inputs of \[3\] dimensions"),
        ([zeros(2, 2)], "ij,jk->ik", "and 1 inputs"),
        ([zeros(2, 2)], "...->...", "of the equation '...->...'"),
    ],
)
def test_what_does_not_go_together_is_refused(inputs: list[Any], equation: str, said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        descs("Einsum", inputs, zeros(2, 2), equation=equation)


def test_a_product_with_heads_second_is_written_in_another_order_than_that_of_onnx() -> None:
    """DmlOperatorEinSum.cpp: "The output tensor is not strided", its sizes are those of heads that come first."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 4, 7, 5), np.float32), rng.random((2, 5, 7, 6), np.float32)
    one = node_of("Einsum", [a, b], float32(2, 4, 7, 6), equation="aihj,ajhk->aihk")
    (meant,), (made,) = computed(one), computed(one, provider_steps)
    expected = np.einsum("aihj,ajhk->aihk", a, b)
    assert meant == pytest.approx(expected, rel=1e-5)
    assert made.reshape(2, 7, 4, 6) == pytest.approx(expected.swapaxes(1, 2), rel=1e-5)
    assert made != pytest.approx(expected, rel=1e-5)
