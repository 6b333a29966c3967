"""Case files that a command reads one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain

from dmlcheck.cases.records import Case
from dmlcheck.cli.console import Console, say
from dmlcheck.cli.selection import say_no_cases
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.document import Document
from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.specs.load import full_name


class CaseFiles:
    """The cases of files, read one file at a time; the findings about files are printed at once."""

    def __init__(
        self,
        targets: Iterable[Target],
        selected: Callable[[str], bool] = lambda _: True,
        single: Mapping[str, str] = {},
    ) -> None:
        """Begin with no file read; `selected` says by its id whether a case is wanted.

        `single` has the ids of cases that were named one by one, each with the message if it is not there.
        """
        self.targets = targets
        self.missing = dict(single)
        self.selected = selected
        self.console = Console()
        self.documents: dict[str, Document] = {}
        self.has_wrong_file = False

    def cases(self) -> Iterator[Case]:
        """Yield the well-formed selected cases; at the end print which files have none, and which cases are missing."""
        from dmlcheck.running.events import asks_for

        seen, empty = 0, []
        for target in self.targets:
            file = read_file(target.file, target.name)
            self.documents[file.document.name] = file.document
            self.has_wrong_file = self.has_wrong_file or bool(file.problems or file.broken)
            self.console.problems([*file.problems, *chain.from_iterable(file.broken.values())], file.document)
            if not (file.cases or file.problems or file.broken):
                empty.append(target.name)
            for case in file.cases:
                is_asked = asks_for(target, case.name)
                seen += is_asked
                if is_asked and target.case is not None:
                    self.missing.pop(f"{target.name}::{target.case}", None)
                is_wanted = is_asked and self.selected(case.id)
                if is_wanted and case.id not in file.broken:
                    yield case
        for problem in self.missing.values():
            say(f"dmlcheck: {problem}", to_errors=True)
        if seen:
            say_no_cases(empty)
        self.has_wrong_file = self.has_wrong_file or bool(self.missing and seen)

    def show(self, problems: Iterable[Diagnostic]) -> None:
        """Print the findings about a case that was read."""
        for problem in problems:
            self.console.problems([problem], self.documents[problem.file or ""])


def by_operator(cases: Iterable[Case], wanted: Collection[str] = ()) -> dict[str, list[Case]]:
    """Return cases by the full name of their operator, for all operators, or for the selected ones."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        name = full_name(case.operator)
        if name is not None and (not wanted or name in wanted):
            found.setdefault(name, []).append(case)
    return found
