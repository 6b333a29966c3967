"""`dmlcheck docs`: the reference site."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dmlcheck.cli.console import say
from dmlcheck.cli.folder import folder_option, written
from dmlcheck.cli.options import examples
from dmlcheck.diagnostics.wording import counted
from dmlcheck.folders.export_folder import Folder, MissingRequirement

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case

SITE = "site"  # the format of what it writes


@click.command(epilog=examples("docs -o site"))
@folder_option
def docs(*, folder: str) -> None:
    """Write the reference site: a page for each operator, error, feature level and data type, and the guide."""
    files = written(folder, SITE, lambda: _write(folder))
    pages = sum(name.endswith(".html") for name in files)
    say(f"{counted(pages, 'page')} in {folder}; open index.html")
    sys.exit(0)


def _write(folder: str) -> list[str]:
    """Write the files of the site, and return their names; MissingRequirement where a package is missing."""
    try:
        import jinja2  # noqa: F401 - said here, before anything is written
        import latex2mathml  # noqa: F401
        import markdown_it  # noqa: F401
    except ImportError as error:
        raise MissingRequirement(f'docs needs {error.name}: run python -m pip install "dmlcheck[docs]"') from None
    from dmlcheck.reports.site.build import site_files
    from dmlcheck.specs.load import load_spec, operator_names

    with Folder(folder, SITE) as place:
        for file in site_files([load_spec(name) for name in operator_names()], _bundled_cases()):
            place.write(file.name, file.text.encode("utf-8"))
        place.finish([])
    return place.files


def _bundled_cases() -> dict[str, list[Case]]:
    from dmlcheck.cli.case_files import CaseFiles, by_operator
    from dmlcheck.cli.selection import targets

    return by_operator(CaseFiles(targets(())).cases())
