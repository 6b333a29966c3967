"""`pytest --dmlcheck cases/`: every case of a case file as a test, for pytest's own reports and for pytest-xdist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dmlcheck.specs.names import parse_level

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case
    from dmlcheck.diagnostics.record import Diagnostic

# pytest loads this module wherever dmlcheck is installed: what is only needed with --dmlcheck is imported then.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("dmlcheck", "DirectML conformance cases")
    group.addoption("--dmlcheck", action="store_true", help="collect the cases of YAML and JSON case files")
    group.addoption("--dmlcheck-implementation", default="reference", metavar="NAME", help="what to judge")
    group.addoption(
        "--dmlcheck-feature-level", default=None, metavar="LEVEL", help="the implementation's feature level"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that mean nothing."""
    level = config.getoption("--dmlcheck-feature-level")
    if level is not None and parse_level(level) is None:
        raise pytest.UsageError(f"--dmlcheck-feature-level: {level} is not a feature level")
    if config.getoption("--dmlcheck"):
        from dmlcheck.implementations import close, make

        try:
            close(make(config.getoption("--dmlcheck-implementation")))
        except ValueError as error:
            raise pytest.UsageError(f"--dmlcheck-implementation: {error}") from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect case files where they were asked for."""
    if not parent.config.getoption("--dmlcheck"):
        return None
    if file_path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return None
    from dmlcheck.cases.find import is_report

    if file_path.suffix.lower() == ".json" and is_report(str(file_path)):
        return None
    collector: pytest.Collector = CaseFileCollector.from_parent(parent, path=file_path)
    return collector


class CaseFileCollector(pytest.File):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the cases; a file that is wrong as a whole is one item, which fails."""
        from dmlcheck.formats.read import read_file
        from dmlcheck.running.legality import all_problems

        name = self.nodeid or self.path.as_posix()
        file = read_file(str(self.path), name)
        if file.problems:
            yield CaseItem.from_parent(
                self, name="file", case=None, problems=tuple(file.problems), document=file.document
            )
            return
        for case in file.cases:
            problems = all_problems(case, file.broken[case.id]) if case.id in file.broken else ()
            yield CaseItem.from_parent(self, name=case.name, case=case, problems=problems, document=file.document)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case | None, problems: tuple[Diagnostic, ...], document: Any, **more: Any) -> None:
        """Keep what the file says."""
        super().__init__(**more)
        self.case = case
        self.problems = problems
        self.document = document

    def runtest(self) -> None:
        """Run the case: failed and error are failures, skipped is a skip."""
        from dmlcheck.reports.failure import failure_text
        from dmlcheck.running.one_case import Run, Settings, run_case
        from dmlcheck.running.results import PASSED, SKIPPED

        if self.problems or self.case is None:
            raise CaseFailure(_diagnostics(self.problems, self.document))
        level = self.config.getoption("--dmlcheck-feature-level")
        settings = Settings(None if level is None else parse_level(level))
        result = run_case(self.case, Run(_implementation(self.config), settings))
        if result.outcome == SKIPPED:
            pytest.skip(result.reason or "no reason given")
        if result.outcome != PASSED:
            raise CaseFailure(failure_text(result, None))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Print what is needed to mend the case or the implementation, and no traceback of dmlcheck's own."""
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where the case stands."""
        line = self.case.position.line - 1 if self.case is not None else 0
        return self.path, line, self.name


class CaseFailure(Exception):
    """A case that did not pass, with what a run prints of it."""


def _diagnostics(problems: tuple[Diagnostic, ...], document: Any) -> str:
    from dmlcheck.reports.diagnostics import diagnostic_text

    return "\n".join(diagnostic_text(problem, document.line) for problem in problems)


_MADE = pytest.StashKey[Any]()


def _implementation(config: pytest.Config) -> Any:
    """Return the implementation under test, which is made once for each process."""
    if _MADE not in config.stash:
        from dmlcheck.implementations import close, make

        config.stash[_MADE] = made = make(config.getoption("--dmlcheck-implementation"))
        config.add_cleanup(lambda: close(made))
    return config.stash[_MADE]
