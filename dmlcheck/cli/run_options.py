"""The types of `run`'s options: numbers of processes, shards, times."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dmlcheck.cases.select import parse_shard
from dmlcheck.cli.options import complete_files
from dmlcheck.running.events import parse_type
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values import memory

_WEEK = 7 * 24 * 3600.0
_MEMORY = r"(\d{1,15}) ?(b|kib|mib|gib|kb|mb|gb)?"
_UNITS = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9}


# ---- the types of options: each returns the value of a text, or raises BadParameter with what would be taken


def as_jobs(value: Any) -> int:
    """Return a number of processes; `auto` is as many as there are cores."""
    if value == "auto":
        return memory.cores()
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value!r} is not a number of processes; write 1 or more, or auto")
    return number


def as_shard(value: Any) -> tuple[int, int]:
    """Return the number of a part of a case set, and how many there are: of `2/5`."""
    found = parse_shard(str(value))
    if found is None:
        raise click.BadParameter(f"{value!r} is not a shard; write 1/3, 2/3 or 3/3 for three")
    return found


def as_data_type(value: Any) -> str:
    """Return a data type of tensors without its prefix, however it is spelt."""
    found = parse_type(str(value))
    if found is not None:
        return found
    from dmlcheck.specs.search import type_help

    help = type_help(str(value)) or f"there are {', '.join(DATA_TYPES)}"
    raise click.BadParameter(f"{value!r} is not a data type; {help}")


def as_seconds(value: Any) -> float:
    """Return a time, 0 for none; one of more than a week, which no case takes and no system waits for, is a week."""
    found = float(click.FLOAT.convert(value, None, None))
    if found >= 0:
        return min(found, _WEEK)
    raise click.BadParameter(f"{value!r} is not a time; write a number of seconds, or 0 for no limit")


def as_dimension(value: Any, most: int = 10**9 - 1) -> tuple[str, int]:
    """Return the name and the size, up to `most`, of a symbolic dimension: of `batch=1`, or `x:0=1` by its place."""
    name, _, size = str(value).rpartition("=")
    is_number = size.isascii() and size.isdigit() and len(size) <= len(str(most))
    if name and is_number and int(size) <= most:
        return name, int(size)
    raise click.BadParameter(f"{value!r} is not NAME=SIZE, where SIZE is a whole number up to {most}")


def as_long_dimension(value: Any) -> tuple[str, int]:
    """Return a dimension as DirectML could not have it, where nothing is computed."""
    return as_dimension(value, 2**63 - 1)


def as_memory(value: Any) -> int:
    """Return the bytes of an amount of memory: of `512MiB`, `2GiB`, or a number of bytes."""
    found = re.fullmatch(_MEMORY, str(value), re.IGNORECASE)
    if found is None or not int(found[1]):
        raise click.BadParameter(f"{value!r} is not an amount of memory; write 512MiB or 2GiB")
    return int(found[1]) * _UNITS[(found[2] or "b").lower()]


class Number(click.FloatRange):
    """A number from 0 on; neither infinite nor NaN, which no comparison would ever reach."""

    name = "number"

    def __init__(self, most: float | None = None) -> None:
        """Take numbers up to `most`."""
        super().__init__(min=0, max=most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number", param, ctx)


accumulate_option = click.option(
    "--accumulate",
    type=click.Choice(["float16", "float32"], case_sensitive=False),
    default="float32",
    show_default=True,
    help="The type that an implementation may accumulate in.",
)
algorithms_option = click.option(
    "--algorithms",
    type=click.Choice(["winograd"], case_sensitive=False),
    multiple=True,
    help="Also allow the errors of this way to compute: Winograd's algorithms for convolutions with windows of 3 x 3.",
)


# ---- options of models


def _dim_option(kind: Callable[[Any], tuple[str, int]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--dim",
        "dims",
        multiple=True,
        type=kind,
        metavar="NAME=SIZE",
        help="Models: the size of a symbolic dimension, by its name or as INPUT:AXIS=SIZE; may be repeated.",
    )


dim_option = _dim_option(as_dimension)
any_dim_option = _dim_option(as_long_dimension)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Models: the seed of random inputs. Default: 0."
)
INPUTS_OF_MODELS = (
    "Models: a file or folder with arrays by the names of the inputs, or ONNX's input_0.pb and so on; default: random"
    " ones."
)
inputs_option = click.option("--inputs", metavar="FILE.npz|DIR", shell_complete=complete_files, help=INPUTS_OF_MODELS)

ROUNDED_TYPES = ("float32", "tf32", "bfloat16")


rounding_option = click.option(
    "--input-precision",
    "inputs",
    type=click.Choice(ROUNDED_TYPES, case_sensitive=False),
    default=ROUNDED_TYPES[0],
    show_default=True,
    help="What an implementation may round the FLOAT32 factors of matrix products and convolutions to.",
)


def rounded_or_given_inputs(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--input-precision` as `inputs`, and `--inputs` as `model_inputs`.

    `--inputs` with a type is the precision too, as it was spelt before `--input-precision` was there.
    """

    @wraps(command)
    def apart(*, inputs: str, model_inputs: tuple[str, ...], **given: Any) -> None:
        types = [value.lower() for value in model_inputs if value.lower() in ROUNDED_TYPES]
        files = [value for value in model_inputs if value.lower() not in ROUNDED_TYPES]
        if len(files) > 1:
            raise click.UsageError(f"--inputs: one file or folder has the inputs of a model, not {len(files)}")
        command(inputs=(types or [inputs])[-1], model_inputs=files[0] if files else None, **given)

    return rounding_option(_inputs_option(apart))


_inputs_option = click.option(
    "--inputs",
    "model_inputs",
    multiple=True,
    metavar="FILE.npz|DIR",
    shell_complete=complete_files,
    help=INPUTS_OF_MODELS,
)


def no_model_has(inputs: str) -> click.UsageError:
    """Return the usage error for inputs without a model."""
    also = f"a precision is --input-precision {'|'.join(ROUNDED_TYPES)}"
    return click.UsageError(f"--inputs {inputs}: inputs are for an ONNX model, and no path is one; {also}")
