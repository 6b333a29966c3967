"""The command line: it reads arguments, opens consoles and files, and alone chooses exit codes."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from importlib import import_module
from typing import Any

import click

from dmlcheck import __version__
from dmlcheck.specs.names import LEVELS, parse_level

_COMMANDS = {
    "run": "run",
    "validate": "validate",
    "eval": "evaluate",
    "show": "knowledge",
    "explain": "knowledge",
    "schema": "knowledge",
    "merge": "merging",
    "expectations": "expecting",
    "diff": "tables",
    "coverage": "tables",
    "export": "exporting",
    "import": "exporting",
    "selfcheck": "knowledge",
}
_FUNCTIONS = {"eval": "evaluate", "import": "import_"}  # where a command cannot be named as it is called


class Exit(IntEnum):
    """What the exit codes mean."""

    GOOD = 0
    FAILED = 1
    WRONG_INPUT = 2
    NOTHING_COLLECTED = 5
    INTERRUPTED = 130


class Level(click.ParamType):  # type: ignore[type-arg]
    """A feature level, however it is spelt."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the level's short name."""
        level = parse_level(value)
        if level is None:
            self.fail(f"{value!r} is not a feature level; the levels are {' '.join(LEVELS)}", param, ctx)
        return level


level_option = click.option(
    "--feature-level", "level", type=Level(), metavar="LEVEL", help="A DML_FEATURE_LEVEL: 4_1, 4.1 or 0x4100."
)
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
select_option = click.option(
    "-k", "expression", metavar="EXPR", help="Only cases whose id contains this; and, or, not and parentheses."
)


class _Commands(click.Group):
    """The commands, each imported only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and write out what it printed while something can still be done about a closed pipe."""
        if sys.stdout is None:  # closed by the caller
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(Exit.INTERRUPTED)
        finally:
            console = sys.modules.get("dmlcheck.cli.console")
            if console is not None and not console.flush():
                sys.exit(Exit.WRONG_INPUT)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"dmlcheck.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dmlcheck")
def main() -> None:
    """Check DirectML operator descs against the feature-level tables, and results against a NumPy reference."""
    for stream in (sys.stdout, sys.stderr):
        # What the stream's encoding cannot carry is escaped, not an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
