"""Common options of `fuzz` and `reduce`: the implementation under test and the tolerances; the extra that they need."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from importlib.util import find_spec
from typing import Any, NamedTuple

import click

from dmlcheck.cli.implementations import implementation_option
from dmlcheck.cli.options import judged_version_option, level_option
from dmlcheck.cli.run_options import accumulate_option, algorithms_option, as_seconds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.reports.failure import quoted
from dmlcheck.running.events import DEFAULT_TIMEOUT
from dmlcheck.running.settings import Settings

EXTRA = "hypothesis"
INSTALL = "python -m pip install hypothesis"


class Judging(NamedTuple):
    """How an implementation is judged: by its name, and with the options of `run` that matter to that."""

    implementation: str
    level: str | None
    accumulate: str
    inputs: str
    algorithms: tuple[str, ...]
    timeout: float
    directml_version: str | None = None

    @property
    def settings(self) -> Settings:
        """The settings of a run."""
        precision = Precision(self.accumulate.upper(), self.inputs.upper(), self.algorithms)
        return Settings(self.level, precision, directml_version=self.directml_version)

    @property
    def most_seconds(self) -> float | None:
        """The time limit of a draw or a trial, None for none."""
        return self.timeout or None

    def command(self, path: str) -> str:
        """Return the command that runs the cases of a file or a folder with these options."""
        level = [] if self.level is None else ["--feature-level", self.level]
        timeout = [] if self.timeout == DEFAULT_TIMEOUT else ["--timeout", f"{self.timeout:g}"]
        options = ["--implementation", self.implementation, *level, *self.settings.words(), *timeout]
        return quoted(["dmlcheck", "run", path, *options])


_OPTIONS: list[Callable[[Any], Any]] = [
    implementation_option("The implementation to judge; `dmlcheck run --help` has the names.", is_required=True),
    level_option,
    accumulate_option,
    algorithms_option,
    judged_version_option,
    click.option(
        "--timeout",
        type=as_seconds,
        metavar="SECONDS",
        default=DEFAULT_TIMEOUT,
        help="The most seconds that one draw may take; 0: any number. Default: 60.",
    ),
]


def judging_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how an implementation is judged, which it gets as `judging`.

    `--input-precision` is an option of its own: models have inputs too.
    """

    def judged(**given: Any) -> None:
        own = {name: given.pop(name) for name in Judging._fields}
        command(judging=Judging(**own), **given)

    judged.__doc__ = command.__doc__
    judged.__name__ = command.__name__
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), judged)


def require_extra() -> None:
    """Raise a usage error without the extra; it says how to install it."""
    if find_spec(EXTRA) is None:
        raise click.UsageError(f"this needs {EXTRA}, which finds the simplest values: {INSTALL}")
