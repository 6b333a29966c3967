"""The options for the inputs of an ONNX model, which several commands have."""

from __future__ import annotations

import click

from dmlcheck.cli.options import complete_files
from dmlcheck.cli.run_options import Dimension

dim_option = click.option(
    "--dim",
    "dims",
    multiple=True,
    type=Dimension(),
    metavar="NAME=SIZE",
    help="Models: the size of a symbolic dimension; may be repeated.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Models: the seed of random inputs. Default: 0."
)
INPUTS_OF_MODELS = (
    "Models: a file or folder with arrays by the names of the inputs, or ONNX's input_0.pb and so on; default: random"
    " ones."
)
inputs_option = click.option("--inputs", metavar="FILE.npz|DIR", shell_complete=complete_files, help=INPUTS_OF_MODELS)
