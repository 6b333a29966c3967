"""Operators as they are named on the command line."""

from __future__ import annotations

import click

from dmlcheck.cli.console import say
from dmlcheck.cli.options import completing
from dmlcheck.specs.load import full_name, operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, OTHER_NAMES, short_operator
from dmlcheck.specs.search import foreign_names, foreign_text, meant_operator

complete_operators = completing(lambda: (*map(short_operator, operator_names()), *OTHER_NAMES))


def operators_named(given: str) -> list[str]:
    """Return the full names of the operators that a name stands for, one of another library too, which is said."""
    own = full_name(given.upper())
    if own is not None:
        return [own]
    foreign = foreign_names(given)
    if not foreign:
        raise click.UsageError(f"{given} is not an operator that dmlcheck knows; {_hint(given)}")
    found = dict.fromkeys(operator for one in foreign for operator in one.operators)
    say(f"dmlcheck: {foreign_text(foreign)}: {' and '.join(found)}", to_errors=True)
    return [OPERATOR_PREFIX + name for name in found]


def _hint(given: str) -> str:
    """Return the help for a name that is no operator's: a rule, a constraint, or what it is or may mean."""
    from dmlcheck.diagnostics.catalog import RULES

    if given in RULES or full_name(given.upper().partition("/")[0]):
        return f"`dmlcheck explain {given}` explains the {'rule' if given in RULES else 'constraint'}"
    return meant_operator(given)
