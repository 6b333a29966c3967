"""Numbers of processes, shards, times and other numbers, as `run` takes them."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner
from click.types import convert_type

from dmlcheck.cli.run_options import (
    Number,
    as_dimension,
    as_jobs,
    as_long_dimension,
    as_memory,
    as_seconds,
    as_shard,
    no_model_has,
    rounded_or_given_inputs,
)
from dmlcheck.values import memory


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (as_jobs, "3", 3),
        (as_shard, "2/5", (2, 5)),
        (as_seconds, "0.5", 0.5),
        (as_seconds, "1e9", 7 * 24 * 3600.0),
        (Number(), "2.5", 2.5),
        (Number(1), "1", 1.0),
        (as_dimension, "batch=4", ("batch", 4)),
        (as_dimension, "a=b=0", ("a=b", 0)),
        (as_dimension, "x:0:1=5", ("x:0:1", 5)),
        (as_long_dimension, f"batch={2**63 - 1}", ("batch", 2**63 - 1)),
        (as_memory, "512MiB", 512 * 2**20),
        (as_memory, "2 gib", 2**31),
        (as_memory, "1GB", 10**9),
        (as_memory, "4096", 4096),
    ],
)
def test_what_makes_sense_is_taken(kind: Any, given: str, value: Any) -> None:
    assert convert_type(kind).convert(given, None, None) == value


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (as_jobs, "0", "is not a number of processes; write 1 or more, or auto"),
        (as_jobs, "many", "is not a number of processes"),
        (as_shard, "4/3", "is not a shard; write 1/3, 2/3 or 3/3 for three"),
        (as_shard, "1", "is not a shard"),
        (as_seconds, "-0.5", "is not a time; write a number of seconds, or 0 for no limit"),
        (as_seconds, "nan", "is not a time"),
        (Number(), "-1", "not in the range"),
        (Number(), "inf", "is not a finite number"),
        (Number(), "nan", "is not a finite number"),
        (Number(1), "1.5", "not in the range"),
        (as_dimension, "batch", "is not NAME=SIZE"),
        (as_dimension, "batch=-1", "is not NAME=SIZE"),
        (as_memory, "0", "is not an amount of memory"),
        (as_memory, "-1GiB", "is not an amount of memory"),
    ],
)
def test_what_does_not_is_refused_with_what_would(kind: Any, given: str, words: str) -> None:
    with pytest.raises(click.BadParameter, match=words):
        convert_type(kind).convert(given, None, None)


def test_auto_is_as_many_processes_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "cores", lambda: 7)
    assert as_jobs("auto") == 7


# ---- the options for the inputs of a model


@click.command()
@rounded_or_given_inputs
def told(*, inputs: str, model_inputs: str | None) -> None:
    click.echo(f"{inputs} {model_inputs}")


def test_there_is_one_file_of_inputs() -> None:
    result = CliRunner().invoke(told, ["--inputs", "x.npz", "--inputs", "y.npz"])
    assert (result.exit_code, "one file or folder has the inputs of a model, not 2" in result.output) == (2, True)


def test_a_value_without_a_model_may_be_a_type_that_is_misspelt() -> None:
    said = str(no_model_has("tf3"))
    assert said.startswith("--inputs tf3: inputs are for an ONNX model, ")
    assert said.endswith("; a precision is --input-precision float32|tf32|bfloat16")
