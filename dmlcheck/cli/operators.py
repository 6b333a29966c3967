"""Operators as they are named on the command line."""

from __future__ import annotations

import click

from dmlcheck.cli.console import say
from dmlcheck.cli.options import completing
from dmlcheck.specs.foreign_names import foreign_name
from dmlcheck.specs.load import closest_operator, full_name, operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, OTHER_NAMES, short_operator

complete_operators = completing(lambda: (*map(short_operator, operator_names()), *OTHER_NAMES))


def operator_name(given: str) -> str:
    """Return an operator's full name, or refuse it with the closest there is."""
    name = full_name(given.upper())
    foreign = foreign_name(given) if name is None else None
    if foreign is not None:
        written, owner, operator = foreign
        say(f"{written} is {owner}'s name; in DirectML it is {operator}", to_errors=True)
        return OPERATOR_PREFIX + operator
    if name is None:
        raise click.UsageError(f"{given} is not an operator that dmlcheck knows; {_hint(given)}")
    return name


def _hint(given: str) -> str:
    """Return what may be meant by a name that is no operator's: a rule, a constraint, or the closest operator."""
    from dmlcheck.diagnostics.catalog import RULES

    if given in RULES or full_name(given.upper().partition("/")[0]):
        return f"`dmlcheck explain {given}` explains the {'rule' if given in RULES else 'constraint'}"
    close = closest_operator(given.upper())
    return f"did you mean {close}?" if close else "`dmlcheck show` lists the operators"
