"""`dmlcheck diff` and `coverage`: the support tables across levels, and what cases use of them."""

from __future__ import annotations

import json
import sys

import click

from dmlcheck.cases.records import Case
from dmlcheck.cli import Exit, Level, format_option
from dmlcheck.cli.console import Console, write
from dmlcheck.cli.knowledge import operator_name
from dmlcheck.cli.selecting import targets
from dmlcheck.formats.reading import read_file
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER


@click.command()
@click.argument("low", type=Level(), metavar="LEVEL")
@click.argument("high", type=Level(), metavar="LEVEL")
@format_option
def diff(*, low: str, high: str, form: str) -> None:
    """Say what the higher of two feature levels accepts that the lower does not, operator by operator."""
    from dmlcheck.inspection.level_diff import differences
    from dmlcheck.reports import tables

    low, high = sorted((low, high), key=LEVEL_ORDER.__getitem__)
    changes = differences((load_spec(name) for name in operator_names()), low, high)
    if form == "json":
        write(json.dumps(tables.diff_dict(changes, low, high), indent=2))
    else:
        write("\n".join(tables.diff_lines(changes, low, high)))


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--operator", "operators", multiple=True, metavar="NAME", help="Only this operator; may be repeated.")
@format_option
def coverage(*, paths: tuple[str, ...], operators: tuple[str, ...], form: str) -> None:
    """Say which support rows, table edges, constraints, values and layouts cases exercise; the bundled by default."""
    from dmlcheck.inspection.coverage import of_operator
    from dmlcheck.reports import tables

    cases: dict[str, list[Case]] = {}
    wanted = [operator_name(operator) for operator in operators]
    has_wrong_file = False
    console = Console()
    for target in targets(paths):
        file = read_file(target.file, target.name)
        has_wrong_file = has_wrong_file or bool(file.problems or file.broken)
        broken = [problem for parts in file.broken.values() for problem in parts]
        console.problems([*file.problems, *broken], file.document)
        for case in file.cases:
            name = full_name(case.operator)
            if name is not None and case.id not in file.broken and (not wanted or name in wanted):
                cases.setdefault(name, []).append(case)
    found = [of_operator(load_spec(name), cases[name]) for name in sorted(cases)]
    if form == "json":
        write(json.dumps(tables.coverage_dict(found), indent=2))
    elif found:
        write("\n".join(tables.coverage_lines(found, names=True)))
    if has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    sys.exit(Exit.GOOD if found else Exit.NOTHING_COLLECTED)
