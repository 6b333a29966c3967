"""`dmlcheck show`, `explain`, `schema` and `selfcheck`: what the tool itself knows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click

from dmlcheck.cli import Exit, format_option
from dmlcheck.cli.console import Console, write
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.wording import did_you_mean
from dmlcheck.reports import page
from dmlcheck.specs.load import closest_operator, full_name, load_spec, operator_names


@click.command()
@click.argument("operator", required=False)
@click.option("--errata", is_flag=True, help="Print the errata of all operators, or of one.")
@format_option
def show(*, operator: str | None, errata: bool, form: str) -> None:
    """Print an operator's fields, support tables, constraints, tolerance and errata; without one, list all."""
    if errata:
        _show_errata([operator_name(operator)] if operator else list(operator_names()), form)
        return
    if operator is None:
        known = [load_spec(name) for name in operator_names()]
        if form == "json":
            _print_json({"operators": [page.operator_dict(spec) for spec in known]})
        else:
            _print_lines(page.operators_lines(known))
        return
    spec = load_spec(operator_name(operator))
    if form == "json":
        _print_json(page.operator_dict(spec))
    else:
        _print_lines(page.operator_lines(spec))


def operator_name(given: str) -> str:
    """Return an operator's full name, or refuse it with the closest there is."""
    name = full_name(given.upper())
    if name is None:
        close = closest_operator(given.upper())
        hint = f"did you mean {close}?" if close else "`dmlcheck show` lists the operators"
        raise click.UsageError(f"{given} is not an operator that dmlcheck knows; {hint}")
    return name


def _show_errata(operators: list[str], form: str) -> None:
    known = [load_spec(name) for name in operators]
    if form == "json":
        errata = [{"operator": spec.operator, **erratum._asdict()} for spec in known for erratum in spec.errata]
        _print_json({"errata": errata})
    else:
        _print_lines(page.errata_lines(known))


@click.command()
@click.argument("rule", required=False)
def explain(*, rule: str | None) -> None:
    """Explain a rule (size-mismatch) or a labelled constraint (REDUCE/C2); without one, list the rules."""
    if rule is None:
        _print_lines(page.rules_lines())
    elif rule in RULES:
        _print_lines(page.rule_lines(rule))
    else:
        _explain_constraint(rule)


def _explain_constraint(label: str) -> None:
    operator, _, row_id = label.upper().rpartition("/")
    name = full_name(operator.upper()) if operator else None
    if name is None:
        hint = did_you_mean(label, RULES) or "`dmlcheck explain` lists the rules"
        raise click.UsageError(f"{label} is neither a rule nor a constraint; {hint}")
    spec = load_spec(name)
    row = next((row for row in spec.constraints if row.id == row_id), None)
    if row is None:
        known = ", ".join(row.id for row in spec.constraints)
        raise click.UsageError(f"{name} has no constraint {row_id}; it has {known}")
    _print_lines(page.constraint_lines(spec, row))


@click.command()
def schema() -> None:
    """Print the JSON Schema of case files."""
    from dmlcheck.inspection.schema import case_file_schema

    _print_json(case_file_schema())


@click.command()
def selfcheck() -> None:
    """Check that the specs, kernels, bundled cases and rules agree with one another."""
    from dmlcheck.inspection.selfcheck import check

    checked = check()
    for problem in checked.problems:
        write(problem)
    write(checked.summary)
    sys.exit(Exit.FAILED if checked.problems else Exit.GOOD)


def _print_lines(lines: Iterable[page.Line]) -> None:
    columns = Console().columns
    write("\n".join(page.printed(lines, None if columns is None else columns - 1)))


def _print_json(value: Any) -> None:
    write(json.dumps(value, indent=2))
