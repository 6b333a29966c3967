"""The command line: it reads arguments, opens consoles and files, and alone chooses exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from dmlcheck import __version__
from dmlcheck.cli.exit_codes import Exit

_COMMANDS = (
    "run",
    "validate",
    "eval",
    "show",
    "explain",
    "schema",
    "merge",
    "expectations",
    "diff",
    "coverage",
    "export",
    "import",
    "selfcheck",
)
_NAMES = {"eval": "evaluate", "import": "import_"}  # of modules and functions, where that of the command is taken


def _flush() -> None:
    """Write out what the command printed; that it finds no room is wrong usage."""
    console = sys.modules.get("dmlcheck.cli.console")
    if console is not None:
        streams = console.streams()
        streams.flush()
        if streams.is_output_lost:
            sys.exit(Exit.WRONG_INPUT)


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
            _flush()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        name = _NAMES.get(cmd_name, cmd_name)
        command: click.Command = getattr(import_module(f"dmlcheck.cli.{name}"), name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dmlcheck")
def main() -> None:
    """Check DirectML operator descs against the feature-level tables, and results against a NumPy reference."""
    for stream in (sys.stdout, sys.stderr):
        # What the stream's encoding cannot carry is escaped, not an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
