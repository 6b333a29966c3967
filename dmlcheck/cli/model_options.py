"""The options for the inputs of an ONNX model, which several commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dmlcheck.cli.options import complete_files
from dmlcheck.cli.run_options import Dimension


def _dim_option(dimension: Dimension) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--dim",
        "dims",
        multiple=True,
        type=dimension,
        metavar="NAME=SIZE",
        help="Models: the size of a symbolic dimension, by its name or as INPUT:AXIS=SIZE; may be repeated.",
    )


dim_option = _dim_option(Dimension())
any_dim_option = _dim_option(Dimension(2**63 - 1))  # where nothing is computed
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
