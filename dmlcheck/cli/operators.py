"""Operators as they are named on the command line."""

from __future__ import annotations

import click

from dmlcheck.cli.options import completing
from dmlcheck.specs.load import full_name, operator_names
from dmlcheck.specs.names import OTHER_NAMES, short_operator
from dmlcheck.specs.search import nearest_operators

complete_operators = completing(lambda: (*map(short_operator, operator_names()), *OTHER_NAMES))


def operator_name(given: str) -> str:
    """Return an operator's full name, or refuse it with the closest there is."""
    name = full_name(given.upper())
    if name is None:
        raise click.UsageError(f"{given} is not an operator that dmlcheck knows; {_hint(given)}")
    return name


def _hint(given: str) -> str:
    """Return the help for a name that is no operator's: a rule, a constraint, or the nearest operators."""
    from dmlcheck.diagnostics.catalog import RULES

    if given in RULES or full_name(given.upper().partition("/")[0]):
        return f"`dmlcheck explain {given}` explains the {'rule' if given in RULES else 'constraint'}"
    near = nearest_operators(given)
    return f"did you mean {' or '.join(near)}?" if near else "`dmlcheck show` lists the operators"
