"""`pytest --dmlcheck cases/`: every case of a case file as a test, for pytest's own reports and for pytest-xdist."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dmlcheck.cases.select import parse_shard
from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.specs.names import parse_level, parse_version

if TYPE_CHECKING:
    from dmlcheck.cases.records import Case
    from dmlcheck.diagnostics.record import Diagnostic
    from dmlcheck.implementations.protocol import About
    from dmlcheck.reports.records import RunInfo
    from dmlcheck.running.expectations import Names
    from dmlcheck.running.results import CaseResult
    from dmlcheck.running.settings import Settings

# pytest loads this module wherever dmlcheck is installed: imports only for --dmlcheck are in functions.


_OPTIONS: dict[str, dict[str, Any]] = {
    "--dmlcheck": {"action": "store_true", "help": "collect the cases of YAML and JSON case files"},
    "--dmlcheck-implementation": {
        "default": "reference",
        "metavar": "NAME",
        "help": "the implementation under test (default: reference)",
    },
    "--dmlcheck-feature-level": {"metavar": "LEVEL", "help": "the implementation's feature level"},
    "--dmlcheck-accumulate": {
        "choices": ["float16", "float32"],
        "default": "float32",
        "help": "the type that the implementation may accumulate in (default: float32)",
    },
    "--dmlcheck-inputs": {
        "choices": ["float32", "tf32", "bfloat16"],
        "default": "float32",
        "help": "the type to which the implementation may round the FLOAT32 factors of products (default: float32)",
    },
    "--dmlcheck-algorithms": {
        "choices": ["winograd"],
        "action": "append",
        "default": [],
        "help": "also allow the errors of this way to compute: Winograd's algorithms for convolutions",
    },
    "--dmlcheck-strict": {
        "action": "store_true",
        "help": "fail cases whose errors are larger than likely or without a limit, or that expect inaccurate values",
    },
    "--dmlcheck-expected-within": {
        "type": float,
        "metavar": "ULP",
        "help": "warn of expected values that are further from the exact result (default: 4)",
    },
    "--dmlcheck-directml-version": {
        "metavar": "VERSION",
        "help": "the implementation is this version of DirectML: expect the failures that are known of it",
    },
    "--dmlcheck-timeout": {"type": float, "metavar": "SECONDS", "help": "limit each case"},
    "--dmlcheck-expectations": {"metavar": "FILE", "help": "known results of this implementation"},
    "--dmlcheck-shard": {"metavar": "I/N", "help": "run one of N parts of the cases"},
    "--dmlcheck-json": {"metavar": "FILE", "help": "write a dmlcheck-report/1 file of the cases"},
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; options with a value come from `dmlcheck run`."""
    group = parser.getgroup("dmlcheck", "DirectML conformance cases")
    for name, settings in _OPTIONS.items():
        group.addoption(name, **settings)


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
    shard = config.getoption("--dmlcheck-shard")
    if shard is not None and parse_shard(shard) is None:
        raise pytest.UsageError(f"--dmlcheck-shard: {shard} is not a shard; write 1/3, 2/3 or 3/3 for three")
    if config.getoption("--dmlcheck"):
        said = _about(config.getoption("--dmlcheck-implementation"), version)
        config.stash[_KNOWN] = _expectations(config)
        config.pluginmanager.register(_Chosen())
        if not hasattr(config, "workerinput"):  # of pytest-xdist it is the process that reports
            config.pluginmanager.register(_Count(config.getoption("--dmlcheck-implementation")))
            if config.getoption("--dmlcheck-json") is not None and not config.getoption("collectonly"):
                config.pluginmanager.register(_JsonFile(config, said))


class _Count:
    """The implementations used in a session, for its end."""

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
        """Print which cases were computed, if not all were."""
        computed, descs, _ = self.counts.values()
        if descs or self.is_vain:
            vain = f": nothing was checked on {self.implementation}" if self.is_vain else ""
            terminalreporter.write_line(
                f"dmlcheck: {counted(computed, 'case')} computed, {counted(descs, 'desc')} checked{vain}"
            )


class _Chosen:
    """The cases that run, after all other options: their order, their digest, and the cases of a shard."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the cases of other shards; other tests run in each."""
        from dmlcheck.running.events import digest, digest_of, in_shard

        cases = [item for item in items if isinstance(item, CaseItem) and item.is_of_set]
        for ordinal, item in enumerate(cases):
            item.ordinal = ordinal
        shard = parse_shard(config.getoption("--dmlcheck-shard") or "1/1")
        others = {item for item in cases if not in_shard(item.case_id, shard)}
        if others:
            config.hook.pytest_deselected(items=list(others))
            items[:] = [item for item in items if item not in others]
        chosen = [len(cases) - len(others), digest_of([digest(item.case_id for item in cases)])]
        config.stash[_CHOSEN] = chosen
        getattr(config, "workeroutput", {})[_CHOSEN_THERE] = chosen


_CHOSEN = pytest.StashKey[list[Any]]()  # how many cases are to run, and the digest of the whole set
_CHOSEN_THERE = "dmlcheck_chosen"  # in the output of a process of pytest-xdist
_RESULT = "dmlcheck_result"  # of a report of pytest, which pytest-xdist passes on: the case's part of the JSON report


class _JsonFile:
    """The JSON report of a session."""

    def __init__(self, config: pytest.Config, said: About) -> None:
        """Open the file; a usage error where it cannot be written."""
        from dmlcheck.reports.files import JSON_HEAD, is_replaceable
        from dmlcheck.reports.json import JsonReport

        self.path = path = config.getoption("--dmlcheck-json")
        if not is_replaceable(path, JSON_HEAD):
            problem = "is there, and is no earlier report of this kind; remove it, or name another file"
            raise pytest.UsageError(f"--dmlcheck-json {path} {problem}")
        from dmlcheck.reports.failure import again

        self.info = _info(config, said)
        try:
            self.report = JsonReport(path, self.info, again=partial(again, self.info))
        except OSError as error:
            raise pytest.UsageError(f"--dmlcheck-json {path}: {error.strerror or error}") from None
        self.chosen: list[Any] | None = None
        self.cases: dict[int, Any] = {}
        self.start = time.perf_counter()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take from a process of pytest-xdist which cases were to run."""
        self.chosen = getattr(node, "workeroutput", {}).get(_CHOSEN_THERE, self.chosen)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result of a case; of one that ran again, the last."""
        if hasattr(report, _RESULT):
            ordinal, self.cases[ordinal] = json.loads(getattr(report, _RESULT))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report, its cases in their order."""
        from dmlcheck.reports.reading import case_result
        from dmlcheck.reports.records import Tally

        number, digest = session.config.stash.get(_CHOSEN, self.chosen) or (len(self.cases), None)
        tally = Tally(is_of_reference=self.info.is_of_reference)
        for ordinal in sorted(self.cases):
            result = case_result(self.cases[ordinal])
            result = result if self.info.shard is None else result._replace(ordinal=ordinal)
            tally.add(result)
            self.report.case(result)
        left = max(0, number - len(self.cases))
        is_interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
        summary = tally.summary(
            time.perf_counter() - self.start,
            is_interrupted=is_interrupted,
            digest=None if left or is_interrupted else digest,
            not_run=left,
        )
        self.report.finish(summary)
        if self.report.file.problem is not None:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Return why the report could not be written."""
        if self.report.file.problem is not None:
            terminalreporter.write_line(f"dmlcheck: --dmlcheck-json {visible(self.report.file.problem)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Give the report of a case its part of the JSON report."""
    report = yield
    wanted = call.when == "call" and item.config.getoption("--dmlcheck-json") is not None
    if wanted and isinstance(item, CaseItem) and item.result is not None:
        setattr(report, _RESULT, json.dumps([item.ordinal, _reported(item.result, item.path)]))
    return report


def _reported(result: CaseResult, path: Path) -> dict[str, Any]:
    """Return a case's part of the JSON report, its file named from the root of the tests everywhere in it."""
    from dmlcheck.reports.json import case_dict

    file, here = result.case.id.removesuffix(f"::{result.case.name}"), (str(path), path.as_posix())
    found = tuple(found._replace(file=file) if found.file in here else found for found in result.diagnostics)
    return case_dict(result._replace(case=result.case._replace(file=file), diagnostics=found))


_PROPERTY = "dmlcheck"  # of a test: the result of its case
_COMPUTED, _DESC, _NOTHING = "computed", "desc checked", "not computed"


def _about(name: str, directml_version: str | None) -> About:
    """Return an implementation's description of itself.

    A usage error if it is not available, or is not the expected version of DirectML.
    """
    from dmlcheck.implementations import Unavailable, make, require_directml

    option = "--dmlcheck-implementation"
    try:
        implementation = make(name)
        implementation.close()
        if directml_version is not None:
            option = f"--dmlcheck-directml-version {directml_version}"
            require_directml(implementation)
    except Unavailable as error:
        raise pytest.UsageError(f"{option}: {error}") from None
    return implementation.about


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
    from dmlcheck.running.expectations import UnmatchedEntries, names_of

    unmatched = UnmatchedEntries(known)
    found = [item for item in items if isinstance(item, CaseItem)]
    for item in found:
        unmatched.see(item.names)
    problems = tuple(unmatched.problems({names_of(str(item.path), str(item.path)) for item in found}))
    if problems:
        file = CaseFileCollector.from_parent(session, path=Path(known.document.name).absolute())
        more = {"case": None, "problems": problems, "document": known.document}
        items.append(CaseItem.from_parent(file, name="expectations", **more))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect case files where they were asked for."""
    if not parent.config.getoption("--dmlcheck"):
        return None
    from dmlcheck.formats.find import CASES, is_report

    if file_path.suffix.lower() not in CASES or _is_known_results(file_path, parent.config):
        return None
    if file_path.suffix.lower() == ".json" and is_report(str(file_path)):
        return None
    collector: pytest.Collector = CaseFileCollector.from_parent(parent, path=file_path)
    return collector


class CaseFileCollector(pytest.File):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the cases; a file that is wrong as a whole is one item, which fails."""
        from dmlcheck.formats.registry import read_file
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
        super().__init__(**more)
        self.case = case
        self.problems = problems
        self.document = document
        self.ordinal = 0  # of all cases that run, including other shards'
        self.result: CaseResult | None = None

    @property
    def is_of_set(self) -> bool:
        """Whether it is a case or a wrong file, and not the check of the known results."""
        known = self.config.stash.get(_KNOWN, None)
        return known is None or self.document is not known.document

    @property
    def case_id(self) -> str:
        """The id of the case, for expectations; that of its file if the file is wrong."""
        return self.nodeid.removesuffix(f"::{self.name}") if self.case is None else self.case.id

    @property
    def names(self) -> Names:
        """The names of the case in expectations, or of its file if the file is wrong."""
        from dmlcheck.running.expectations import names_of

        if self.case is None:
            return names_of(self.case_id)
        return names_of(self.case.id, self.case.file, str(self.path))

    def runtest(self) -> None:
        """Run the case: failed and error are failures, an expected failure is pytest's xfailed."""
        from dmlcheck.reports.accuracy import inaccurate_warnings, unlimited_warnings
        from dmlcheck.reports.failure import errors_text, failure_text, reason_text
        from dmlcheck.reports.records import CHECKED, kind_of
        from dmlcheck.running.results import PASSED, SKIPPED, XFAILED

        if self.problems or self.case is None:
            self.result = self._malformed() if self.is_of_set else None
            raise CaseFailure(_diagnostics(self.problems, self.document), errors_text(self.problems))
        result = self.result = self._result(self.case)
        kind = _COMPUTED if result.is_computed else _DESC if kind_of(result) == CHECKED else _NOTHING
        self.user_properties.append((_PROPERTY, kind))
        noted = (*unlimited_warnings(result), *inaccurate_warnings(result))
        for found in noted if result.outcome == PASSED else ():
            self.warn(pytest.PytestWarning(visible(f"{found.where}: {found.rule}: {found.message}")))
        if result.outcome == SKIPPED:
            pytest.skip(result.reason or "no reason given")
        if result.outcome == XFAILED:
            pytest.xfail(result.reason or "expected")
        if result.outcome != PASSED:
            raise CaseFailure(failure_text(result, self._again), reason_text(result))

    def _result(self, case: Case) -> CaseResult:
        from dmlcheck.running.expectations import expected_result

        # It is made once for each process.
        if _RUNNER not in self.config.stash:
            self.config.stash[_RUNNER] = _made_runner(self.config)
        result = self.config.stash[_RUNNER](case, str(self.path))
        known = self.config.stash.get(_KNOWN, None)
        return result if known is None else expected_result(result, known.of(self.names))

    def _malformed(self) -> CaseResult:
        """Return the result of a case or a file that cannot be used."""
        from dmlcheck.cases.records import FileOrigin
        from dmlcheck.running.events import WRONG_FILE, case_of_file, malformed

        if self.case is not None:
            return malformed(self.case, "not a well-formed case", self.problems)
        case = case_of_file(self.case_id, FileOrigin(self.document, ((),)))
        return malformed(case, WRONG_FILE, self.problems)

    def _again(self, result: CaseResult) -> str:
        """Return the command that runs the case again, outside of pytest."""
        from dmlcheck.reports.failure import again

        info = _info(self.config)._replace(shard=None)
        file = result.case.id.removesuffix(f"::{result.case.name}")  # from the root of the tests, not from everywhere
        return again(info, result._replace(case=result.case._replace(file=file)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Print the report of the case, and no traceback of dmlcheck's own.

        The line of pytest's summary is the mismatch.
        """
        if not isinstance(excinfo.value, CaseFailure):
            return super().repr_failure(excinfo, style)
        path, line, _ = self.reportinfo()
        shown: Any = excinfo.getrepr(style="native")  # an object that pytest-xdist passes on whole
        shown.reprtraceback.reprentries[0].lines = [f"{excinfo.value}\n"]
        crash = shown.reprcrash
        crash.path, crash.lineno, crash.message = str(path), line + 1, excinfo.value.reason
        return shown

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the case stands."""
        line = self.case.position.line - 1 if self.case is not None else 0
        return self.path, line, self.name


class CaseFailure(Exception):
    """A case that did not pass, with its report as in a run, and the reason in a line."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


def _diagnostics(problems: tuple[Diagnostic, ...], document: Any) -> str:
    from dmlcheck.reports.diagnostics import diagnostic_text

    return "\n".join(diagnostic_text(problem, document.line) for problem in problems)


Runner = Callable[["Case", str], "CaseResult"]
_RUNNER = pytest.StashKey[Runner]()


def _settings(config: pytest.Config) -> Settings:
    from dmlcheck.reference.limits.precision import Precision
    from dmlcheck.running.settings import EXPECTED_WITHIN, Settings

    option = config.getoption
    within = option("--dmlcheck-expected-within")
    return Settings(
        feature_level=_level(config),
        precision=Precision(
            option("--dmlcheck-accumulate").upper(),
            option("--dmlcheck-inputs").upper(),
            tuple(option("--dmlcheck-algorithms")),
        ),
        is_strict=option("--dmlcheck-strict"),
        directml_version=option("--dmlcheck-directml-version"),
        expected_within=EXPECTED_WITHIN if within is None else within,
    )


def _info(config: pytest.Config, said: About | None = None) -> RunInfo:
    """Return the description of a session for its reports."""
    from dmlcheck.reports.records import RunInfo

    return RunInfo(
        config.getoption("--dmlcheck-implementation"),
        _settings(config),
        parse_shard(config.getoption("--dmlcheck-shard") or ""),
        version="" if said is None else said.version,
        device="" if said is None else said.device,
        options=tuple(_repeated(config)),
    )


def _repeated(config: pytest.Config) -> Iterator[str]:
    """Yield the options for the command that runs a case again, with any result."""
    given = {"feature-level": _level(config)}
    given |= {name: config.getoption(f"--dmlcheck-{name}") for name in ("timeout", "expectations")}
    for name, value in given.items():
        if value is not None:
            yield from (f"--{name}", f"{value:g}" if isinstance(value, float) else str(value))


def _made_runner(config: pytest.Config) -> Runner:
    """Return a runner in this process, or in another if only that can keep the time limit."""
    from dmlcheck.formats.find import Target
    from dmlcheck.implementations import make
    from dmlcheck.running.events import Plan
    from dmlcheck.running.file_jobs import IsolatedRunner
    from dmlcheck.running.known_failures import judged_directml
    from dmlcheck.running.one_case import Run, run_case

    name, timeout = config.getoption("--dmlcheck-implementation"), config.getoption("--dmlcheck-timeout")
    settings = _settings(config)
    implementation = make(name, timeout)
    if timeout is None or implementation.keeps_time:
        config.add_cleanup(implementation.close)
        return lambda case, _: run_case(case, Run(implementation, settings))
    directml = judged_directml(implementation, settings.directml_version)
    implementation.close()
    isolated = IsolatedRunner(Plan(name, settings, timeout=timeout, details=True), directml)
    config.add_cleanup(isolated.close)
    return lambda case, path: isolated.run(Target(path, case.file, case.name), case)
