"""The options for the inputs of a model."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from dmlcheck.cli.model_options import no_model_has, rounded_or_given_inputs


@click.command()
@rounded_or_given_inputs
def told(*, inputs: str, model_inputs: str | None) -> None:
    click.echo(f"{inputs} {model_inputs}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "float32 None\n"),
        (("TF32",), "tf32 None\n"),
        (("x.npz",), "float32 x.npz\n"),
        (("tf32", "x.npz", "bfloat16"), "bfloat16 x.npz\n"),
    ],
)
def test_inputs_are_a_type_or_a_file(words: tuple[str, ...], expected: str) -> None:
    result = CliRunner().invoke(told, [part for word in words for part in ("--inputs", word)])
    assert (result.exit_code, result.output) == (0, expected)


def test_a_precision_is_an_option_of_its_own() -> None:
    result = CliRunner().invoke(told, ["--input-precision", "TF32", "--inputs", "x.npz"])
    assert (result.exit_code, result.output) == (0, "tf32 x.npz\n")
    assert CliRunner().invoke(told, ["--input-precision", "x.npz"]).exit_code == 2


def test_there_is_one_file_of_inputs() -> None:
    result = CliRunner().invoke(told, ["--inputs", "x.npz", "--inputs", "y.npz"])
    assert (result.exit_code, "one file or folder has the inputs of a model, not 2" in result.output) == (2, True)


def test_a_value_without_a_model_may_be_a_type_that_is_misspelt() -> None:
    said = str(no_model_has("tf3"))
    assert said.startswith("--inputs tf3: inputs are for an ONNX model, ")
    assert said.endswith("; a precision is --input-precision float32|tf32|bfloat16")
