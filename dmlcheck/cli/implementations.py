"""Implementations as they are named on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dmlcheck.cli.options import completing
from dmlcheck.implementations import KINDS, Unavailable, make, require_directml
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.values import memory

if TYPE_CHECKING:
    from dmlcheck.implementations.protocol import About
    from dmlcheck.processes.cluster import Cluster


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


# ---- executors


_LOCAL, _DASK = "local", "dask"


def as_executor(value: Any) -> str | None:
    """Return where cases run: None for processes of the run, else the address of dask's scheduler, "" for a local one.

    BadParameter for anything else.
    """
    kind, colon, address = str(value).partition(":")
    if kind == _LOCAL and not colon:
        return None
    if kind == _DASK and bool(colon) == bool(address):
        return address
    raise click.BadParameter(
        f"{value!r} is no executor; write local, dask, or dask:ADDRESS such as dask:tcp://host:8786"
    )


executor_option = click.option(
    "--executor",
    type=as_executor,
    default=_LOCAL,
    metavar="local|dask[:ADDRESS]",
    shell_complete=completing(lambda: (_LOCAL, _DASK)),
    help="dask: run the cases on the workers of the scheduler at ADDRESS; without it, on -j processes here.",
)


@contextlib.contextmanager
def cluster_of(address: str | None, jobs: int) -> Iterator[Cluster | None]:
    """Open the cluster of an executor for a block, None without one; a usage error if it cannot be reached."""
    if address is None:
        yield None
        return
    if address and jobs > 1:
        text = f"-j {jobs} is for processes of this machine; the cluster at {address} has workers of its own"
        raise click.UsageError(text)
    from dmlcheck.folders.export_folder import MissingRequirement
    from dmlcheck.processes.cluster import Cluster

    cluster = Cluster(address, jobs if jobs > 1 else memory.cores())
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(cluster)
        except MissingRequirement as error:
            raise click.UsageError(f"--executor {_DASK}{':' if address else ''}{address}: {error}") from None
        yield cluster


def about_on(cluster: Cluster, name: str, directml_version: str | None, option: str = "--implementation") -> About:
    """Return an implementation's description of itself on a worker; a usage error if it cannot be made there."""
    from dmlcheck.running.batches import about_there

    try:
        return cluster.ask(about_there, name, directml_version)
    except Unavailable as error:
        raise click.UsageError(f"{option}: on a worker: {error}") from None
