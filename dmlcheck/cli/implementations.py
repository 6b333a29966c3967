"""Implementations as they are named on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from dmlcheck.cli.options import completing
from dmlcheck.implementations import KINDS, Unavailable, make, require_directml
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


def check_version(implementation: Implementation, version: str | None) -> None:
    """Raise a usage error for a version of DirectML with an implementation that is not DirectML."""
    try:
        if version is not None:
            require_directml(implementation)
    except Unavailable as error:
        raise click.UsageError(f"--directml-version {version}: {error}") from None
