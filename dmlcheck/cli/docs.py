"""`dmlcheck docs`: the reference as a static site."""

from __future__ import annotations

import click

from dmlcheck.cli.console import say
from dmlcheck.cli.folder import folder_option, written
from dmlcheck.cli.options import examples
from dmlcheck.diagnostics.wording import counted

SITE = "site"  # the format of the folder that `docs` writes


@click.command(epilog=examples("docs -o site"))
@folder_option
def docs(folder: str) -> None:
    """Write the reference of all operators as pages of HTML, which a browser opens without a server."""
    try:
        from dmlcheck.reports.site.build import pages
    except ImportError as error:
        raise click.UsageError(f"docs needs the extra `docs`: {error.name} is not installed") from None
    from dmlcheck.cli.case_files import CaseFiles, by_operator
    from dmlcheck.cli.selection import targets
    from dmlcheck.folders.export_folder import Folder

    def write() -> int:
        cases = by_operator(CaseFiles(targets(())).cases())
        with Folder(folder, SITE) as site:
            for name, text in pages(cases):
                site.write(name, text.encode())
            site.finish([])
        return sum(name.endswith(".html") for name in site.files)

    say(f"{counted(written(folder, SITE, write), 'page')} written to {folder}: open {folder}/index.html")
