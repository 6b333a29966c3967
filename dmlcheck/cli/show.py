"""`dmlcheck show`: the pages of operators."""

from __future__ import annotations

from itertools import chain

import click

from dmlcheck.cli.console import print_json, print_page
from dmlcheck.cli.operators import complete_operators, operators_named
from dmlcheck.cli.options import examples, format_option
from dmlcheck.inspection.operator_pages import erratum_dict, levels_dict, operator_dict, operator_record
from dmlcheck.reports.operator_page import errata_lines, foreign_name_text, operator_lines, operators_lines
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, WINDOWS, short_operator
from dmlcheck.specs.records import ERRATUM_KINDS
from dmlcheck.specs.search import ForeignName, foreign_names


@click.command(
    epilog=examples(
        "show",
        "show GEMM",
        "show Conv",
        "show DML_OPERATOR_GEMM --format json",
        "show --errata --kind error",
        "show --evidence",
        "show --bases",
        "show --executed",
    )
)
@click.argument("operator", required=False, shell_complete=complete_operators)
@click.option("--errata", is_flag=True, help="Print the errata of all operators, or of one.")
@click.option(
    "--kind",
    type=click.Choice(ERRATUM_KINDS),
    help="With --errata, those where the page is wrong, silent or contradicted.",
)
@click.option("--evidence", is_flag=True, help="Print the sources of the results in the shipped cases.")
@click.option("--bases", is_flag=True, help="Print how many constraints and errata stand on which kind of evidence.")
@click.option("--executed", is_flag=True, help="Print how many shipped cases agree with DirectML itself.")
@format_option
def show(
    *, operator: str | None, errata: bool, kind: str | None, evidence: bool, bases: bool, executed: bool, form: str
) -> None:
    """Print an operator's fields, support tables, constraints, tolerance and errata; without one, list all.

    The operator may be named as in DirectML (GEMM), ONNX (Conv), WebNN (conv2d) or PyTorch (torch.nn.Linear).
    """
    given = {"errata": errata, "evidence": evidence, "bases": bases, "executed": executed}
    lists = [name for name, is_asked in given.items() if is_asked]
    if lists[1:]:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in lists)}: ask for one at a time")
    if kind and not errata:
        raise click.UsageError("--kind needs --errata")
    asked, named = _asked(operator)
    if errata:
        _show_errata(asked, kind, form)
    elif evidence:
        _show_evidence(asked, form)
    elif bases:
        _show_bases(asked, form)
    elif executed:
        _show_executed(asked, form)
    elif form == "json":
        known = [operator_dict(operator_record(load_spec(name))) for name in asked]
        listed = {"levels": levels_dict(), "windows": [each._asdict() for each in WINDOWS], "operators": known}
        print_json(known[0] if operator and len(known) == 1 else listed)
    else:
        known_specs = [load_spec(name) for name in asked]
        is_page = operator is not None and len(asked) == 1
        page = operator_lines(operator_record(*known_specs)) if is_page else operators_lines(known_specs)
        own = full_name((operator or "").upper())
        print_page(chain([foreign_name_text(named, own and short_operator(own)), ""] if named else [], page))


def _asked(operator: str | None) -> tuple[list[str], tuple[ForeignName, ...]]:
    """Return the operators that are asked for, and a note if their name means another operator in ONNX or WebNN.

    So it does if DirectML has no operator of that name, or another one: ONNX's Slice is SLICE1, not SLICE.
    """
    if operator is None:
        return list(operator_names()), ()
    own = full_name(operator.upper())
    foreign = foreign_names(operator)
    named = dict.fromkeys(OPERATOR_PREFIX + name for one in foreign for name in one.operators)
    if own is None and named:
        return list(named), foreign
    return operators_named(operator) if own is None else [own], () if own in named else foreign


def _show_errata(operators: list[str], kind: str | None, form: str) -> None:
    known = [load_spec(name) for name in operators]
    if kind:
        known = [spec._replace(errata=tuple(row for row in spec.errata if row.kind == kind)) for spec in known]
    if form == "json":
        errata = [{"operator": spec.operator, **erratum_dict(erratum)} for spec in known for erratum in spec.errata]
        print_json({"errata": errata})
    else:
        print_page(errata_lines(known))


def _show_bases(operators: list[str], form: str) -> None:
    from dmlcheck.inspection.bases import basis_counts
    from dmlcheck.reports.coverage import bases_dict, bases_lines

    counts = basis_counts(load_spec(name) for name in operators)
    if form == "json":
        print_json(bases_dict(counts))
    else:
        print_page(bases_lines(counts))


def _show_executed(operators: list[str], form: str) -> None:
    from dmlcheck.inspection.executed import executed_runs
    from dmlcheck.reports.executed import executed_lines, executed_report

    if form == "json":
        print_json(executed_report(executed_runs(), operators))
    else:
        print_page(executed_lines(executed_runs(), operators))


def _show_evidence(operators: list[str], form: str) -> None:
    from dmlcheck.cli.case_files import CaseFiles, by_operator
    from dmlcheck.cli.selection import targets
    from dmlcheck.inspection.coverage import evidence
    from dmlcheck.reports.coverage import evidence_dict, evidence_lines

    cases = by_operator(CaseFiles(targets(())).cases(), operators)
    found = [evidence(operator, cases.get(operator, ())) for operator in operators]
    if form == "json":
        print_json(evidence_dict(found))
    else:
        print_page(evidence_lines(found))
