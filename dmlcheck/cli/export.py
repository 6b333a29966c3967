"""`dmlcheck export`: cases to models of another format."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import chain

import click

from dmlcheck.cli.case_files import CaseFiles
from dmlcheck.cli.console import say
from dmlcheck.cli.exit_codes import Exit
from dmlcheck.cli.folder import folder_option, written
from dmlcheck.cli.options import complete_files, examples, select_option
from dmlcheck.cli.selection import select, selector
from dmlcheck.diagnostics.wording import counted
from dmlcheck.folders.export_folder import Exported
from dmlcheck.formats.registry import takers


@click.command(
    epilog=examples(
        "export --to dxdispatch cases/ -o models",
        "export --to onnx cases/ -o models -k gemm",
    )
)
@click.option("--to", "form", type=click.Choice(sorted(takers("exported"))), required=True, help="The format to write.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@folder_option
@select_option
def export(*, form: str, paths: tuple[str, ...], folder: str, expression: str | None) -> None:
    """Write the cases of files and folders as models, to run them where dmlcheck is not installed."""
    found = select(paths)
    files = CaseFiles(found.targets, selector(expression), found.single)
    target = takers("exported")[form]
    cases = files.cases()
    first = next(cases, None)
    exported: list[Exported] = []
    if first is not None:  # else an earlier export stays as it is
        exported = written(folder, form, lambda: target.call("exported", chain([first], cases), folder))
    for one in exported:
        files.show(one.problems)
    _print(exported, folder)
    if files.has_wrong_file:
        sys.exit(Exit.WRONG_INPUT)
    if any(one.problems for one in exported):
        sys.exit(Exit.FAILED)
    sys.exit(Exit.GOOD if any(one.folder for one in exported) else Exit.NOTHING_CHECKED)


def _print(exported: list[Exported], folder: str) -> None:
    """Print how many cases were exported and to which folder, and why the others were not."""
    if not exported:
        say("dmlcheck: no cases to export", to_errors=True)
        return
    folders = [one.folder for one in exported if one.folder is not None]
    models = counted(len(set(folders)), "model")
    say(f"{counted(len(folders), 'case')} exported to {models} in {folder}")
    reasons = Counter(one.reason for one in exported if one.reason is not None)
    for reason, count in sorted(reasons.items()):
        say(f"{counted(count, 'case')} not exported: {reason}")
