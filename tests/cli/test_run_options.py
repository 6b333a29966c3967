"""Numbers of processes, shards, times and other numbers, as `run` takes them."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from dmlcheck.cli.run_options import (
    Dimension,
    Jobs,
    Memory,
    Number,
    Seconds,
    Shard,
    no_model_has,
    rounded_or_given_inputs,
)
from dmlcheck.values import memory


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (Jobs(), "3", 3),
        (Shard(), "2/5", (2, 5)),
        (Seconds(), "0.5", 0.5),
        (Seconds(), "1e9", 7 * 24 * 3600.0),
        (Number(), "2.5", 2.5),
        (Number(1), "1", 1.0),
        (Dimension(), "batch=4", ("batch", 4)),
        (Dimension(), "a=b=0", ("a=b", 0)),
        (Dimension(), "x:0:1=5", ("x:0:1", 5)),
        (Dimension(2**63 - 1), f"batch={2**63 - 1}", ("batch", 2**63 - 1)),
        (Memory(), "512MiB", 512 * 2**20),
        (Memory(), "2 gib", 2**31),
        (Memory(), "1GB", 10**9),
        (Memory(), "4096", 4096),
    ],
)
def test_what_makes_sense_is_taken(kind: click.ParamType, given: str, value: Any) -> None:  # type: ignore[type-arg]
    assert kind.convert(given, None, None) == value


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Jobs(), "0", "is not a number of processes; write 1 or more, or auto"),
        (Jobs(), "many", "is not a number of processes"),
        (Shard(), "4/3", "is not a shard; write 1/3, 2/3 or 3/3 for three"),
        (Shard(), "1", "is not a shard"),
        (Seconds(), "-0.5", "is not a time; write a number of seconds, or 0 for no limit"),
        (Seconds(), "nan", "is not a time"),
        (Number(), "-1", "not in the range"),
        (Number(), "inf", "is not a finite number"),
        (Number(), "nan", "is not a finite number"),
        (Number(1), "1.5", "not in the range"),
        (Dimension(), "batch", "is not NAME=SIZE"),
        (Dimension(), "batch=-1", "is not NAME=SIZE"),
        (Memory(), "0", "is not an amount of memory"),
        (Memory(), "-1GiB", "is not an amount of memory"),
    ],
)
def test_what_does_not_is_refused_with_what_would(
    kind: click.ParamType,  # type: ignore[type-arg]
    given: str,
    words: str,
) -> None:
    with pytest.raises(click.BadParameter, match=words):
        kind.convert(given, None, None)


def test_auto_is_as_many_processes_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "cores", lambda: 7)
    assert Jobs().convert("auto", None, None) == 7


# ---- the options for the inputs of a model


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
