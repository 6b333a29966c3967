"""`pytest --dmlcheck cases/`: every case of a case file as a test, for pytest's own reports and for pytest-xdist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.specs.names import parse_level, parse_version

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case
    from dmlcheck.diagnostics.record import Diagnostic
    from dmlcheck.running.one_case import Settings
    from dmlcheck.running.results import CaseResult

# pytest loads this module wherever dmlcheck is installed: what is only needed with --dmlcheck is imported then.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; those with a value are those of `dmlcheck run`."""
    group = parser.getgroup("dmlcheck", "DirectML conformance cases")
    group.addoption("--dmlcheck", action="store_true", help="collect the cases of YAML and JSON case files")
    group.addoption(
        "--dmlcheck-implementation", default="reference", metavar="NAME", help="what to judge (default: reference)"
    )
    group.addoption("--dmlcheck-feature-level", metavar="LEVEL", help="the implementation's feature level")
    group.addoption(
        "--dmlcheck-accumulate",
        choices=["float16", "float32"],
        default="float32",
        help="the type that the implementation may accumulate in (default: float32)",
    )
    group.addoption(
        "--dmlcheck-inputs",
        choices=["float32", "tf32", "bfloat16"],
        default="float32",
        help="what the implementation may round the FLOAT32 factors of products to (default: float32)",
    )
    group.addoption(
        "--dmlcheck-strict",
        action="store_true",
        help="fail cases whose errors are larger than likely, or that expect inaccurate values",
    )
    group.addoption(
        "--dmlcheck-expected-within",
        type=float,
        metavar="ULP",
        help="warn of expected values that are further from the exact result (default: 4)",
    )
    group.addoption(
        "--dmlcheck-directml-version",
        metavar="VERSION",
        help="the implementation is this version of DirectML: expect the failures that are known of it",
    )
    group.addoption("--dmlcheck-timeout", type=float, metavar="SECONDS", help="limit each case")
    group.addoption("--dmlcheck-expectations", metavar="FILE", help="known results of this implementation")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that mean nothing."""
    level = config.getoption("--dmlcheck-feature-level")
    if level is not None and parse_level(level) is None:
        raise pytest.UsageError(f"--dmlcheck-feature-level: {level} is not a feature level")
    version = config.getoption("--dmlcheck-directml-version")
    if version is not None and parse_version(version) is None:
        raise pytest.UsageError(f"--dmlcheck-directml-version: {version} is not a version of DirectML; write 1.8.0")
    seconds = config.getoption("--dmlcheck-timeout")
    if seconds is not None and not 0 < seconds <= _WEEK:
        raise pytest.UsageError(f"--dmlcheck-timeout: {seconds:g} is not a time; write a number of seconds above 0")
    within = config.getoption("--dmlcheck-expected-within")
    if within is not None and not 0 <= within < float("inf"):
        raise pytest.UsageError(f"--dmlcheck-expected-within: {within:g} is not a number of ULP; write 0 or more")
    if config.getoption("--dmlcheck"):
        _refuse_implementation(config.getoption("--dmlcheck-implementation"), version)
        config.stash[_KNOWN] = _expectations(config)
        if not hasattr(config, "workerinput"):  # of pytest-xdist it is the process that reports
            config.pluginmanager.register(_Count(config.getoption("--dmlcheck-implementation")))


class _Count:
    """What the implementation had a part in, for the end of a session."""

    def __init__(self, implementation: str) -> None:
        self.implementation = implementation
        self.counts = {_COMPUTED: 0, _DESC: 0, _NOTHING: 0}

    @property
    def is_vain(self) -> bool:
        """Whether cases ran on an implementation other than the reference, and it had a part in none."""
        return self.implementation != "reference" and any(self.counts.values()) and not self.counts[_COMPUTED]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a case."""
        for name, value in report.user_properties:
            if name == _PROPERTY and value in self.counts and report.when == "call":
                self.counts[str(value)] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """End with 5 where all is well because nothing was computed."""
        if exitstatus == pytest.ExitCode.OK and self.is_vain:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was computed, where that is not all."""
        computed, descs, _ = self.counts.values()
        if descs or self.is_vain:
            vain = f": nothing was checked on {self.implementation}" if self.is_vain else ""
            terminalreporter.write_line(
                f"dmlcheck: {counted(computed, 'case')} computed, {counted(descs, 'desc')} checked{vain}"
            )


_PROPERTY = "dmlcheck"  # of a test: what a case was
_COMPUTED, _DESC, _NOTHING = "computed", "desc checked", "not computed"


def _refuse_implementation(name: str, directml_version: str | None) -> None:
    """Raise a usage error for an implementation that cannot be had, or is not the DirectML that it should be."""
    from dmlcheck.implementations import Unavailable, close, make, require_directml

    option = "--dmlcheck-implementation"
    try:
        implementation = make(name)
        close(implementation)
        if directml_version is not None:
            option = f"--dmlcheck-directml-version {directml_version}"
            require_directml(implementation)
    except Unavailable as error:
        raise pytest.UsageError(f"{option}: {error}") from None


_WEEK = 7 * 24 * 3600.0
_KNOWN = pytest.StashKey[Any]()


def _expectations(config: pytest.Config) -> Any:
    """Return the known results that the options name, None without; a usage error where the file is wrong."""
    path = config.getoption("--dmlcheck-expectations")
    if path is None:
        return None
    import datetime as dt

    from dmlcheck.files import yaml
    from dmlcheck.running.expectations import read_expectations

    document = yaml.read(path)
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    found = read_expectations(document, config.getoption("--dmlcheck-implementation"), _level(config), today)
    if found.problems:
        raise pytest.UsageError(f"--dmlcheck-expectations:\n{_diagnostics(found.problems, document)}")
    return found


def _is_known_results(path: Path, config: pytest.Config) -> bool:
    known = config.getoption("--dmlcheck-expectations")
    return known is not None and path == Path(known).absolute()


def _level(config: pytest.Config) -> str | None:
    level = config.getoption("--dmlcheck-feature-level")
    return None if level is None else parse_level(level)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add a test that fails where known results are of no case; not where single cases or the last failures run."""
    known = config.stash.get(_KNOWN, None)
    if known is None or config.getoption("lf", default=False) or any("::" in str(arg) for arg in config.args):
        return
    from dmlcheck.running.expectations import UnmatchedEntries

    unmatched = UnmatchedEntries(known)
    for item in items:
        if isinstance(item, CaseItem):
            unmatched.see(item.case_id)
    problems = tuple(unmatched.problems())
    if problems:
        file = CaseFileCollector.from_parent(session, path=Path(known.document.name).absolute())
        more = {"case": None, "problems": problems, "document": known.document}
        items.append(CaseItem.from_parent(file, name="expectations", **more))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect case files where they were asked for."""
    if not parent.config.getoption("--dmlcheck"):
        return None
    if file_path.suffix.lower() not in (".yaml", ".yml", ".json") or _is_known_results(file_path, parent.config):
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
            name = visible(case.name)  # pytest prints it as it is
            yield CaseItem.from_parent(self, name=name, case=case, problems=problems, document=file.document)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case | None, problems: tuple[Diagnostic, ...], document: Any, **more: Any) -> None:
        """Keep what the file says."""
        super().__init__(**more)
        self.case = case
        self.problems = problems
        self.document = document

    @property
    def case_id(self) -> str:
        """The id of the case, as expectations name it; that of its file where the file is wrong."""
        return self.nodeid if self.case is None else self.case.id

    def runtest(self) -> None:
        """Run the case: failed and error are failures, an expected failure is pytest's xfailed."""
        from dmlcheck.reports.failure import errors_text, failure_text, reason_text
        from dmlcheck.running.accuracy import inaccurate_warnings
        from dmlcheck.running.results import PASSED, SKIPPED, XFAILED

        if self.problems or self.case is None:
            raise CaseFailure(_diagnostics(self.problems, self.document), errors_text(self.problems))
        result = self._result(self.case)
        kind = _COMPUTED if result.is_computed else _DESC if result.is_checked_desc else _NOTHING
        self.user_properties.append((_PROPERTY, kind))
        for found in inaccurate_warnings(result) if result.outcome == PASSED else ():
            self.warn(pytest.PytestWarning(visible(f"{found.where}: {found.rule}: {found.message}")))
        if result.outcome == SKIPPED:
            pytest.skip(result.reason or "no reason given")
        if result.outcome == XFAILED:
            pytest.xfail(result.reason or "expected")
        if result.outcome != PASSED:
            raise CaseFailure(failure_text(result, self._again), reason_text(result))

    def _result(self, case: Case) -> CaseResult:
        """Return what becomes of a case, as the known results have it."""
        from dmlcheck.running.expectations import expected_result

        result = _runner(self.config)(case, str(self.path))
        known = self.config.stash.get(_KNOWN, None)
        return result if known is None else expected_result(result, known.of(case.id))

    def _again(self, result: CaseResult) -> str:
        """Return the command that runs the case again, outside of pytest."""
        from dmlcheck.reports.again import again
        from dmlcheck.reports.records import RunInfo

        settings = _settings(self.config)
        info = RunInfo(
            self.config.getoption("--dmlcheck-implementation"),
            settings.feature_level,
            accumulate=settings.accumulate,
            is_strict=settings.is_strict,
            directml_version=settings.directml_version,
            inputs=settings.inputs,
            expected_within=settings.expected_within,
        )
        file = result.case.id.removesuffix(f"::{result.case.name}")  # from the root of the tests, not from everywhere
        return again(info, result._replace(case=result.case._replace(file=file)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Print what is needed to mend the case or the implementation, and no traceback of dmlcheck's own.

        The line of pytest's summary is the mismatch.
        """
        if not isinstance(excinfo.value, CaseFailure):
            return super().repr_failure(excinfo, style)
        path, line, _ = self.reportinfo()
        crash = ReprFileLocation(str(path), line + 1, excinfo.value.reason)
        return ReprExceptionInfo(ReprTraceback([ReprEntryNative([f"{excinfo.value}\n"])], None, "native"), crash)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where the case stands."""
        line = self.case.position.line - 1 if self.case is not None else 0
        return self.path, line, self.name


class CaseFailure(Exception):
    """A case that did not pass, with what a run prints of it, and the reason in a line."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


def _diagnostics(problems: tuple[Diagnostic, ...], document: Any) -> str:
    from dmlcheck.reports.diagnostics import diagnostic_text

    return "\n".join(diagnostic_text(problem, document.line) for problem in problems)


Runner = Callable[["Case", str], "CaseResult"]
_RUNNER = pytest.StashKey[Runner]()


def _runner(config: pytest.Config) -> Runner:
    """Return what runs a case of a file; it is made once for each process."""
    if _RUNNER not in config.stash:
        config.stash[_RUNNER] = _made_runner(config)
    return config.stash[_RUNNER]


def _settings(config: pytest.Config) -> Settings:
    """Return what the options ask of the cases and the implementation."""
    from dmlcheck.running.accuracy import EXPECTED_WITHIN
    from dmlcheck.running.one_case import Settings

    option = config.getoption
    within = option("--dmlcheck-expected-within")
    return Settings(
        _level(config),
        option("--dmlcheck-accumulate").upper(),
        option("--dmlcheck-strict"),
        option("--dmlcheck-directml-version"),
        option("--dmlcheck-inputs").upper(),
        EXPECTED_WITHIN if within is None else within,
    )


def _made_runner(config: pytest.Config) -> Runner:
    """Return what runs cases here, or in a process of its own where only that can keep their time."""
    from dmlcheck.cases.find import Target
    from dmlcheck.implementations import close, keeps_time, make
    from dmlcheck.running.events import Plan
    from dmlcheck.running.known_failures import judged_directml
    from dmlcheck.running.one_case import Run, run_case
    from dmlcheck.running.processes import Apart

    name, timeout = config.getoption("--dmlcheck-implementation"), config.getoption("--dmlcheck-timeout")
    settings = _settings(config)
    implementation = make(name, timeout)
    if timeout is None or keeps_time(implementation):
        config.add_cleanup(lambda: close(implementation))
        return lambda case, _: run_case(case, Run(implementation, settings))
    directml = judged_directml(implementation, settings.directml_version)
    close(implementation)
    apart = Apart(Plan(name, settings, timeout=timeout, details=True), directml)
    config.add_cleanup(apart.close)
    return lambda case, path: apart.run(Target(path, case.file, case.name), case)
