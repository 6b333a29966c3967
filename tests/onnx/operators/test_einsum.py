"""Einsum by its meaning, and the equations that DmlOperatorEinSum.cpp and EinSumHelper know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import computed, float32, node_of
from onnx_nodes import Desc, agrees, descs, node, only, zeros
from whole_models import helper

from dmlcheck.onnx.descs.node import Counterpart, RefusedNode, Unmapped
from dmlcheck.onnx.model.node_outputs import true_sizes
from dmlcheck.onnx.operators.einsum import equation_of, is_known
from dmlcheck.onnx.operators.table import exact_steps, provider_steps
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
    ("equation", "operators"),
    [
        ("i,j,k->ijk", ["ELEMENT_WISE_MULTIPLY"] * 2),
        ("ij,jk,kb->ib", ["GEMM"] * 2),
        ("abc,cd,dij->abd", ["GEMM", "ELEMENT_WISE_MULTIPLY", "REDUCE"]),
        ("i,i,j->j", ["GEMM", "ELEMENT_WISE_MULTIPLY"]),
        ("ij,ij->", ["ELEMENT_WISE_MULTIPLY", "REDUCE"]),
        ("ij,k->ik", ["ELEMENT_WISE_MULTIPLY", "REDUCE"]),
        ("ij,jk,ki->", ["GEMM", "ELEMENT_WISE_MULTIPLY", "REDUCE"]),
    ],
)
def test_several_operators_give_what_numpy_gives(equation: str, operators: list[str]) -> None:
    inputs = list(map(of_letters, equation.partition("->")[0].split(",")))
    expected = np.asarray(np.einsum(equation, *(each.astype("f8") for each in inputs)), np.float32)
    one = node_of("Einsum", inputs, float32(*expected.shape), equation=equation)
    assert [made.operator for made in exact_steps(one)] == operators
    (made,) = computed(one)
    assert made.reshape(expected.shape) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes", "expected"),
    [
        ("bij,bjk->bik", [(1, 2, 3), (4, 3, 5)], (4, 2, 5)),
        ("...ij,...jk->...ik", [(2, 3), (7, 1, 3, 4)], (7, 1, 2, 4)),
        ("kj, jB", [(2, 3), (3, 5)], (5, 2)),
        ("ij->", [(2, 3)], ()),
    ],
)
def test_labels_of_size_1_repeat(equation: str, shapes: Any, expected: tuple[int, ...]) -> None:
    given = helper.make_node("Einsum", ["x"] * len(shapes), ["y"], equation=equation)
    assert true_sizes(given, 14, shapes) == expected
    one = node_of("Einsum", [numbers(*shape) for shape in shapes], float32(*expected), equation=equation)
    (made,) = computed(one)
    assert made.size == np.prod(expected)


# ---- as the provider makes it

LETTERS = {"a": 2, "b": 3, "i": 4, "j": 5, "k": 6, "h": 7}


def of_provider(equation: str) -> Desc:
    """Return the desc of an equation whose letters have the sizes above."""
    inputs, _, output = equation.partition("->")
    shapes = [zeros(*(LETTERS[letter] for letter in term)) for term in (*inputs.split(","), output)]
    (made,) = descs("Einsum", shapes[:-1], shapes[-1], equation=equation)
    return made


def product(a: str, b: str, output: str) -> Desc:
    sides = {"TransA": "NONE", "TransB": "TRANSPOSE"}
    tensors = {"ATensor": f"FLOAT32 {a}", "BTensor": f"FLOAT32 {b}", "OutputTensor": f"FLOAT32 {output}"}
    return Desc("GEMM", {**tensors, **sides, "Alpha": 1, "Beta": 0}, "1_0")


@pytest.mark.parametrize(  # A is batch, channel, row, sum; B is batch, channel, column, sum
    ("equation", "desc"),
    [
        ("ij,jk->ik", product("1 1 4 5 by 0 0 5 1", "1 1 6 5 by 0 0 1 6", "1 1 4 6 by 0 0 6 1")),
        ("ij,kj->ik", product("1 1 4 5 by 0 0 5 1", "1 1 6 5 by 0 0 5 1", "1 1 4 6 by 0 0 6 1")),
        ("ij,jk->ki", product("1 1 4 5 by 0 0 5 1", "1 1 6 5 by 0 0 1 6", "1 1 4 6 by 0 0 1 4")),
        ("i,i->", product("1 1 1 4 by 0 0 0 1", "1 1 1 4 by 0 0 0 1", "1 1 1 1 by 0 0 0 0")),
        ("ij,j->i", product("1 1 4 5 by 0 0 5 1", "1 1 1 5 by 0 0 0 1", "1 1 4 1 by 0 0 1 0")),
        ("abij,abjk->abik", product("2 3 4 5 by 60 20 5 1", "2 3 6 5 by 90 30 1 6", "2 3 4 6 by 72 24 6 1")),
        ("aihj,ajhk->aihk", product("2 7 4 5 by 140 5 35 1", "2 7 6 5 by 210 6 1 42", "2 7 4 6 by 168 6 42 1")),
        ("abij,akj->abik", product("2 4 3 5 by 60 5 20 1", "2 4 6 5 by 30 0 5 1", "2 4 3 6 by 72 6 24 1")),
    ],
)
def test_products_with_one_sum_are_gemm(equation: str, desc: Desc) -> None:
    assert of_provider(equation) == desc


def test_a_letter_twice_is_a_diagonal() -> None:
    (made,) = descs("Einsum", [zeros(4, 4)], zeros(4), equation="ii->i")
    assert made.fields == {"InputTensor": "FLOAT32 4 by 5", "OutputTensor": "FLOAT32 4 by 1"}
    (made,) = descs("Einsum", [zeros(4, 4)], zeros(), equation="ii->")
    assert (made.operator, made.fields["InputTensor"], made.fields["Axes"]) == ("REDUCE", "FLOAT32 4 by 5", [0])


def test_several_sums_come_after_a_product() -> None:
    first, second = descs("Einsum", [zeros(4, 5), zeros(4, 5)], zeros(), equation="ij,ij->")
    assert (first.operator, first.fields["OutputTensor"]) == ("ELEMENT_WISE_MULTIPLY", "FLOAT32 4 5")
    assert (second.operator, second.fields["InputTensor"], second.fields["Axes"]) == ("REDUCE", "FLOAT32 4 5", [0, 1])


@pytest.mark.parametrize(
    "equation",
    ["ij,jk->ik", "aihj,ajhk->aihk", "abij,akj->abik", "i,j->ji", "ij,ij->", "ijk,kj->", "aij->ja", "abijk,khj->ahi"],
)
def test_the_provider_computes_what_numpy_does(equation: str) -> None:
    terms = equation.partition("->")[0].split(",")
    rng = np.random.default_rng(0)
    inputs = [rng.random(tuple(LETTERS[letter] for letter in term), np.float32) for term in terms]
    expected = np.asarray(np.einsum(equation, *inputs))
    (made,) = computed(node_of("Einsum", inputs, float32(*expected.shape), equation=equation), provider_steps)
    assert made.reshape(expected.shape) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("equation", ["...ij,...jk->...ik", "ij,jk,kh->ih", "abcde,fghik->ai", "i2->i", "ij-jk"])
def test_other_equations_run_elsewhere(equation: str) -> None:
    assert not is_known(equation)
    one = node("Einsum", [zeros(2, 2)], zeros(2), equation=equation)
    assert f"does not take Einsum of the equation {equation!r}" in str(left_to_others(one, 12, []))


def test_a_letter_of_two_sizes_is_refused() -> None:
    with pytest.raises(RefusedNode, match="refuses Einsum with the sizes 1 and 4 of b"):
        descs("Einsum", [zeros(1, 2, 3), zeros(4, 3, 5)], zeros(4, 2, 5), equation="bij,bjk->bik")


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
        ([zeros(2)], "i->j", "a letter that no input has"),
        ([zeros(2, 2, 2)], "ij->ji", r"inputs of \[3\] dimensions"),
        ([zeros(2, 2)], "ij,jk->ik", "and 1 inputs"),
        ([zeros(2, 2)], "...->...", "of the equation '...->...'"),
    ],
)
def test_what_does_not_go_together_is_refused(inputs: list[Any], equation: str, said: str) -> None:
    with pytest.raises(Unmapped, match=said):
        descs("Einsum", inputs, zeros(2, 2), equation=equation)
