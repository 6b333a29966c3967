"""`dmlcheck explain`: the rules, the labelled constraints of operators, and messages of DirectML."""

from __future__ import annotations

import sys

import click

from dmlcheck.cli.console import print_page
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.options import completing, examples
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.reports.rule_page import constraint_lines, message_lines, nearest_lines, rule_lines, rules_lines
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.search import closest_operator, meant


@click.command(
    context_settings={"ignore_unknown_options": True},  # a negative number is an error code
    epilog=examples(
        "explain",
        "explain size-mismatch",
        "explain GEMM/C3",
        "explain \"Mismatched tensor sizes. Tensor 'Input' has ...\"",
    ),
)
@click.argument("what", metavar="[RULE|MESSAGE]", required=False, shell_complete=completing(lambda: RULES))
def explain(*, what: str | None) -> None:
    """Explain a rule (size-mismatch), a constraint of an operator (REDUCE/C2) or a message of DirectML.

    A message may be a line of a log, or an error code (80070057, -2147024809). Without an argument, list the rules.
    """
    if what is None:
        print_page(rules_lines())
    elif what in RULES:
        print_page(rule_lines(what))
    elif not _explain_message(what):
        _explain_constraint(what)


def _explain_message(text: str) -> bool:
    """Print the explanations of the known messages in a text; return whether it has any.

    A text of several words without any is wrong input: no rule or constraint has several words.
    """
    from dmlcheck.inspection.messages import explained, nearest_messages

    found = explained(text)
    if found:
        print_page(message_lines(found))
    elif " " in text.strip():
        print_page(nearest_lines(nearest_messages(text)), to_errors=True)
        sys.exit(Exit.WRONG_INPUT)
    return bool(found)


def _explain_constraint(label: str) -> None:
    operator, _, row_id = label.upper().rpartition("/")
    name = full_name(operator) if operator else None
    if name is None:
        raise click.UsageError(
            f"{label or repr(label)} is neither a rule nor a constraint; {_hint(label, operator, row_id)}"
        )
    spec = load_spec(name)
    row = next((row for row in spec.constraints if row.id == row_id), None)
    if row is None:
        if any(erratum.id == row_id for erratum in spec.errata):
            raise click.UsageError(f"{label} is an erratum; `dmlcheck show {spec.short} --errata` shows it")
        known = ", ".join(row.id for row in spec.constraints)
        raise click.UsageError(f"{name} has no constraint {row_id}; it has {known}")
    print_page(constraint_lines(spec, row))


def _hint(label: str, operator: str, row_id: str) -> str:
    """Return the help for a label that is neither a rule's nor a constraint's."""
    if full_name(label.upper()):
        return f"`dmlcheck show {label}` shows the operator"
    close = closest_operator(operator) if operator else None
    if close:
        return f"did you mean {close}/{row_id}?"
    return meant(label) or "`dmlcheck explain` lists the rules"
