"""Operators as they are named on the command line."""

from __future__ import annotations

import click

from dmlcheck.specs.load import closest_operator, full_name


def operator_name(given: str) -> str:
    """Return an operator's full name, or refuse it with the closest there is."""
    name = full_name(given.upper())
    if name is None:
        close = closest_operator(given.upper())
        hint = f"did you mean {close}?" if close else "`dmlcheck show` lists the operators"
        raise click.UsageError(f"{given} is not an operator that dmlcheck knows; {hint}")
    return name
