"""Einsum: the equations that DmlOperatorEinSum.cpp and EinSumHelper know, and what becomes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_nodes import Desc, descs, node, zeros

from dmlcheck.onnx.descs.node import Refused
from dmlcheck.onnx.operators.provider.einsum import is_known, read
from dmlcheck.onnx.operators.provider.mapping import counterparts
from dmlcheck.onnx.provider.registrations import left_to_others

SIZES = {"a": 2, "b": 3, "i": 4, "j": 5, "k": 6, "h": 7}


def einsum(equation: str) -> Desc:
    """Return the desc of an equation whose letters have the sizes above."""
    inputs, _, output = equation.partition("->")
    shapes = [zeros(*(SIZES[letter] for letter in term)) for term in (*inputs.split(","), output)]
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
        ("aihj,ajhk->aihk", product("2 7 4 5 by 140 5 35 1", "2 7 5 6 by 210 6 42 1", "2 7 4 6 by 168 6 42 1")),
        ("ajhi,ajhk->aihk", product("2 7 5 4 by 140 4 28 1", "2 7 5 6 by 210 6 42 1", "2 7 4 6 by 168 6 42 1", "A")),
        ("aihj,akhj->aihk", product("2 7 4 5 by 140 5 35 1", "2 7 6 5 by 210 5 35 1", "2 7 4 6 by 168 6 42 1", "B")),
    ],
)
def test_products_are_gemm(equation: str, desc: Desc) -> None:
    assert einsum(equation) == desc


def test_a_product_of_equal_letters_is_element_by_element() -> None:
    whole = "FLOAT32 1 1 4 5"
    assert einsum("ij,ij->ij") == Desc(
        "ELEMENT_WISE_MULTIPLY", {"ATensor": whole, "BTensor": whole, "OutputTensor": whole}, "1_0"
    )


def test_letters_in_another_order_are_read_through_strides() -> None:
    """The order that is there has four dimensions, another one those that it has."""
    made = einsum("aij->jai")
    assert made == Desc(
        "ELEMENT_WISE_IDENTITY", {"InputTensor": "FLOAT32 5 2 4 by 1 20 5", "OutputTensor": "FLOAT32 5 2 4"}, "3_0"
    )
    assert einsum("ij->ij").fields == {"InputTensor": "FLOAT32 1 1 4 5", "OutputTensor": "FLOAT32 1 1 4 5"}


@pytest.mark.parametrize(
    ("equation", "output", "axes"),
    [("ij->i", "4 1", [1]), ("ij->j", "1 5", [0]), ("ij->", "1 1", [0, 1]), ("aij->", "1 1 1", [0, 1, 2])],
)
def test_letters_that_are_gone_are_added_up(equation: str, output: str, axes: list[int]) -> None:
    made = einsum(equation)
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
    equation = read("kj, jB")
    assert equation is not None
    assert (equation.inputs, equation.output) == (("kj", "jB"), "Bk")
    assert read("ij -> ji") == read("ij->ji")


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
    with pytest.raises(Refused, match=said):
        descs("Einsum", inputs, zeros(2, 2), equation=equation)


def test_the_values_of_a_product_with_heads_second_are_those_of_the_case() -> None:
    """The tensors are transposed with their values: what DirectML multiplies is what ONNX multiplies."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 4, 7, 5), np.float32), rng.random((2, 5, 7, 6), np.float32)
    equation = "aihj,ajhk->aihk"
    (made,) = counterparts(node("Einsum", [a, b], np.einsum(equation, a, b), equation=equation))
    left, right, output = (made.fields[name] for name in ("ATensor", "BTensor", "OutputTensor"))
    np.testing.assert_allclose(left.values @ right.values, output.values, rtol=1e-5)
