"""`dmlcheck show`: what is known of operators."""

from __future__ import annotations

import click

from dmlcheck.cli.console import print_json, print_page
from dmlcheck.cli.operators import complete_operators, operator_name
from dmlcheck.cli.options import examples, format_option
from dmlcheck.inspection.operator_pages import erratum_dict, operator_dict
from dmlcheck.reports.operator_page import errata_lines, operator_lines, operators_lines
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import ERRATUM_KINDS


@click.command(
    epilog=examples(
        "show",
        "show GEMM",
        "show DML_OPERATOR_GEMM --format json",
        "show --errata --kind error",
        "show --evidence",
    )
)
@click.argument("operator", required=False, shell_complete=complete_operators)
@click.option("--errata", is_flag=True, help="Print the errata of all operators, or of one.")
@click.option(
    "--kind",
    type=click.Choice(ERRATUM_KINDS),
    help="With --errata, those where the page is wrong, silent or contradicted.",
)
@click.option("--evidence", is_flag=True, help="Print what the results in the shipped cases come from.")
@format_option
def show(*, operator: str | None, errata: bool, kind: str | None, evidence: bool, form: str) -> None:
    """Print an operator's fields, support tables, constraints, tolerance and errata; without one, list all."""
    if errata and evidence:
        raise click.UsageError("--errata and --evidence: ask for one at a time")
    if kind and not errata:
        raise click.UsageError("--kind needs --errata")
    if errata or evidence:
        asked = [operator_name(operator)] if operator else list(operator_names())
        if errata:
            _show_errata(asked, kind, form)
        else:
            _show_evidence(asked, form)
        return
    if operator is None:
        known = [load_spec(name) for name in operator_names()]
        if form == "json":
            print_json({"operators": [operator_dict(spec) for spec in known]})
        else:
            print_page(operators_lines(known))
        return
    spec = load_spec(operator_name(operator))
    if form == "json":
        print_json(operator_dict(spec))
    else:
        print_page(operator_lines(spec))


def _show_errata(operators: list[str], kind: str | None, form: str) -> None:
    known = [load_spec(name) for name in operators]
    if kind:
        known = [spec._replace(errata=tuple(row for row in spec.errata if row.kind == kind)) for spec in known]
    if form == "json":
        errata = [{"operator": spec.operator, **erratum_dict(erratum)} for spec in known for erratum in spec.errata]
        print_json({"errata": errata})
    else:
        print_page(errata_lines(known))


def _show_evidence(operators: list[str], form: str) -> None:
    from dmlcheck.cli.case_files import CaseFiles, by_operator
    from dmlcheck.cli.selection import targets
    from dmlcheck.inspection.evidence import evidence
    from dmlcheck.reports.evidence import evidence_dict, evidence_lines

    cases = by_operator(CaseFiles(targets(())).cases(), operators)
    found = [evidence(operator, cases.get(operator, ())) for operator in operators]
    if form == "json":
        print_json(evidence_dict(found))
    else:
        print_page(evidence_lines(found))
