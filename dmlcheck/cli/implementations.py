"""Implementations as they are named on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from dmlcheck.cli.options import completing
from dmlcheck.implementations import KINDS, Unavailable, make
from dmlcheck.implementations.protocol import Implementation


def implementation_option(help: str, *, is_required: bool = False) -> Callable[[Any], Any]:
    """Return the option `--implementation`; its default is the reference engine, unless it is required."""
    # With a default of None click 8.3 takes a required option as given.
    default: dict[str, Any] = {"required": True} if is_required else {"default": "reference", "show_default": True}
    return click.option(
        "--implementation",
        **default,
        metavar="NAME",
        help=help,
        shell_complete=completing(lambda: KINDS),
    )


@contextmanager
def made(name: str, option: str = "--implementation") -> Iterator[Implementation]:
    """Open the implementation that an option names for a block; a usage error if it is not available."""
    try:
        implementation = make(name)
        try:
            yield implementation
        finally:
            implementation.close()
    except Unavailable as error:
        raise click.UsageError(f"{option}: {error}") from None
