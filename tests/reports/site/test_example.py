"""The example of an operator: grids of numbers, and the code that computes them."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from commandline import dmlcheck
from shipped import example_case

from dmlcheck.api import load_cases
from dmlcheck.implementations.protocol import Reference
from dmlcheck.reports.site.example import Example, example_of, recipe_yaml
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.specs.about import load_about
from dmlcheck.specs.load import load_spec, operator_names


def made(operator: str) -> Example:
    case = example_case(operator)
    return example_of(load_spec(operator), case)


def test_a_grid_has_the_rows_and_matrices_of_its_tensor() -> None:
    first, second, third = made("DML_OPERATOR_SPLIT").grids[1:]
    assert (first.name, first.role, first.data_type, first.sizes) == (
        "OutputTensors[0]",
        "output",
        "FLOAT32",
        (1, 1, 2, 2),
    )
    assert [[[cell.text for cell in row] for row in matrix] for matrix in first.matrices] == [[["1", "2"], ["3", "4"]]]
    assert (len(second.matrices[0]), len(third.matrices[0])) == (1, 3)
    channels = made("DML_OPERATOR_DEPTH_TO_SPACE").grids[0]
    assert [len(matrix) for matrix in channels.matrices] == [2, 2, 2, 2]


def test_larger_numbers_are_darker_and_none_is_cut_short() -> None:
    output = made("DML_OPERATOR_CONVOLUTION").grids[-1]
    cells = [cell for matrix in output.matrices for row in matrix for cell in row]
    assert [cell.text for cell in cells] == ["5421.5", "6532.5", "8754.5", "9865.5"]
    assert [cell.shade for cell in cells] == [0, 1, 3, 4]
    values = made("DML_OPERATOR_ELEMENT_WISE_IS_NAN").grids[0]
    assert [cell.text for cell in values.matrices[0][1]] == ["inf", "\N{MINUS SIGN}3", "\N{MINUS SIGN}inf"]


def test_undefined_elements_are_any() -> None:
    found = made("DML_OPERATOR_NONZERO_COORDINATES")
    (coordinates,) = (grid for grid in found.grids if grid.name == "OutputCoordinatesTensor")
    assert [[cell.text for cell in row] for row in coordinates.matrices[0][2:4]] == [["1", "2"], ["any", "any"]]
    assert found.has_undefined
    assert not made("DML_OPERATOR_GEMM").has_undefined


def test_the_attributes_are_those_of_the_desc() -> None:
    assert made("DML_OPERATOR_ELEMENT_WISE_ADD1").attributes == (("FusedActivation", "{Type: ACTIVATION_RELU}"),)
    assert made("DML_OPERATOR_SLICE").attributes[0] == ("Offsets", "[0, 0, 1, 0]")


RECIPES = [
    pytest.param(name, number, id=f"{name.removeprefix('DML_OPERATOR_')}-{number}")
    for name in operator_names()
    for number, _ in enumerate(load_about(name).recipes)
]


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "number"), RECIPES)
def test_a_recipe_is_valid_and_gives_its_numbers(operator: str, number: int, tmp_path: Path) -> None:
    text = recipe_yaml(load_spec(operator), load_about(operator).recipes[number])
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    assert dmlcheck("validate", str(path)).exit_code == 0
    (case,) = load_cases(path)
    assert run_case(case, Run(Reference())).outcome == "passed"


def test_many_operators_have_recipes() -> None:
    assert len({recipe.values[0] for recipe in RECIPES}) >= 40


def test_a_recipe_with_a_wrong_number_is_found(tmp_path: Path) -> None:
    recipe = load_about("DML_OPERATOR_GRU").recipes[0]
    path = tmp_path / "recipe.yaml"
    wrong = recipe._replace(outputs={"OutputSingleTensor": [-194]})
    path.write_text(recipe_yaml(load_spec("DML_OPERATOR_GRU"), wrong), encoding="utf-8")
    (case,) = load_cases(path)
    assert run_case(case, Run(Reference())).outcome == "failed"


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_the_yaml_is_valid_and_the_python_runs(operator: str, tmp_path: Path) -> None:
    shown = made(operator)
    path = tmp_path / "example.yaml"
    path.write_text(shown.yaml, encoding="utf-8")
    assert dmlcheck("validate", str(path)).exit_code == 0
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(shown.python, "example.py", "exec"), {})  # noqa: S102 - the program that the page shows
    assert all(grid.name in printed.getvalue() for grid in shown.grids if grid.role == "output")
